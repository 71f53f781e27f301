//! The program: everything is in the library.

fn main() -> std::process::ExitCode {
    tiphys_helm::main()
}
