//! The launcher as a program of its own, for tests. tiphys starts its own executable instead.
//!
//! Tests of this crate find it by `env!("CARGO_BIN_EXE_tiphys-launcher")`, tests of other crates by `tiphys_testkit::launcher::program()`.

fn main() {
    if std::env::args().nth(1).as_deref() == Some(tiphys_process::LAUNCHER_ARGUMENT) {
        std::process::exit(tiphys_process::launcher_main());
    }
    std::process::exit(2);
}
