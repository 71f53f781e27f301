use super::*;

#[test]
fn versions_since_5_are_supported() {
    for (printed, expected) in [
        ("v5.8.3\n", true),
        ("kustomize/v5.0.0", true),
        ("v10.0.0", true),
        ("v4.5.7", false),
        ("{Version:kustomize/v3.8.1 GitCommit:x}", false),
        ("(devel)", false),
        ("", false),
    ] {
        assert_eq!(is_supported_version(printed), expected, "{printed}");
    }
}
