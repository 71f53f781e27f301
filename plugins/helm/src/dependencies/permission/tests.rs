//! Patterns and repositories.

use serde_json::Value;
use tiphys_testkit::oracle;

use super::is_permitted;

#[test]
fn patterns_permit_and_forbid_as_argo_cd_reads_them() {
    let cases: &[(&[&str], &str, bool)] = &[
        (&["*"], "https://a.example.com/x", true),
        (&[], "https://a.example.com/x", false),
        (&["https://a.example.com/*"], "https://a.example.com/x", true),
        (&["https://a.example.com/*"], "https://a.example.com/x/y", false),
        (&["https://a.example.com/**"], "https://a.example.com/x/y", true),
        (&["https://A.example.com/x.git"], "https://a.example.com/X", true),
        (&["https://{a,b}.example.com/[x-z]?"], "https://b.example.com/y1", true),
        (&["https://{a,b}.example.com/[!x-z]"], "https://b.example.com/y", false),
        (&["https://a.example.com/x"], "https://a.example.com/xy", false),
        (&["!https://a.example.com/*"], "https://a.example.com/x", false),
        (&["!https://a.example.com/*"], "https://b.example.com/x", true),
        (&["*", "!https://a.example.com/*"], "https://a.example.com/x", false),
        (&["!**"], "https://a.example.com/x", false),
        (&["!https://a[.example.com"], "https://b.example.com/x", true),
        (&["https://{a.example.com/x"], "https://{a.example.com/x", false),
        (&[r"https://\*.example.com/x"], "https://a.example.com/x", false),
    ];
    for (patterns, repository, expected) in cases {
        let patterns: Vec<String> = patterns.iter().map(|one| (*one).to_owned()).collect();
        assert_eq!(
            is_permitted(&[(*repository).to_owned()], &patterns),
            *expected,
            "{patterns:?} {repository}"
        );
    }
}

#[test]
fn a_registry_is_permitted_with_and_without_its_scheme() {
    let forms = ["r.example.com:5000/charts", "oci://r.example.com:5000/charts"].map(str::to_owned);
    for pattern in ["r.example.com:5000/*", "oci://r.example.com:5000/charts"] {
        assert!(is_permitted(&forms, &[pattern.to_owned()]), "{pattern}");
    }
    assert!(!is_permitted(&forms, &["*".to_owned(), "!oci://r.example.com:5000/*".to_owned()]));
}

#[test]
fn a_pattern_with_too_many_alternatives_permits_nothing() {
    let pattern = "{a,b}".repeat(12);
    assert!(!is_permitted(&["a".repeat(12)], &[pattern]));
    assert!(is_permitted(&["a".repeat(3)], &["{a,b}".repeat(3)]));
}

#[test]
fn a_project_permits_what_it_permits_in_argo_cd() {
    let texts = |list: &Value| -> Vec<String> {
        list.as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
    };
    let mut compared = 0;
    for case in oracle::cases("project-destinations").iter().filter(|case| case["check"] == "source") {
        // What Argo CD made of addresses of git: dependencies have others.
        let patterns = texts(&case["normalized_patterns"]);
        let repository = case["normalized_url"].as_str().unwrap_or_default().to_owned();
        assert_eq!(is_permitted(&[repository], &patterns), case["permitted"] == true, "{case}");
        compared += 1;
    }
    assert_eq!(compared, 177);
}
