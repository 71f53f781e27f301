//! The launcher that tests of other crates use.

#[test]
fn testkit_finds_the_launcher_of_this_build() {
    let found = tiphys_testkit::launcher::program();
    let expected = std::path::Path::new(env!("CARGO_BIN_EXE_tiphys-launcher"));
    assert_eq!(found.canonicalize().ok(), expected.canonicalize().ok());
}
