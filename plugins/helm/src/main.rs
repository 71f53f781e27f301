//! The program: everything else is in the library.

/// That of musl, with which releases are linked, returns memory to the system and gets it again for each file.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::process::ExitCode {
    tiphys_helm::main()
}
