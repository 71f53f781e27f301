//! The binary. Everything else is in the library, so that tests can call it.

fn main() -> std::process::ExitCode {
    tiphys::main()
}
