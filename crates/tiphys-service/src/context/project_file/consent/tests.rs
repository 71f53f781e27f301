use super::*;

fn mode(path: &Path) -> u32 {
    fs::metadata(path).expect("it exists").mode() & 0o777
}

#[test]
fn consent_is_to_a_path_and_a_content() {
    let home = tempfile::tempdir().expect("a temporary directory");
    let consents = Consents::of(&Host::for_tests(&[("HOME", home.path().to_str().expect("UTF-8"))]));
    let consents = consents.expect("a configuration directory");
    let (file, other) = (Path::new("/repo/.tiphys.yaml"), Path::new("/repo/x.yaml"));
    assert!(!consents.contain(file, b"a"));
    consents.add(file, b"a").expect("it is written");
    consents.add(file, b"b").expect("it is written");
    assert!(consents.contain(file, b"a") && consents.contain(file, b"b"));
    assert!(!consents.contain(file, b"c") && !consents.contain(other, b"a"));
    let entry = consents.dir.join(name(file, b"a"));
    assert_eq!((mode(&consents.dir), mode(&entry)), (0o700, 0o600));
    fs::set_permissions(&entry, Permissions::from_mode(0o666)).expect("it is the user's");
    assert!(!consents.contain(file, b"a"), "other users can write it");
    assert!(consents.remove(file).expect("it is removed"));
    assert!(!consents.contain(file, b"b") && !consents.remove(file).expect("nothing is left"));
}

#[test]
fn consents_in_a_directory_are_found() {
    for (variables, expected) in [
        (&[("HOME", "/h")][..], Some("/h/.config/tiphys/allowed")),
        (&[("HOME", "/h"), ("XDG_CONFIG_HOME", "/x")][..], Some("/x/tiphys/allowed")),
        (&[("HOME", "/h"), ("XDG_CONFIG_HOME", "x")][..], Some("/h/.config/tiphys/allowed")),
        (&[][..], None),
    ] {
        let dir = Consents::of(&Host::for_tests(variables)).map(|consents| consents.dir);
        assert_eq!(dir.as_deref(), expected.map(Path::new));
    }
    let consents = Consents { dir: "/repo/home/.config/tiphys/allowed".into() };
    assert!(consents.are_in(Path::new("/repo")) && !consents.are_in(Path::new("/rep")));
    let beside = Consents { dir: "/repo/../home/allowed".into() };
    assert!(beside.are_in(Path::new("/home")) && !beside.are_in(Path::new("/repo")));
}
