use super::KubeVersion;

#[test]
fn kubernetes_version_keeps_its_numbers() {
    for (text, expected) in [
        ("1.30.2", Some(("v1.30.2", "1", "30"))),
        ("v1.28", Some(("v1.28", "1", "28"))),
        ("1.28.3.4", Some(("v1.28.3.4", "1", "28"))),
        ("1", None),
        ("1.030", None),
        ("1.30.2-gke", None),
        ("", None),
    ] {
        let found = KubeVersion::parse(text);
        let found = found.as_ref().map(|one| (&*one.version, &*one.major, &*one.minor));
        assert_eq!(found, expected, "{text}");
    }
}
