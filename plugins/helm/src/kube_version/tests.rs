//! Versions as clusters and users write them.

use super::parse;

#[test]
fn kube_version_is_reduced_to_its_numbers() {
    let cases = [
        ("1.30.11+IKS", "1.30.11"),
        ("v1.28.9-gke.1000", "1.28.9"),
        (" \tv1.31.0", "1.31.0"),
        ("1.30", "1.30"),
        ("1.30.0.0", "1.30.0.0"),
        ("1.030.1", "1.30.1"),
        ("1.30.", "1.30"),
        ("1.30.x", "1.30"),
        ("0.0", "0.0"),
        ("1.29 ", "1.29"),
    ];
    for (version, expected) in cases {
        assert_eq!(parse(version).map(Option::unwrap_or_default).as_deref(), Ok(expected), "{version:?}");
    }
    assert_eq!(parse(""), Ok(None));
}

#[test]
fn invalid_kube_version_has_the_error_of_argo_cd() {
    let cases = [
        ("abc", r#"could not parse kubernetes version abc: could not parse "abc" as version"#),
        ("v", r#"could not parse kubernetes version v: could not parse "v" as version"#),
        ("-1", r#"could not parse kubernetes version -1: could not parse "-1" as version"#),
        ("1", r#"could not parse kubernetes version 1: illegal version string "1""#),
        (
            "01.2.3",
            r#"could not parse kubernetes version 01.2.3: illegal zero-prefixed version component "01" in "01.2.3""#,
        ),
        ("1.30\nx", "could not parse kubernetes version 1.30\nx: could not parse \"1.30\\nx\" as version"),
        (
            "1.99999999999999999999",
            r#"could not parse kubernetes version 1.99999999999999999999: illegal non-numeric version component "99999999999999999999" in "1.99999999999999999999": strconv.ParseUint: parsing "99999999999999999999": value out of range"#,
        ),
    ];
    for (version, expected) in cases {
        assert_eq!(parse(version).map_err(|error| error.to_string()), Err(expected.to_owned()));
    }
}
