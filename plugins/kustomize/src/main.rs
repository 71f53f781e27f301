//! The program: everything else is in the library.

fn main() -> std::process::ExitCode {
    tiphys_kustomize::main()
}
