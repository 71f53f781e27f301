//! The binary. Everything else is in the library, so that tests can call it.

/// The allocator of musl, with which releases are linked, makes threads wait for each other.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::process::ExitCode {
    tiphys::main()
}
