//! The way in which tests of other crates find the launcher.

#[test]
fn the_testkit_finds_the_launcher_of_the_same_build() {
    let found = tiphys_testkit::launcher::program();
    let expected = std::path::Path::new(env!("CARGO_BIN_EXE_tiphys-launcher"));
    assert_eq!(found.canonicalize().ok(), expected.canonicalize().ok());
}
