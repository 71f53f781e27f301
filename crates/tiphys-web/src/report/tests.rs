use tiphys_service::documents::{DifferenceDocument, ObjectDifferenceDocument, SettingDocument};

use super::{DifferenceReport, ReportedApplication, source};

/// A report that has this text wherever a text of others can be.
fn report(text: &str) -> String {
    let own = || text.to_owned();
    let object = ObjectDifferenceDocument {
        group: own(),
        kind: own(),
        namespace: own(),
        name: own(),
        change: "changed".to_owned(),
        before: None,
        after: None,
        volatile: false,
        patch: format!("@@ -1,2 +1,2 @@\n {text}\n-{text}\n+{text}\n"),
    };
    let difference = DifferenceDocument {
        application: own(),
        namespace: own(),
        change: Some("changed".to_owned()),
        error: None,
        base_error: None,
        equal: Some(0),
        ignored_lines: None,
        renamed_from: None,
        renamed_to: None,
        settings: vec![SettingDocument { field: own(), before: Some(own()), after: Some(own()) }],
        objects: Some(vec![object]),
        warnings: Vec::new(),
    };
    let report = DifferenceReport {
        heading: own(),
        notes: vec![own()],
        errors: vec![own()],
        not_compared: vec![own()],
        warnings: vec![own()],
        applications: vec![ReportedApplication { title: own(), summary: own(), difference }],
    };
    report.to_html().expect("a report")
}

/// The content of an element that occurs once.
fn content<'a>(html: &'a str, name: &str) -> &'a str {
    let parts: Vec<&str> = html.split(&format!("<{name}>")).collect();
    let [_, rest] = parts[..] else { panic!("{name}: {}", parts.len()) };
    rest.split_once(&format!("</{name}>")).expect("the end of the element").0
}

#[test]
fn every_text_is_escaped() {
    let text = "</pre></code><script>alert(1)</script>\"'><img src=x onerror=alert(1)>";
    let (plain, marked) = (report("text"), report(text));
    for sign in ["<", ">", "\"", "'"] {
        assert_eq!(marked.matches(sign).count(), plain.matches(sign).count(), "{sign}");
    }
    assert_eq!(marked.matches("&#60;script&#62;alert(1)").count(), 18, "{marked}");
    assert!(report("a\u{202e}b").contains("a<mark>[U+202E]</mark>b"));
}

#[test]
fn only_the_inline_style_and_script_are_permitted() {
    let html = report("text");
    let policy = format!(
        "content=\"default-src 'none'; style-src {}; script-src {}; base-uri 'none'; form-action 'none'\"",
        source(content(&html, "style")),
        source(content(&html, "script")),
    );
    assert!(html.contains(&policy), "{policy}: {html}");
    for reference in ["http:", "https:", "src=", "href=", "url(", "@import", "style="] {
        assert!(!html.contains(reference), "{reference}");
    }
}
