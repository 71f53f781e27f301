use std::fmt::Write as _;
use std::path::Path;

use super::normalize_git_url;

/// The pairs are recorded from Argo CD's checks of sources against projects and from Go's `net/url`.
#[test]
fn urls_are_normalized_as_in_argo_cd() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/normalized-urls.jsonl");
    let text = std::fs::read_to_string(path).expect("the pairs can be read");
    let mut differences = String::new();
    let mut count = 0;
    for line in text.split('\n').filter(|line| !line.is_empty()) {
        let pair: serde_json::Value = serde_json::from_str(line).expect("a pair is JSON");
        let url = pair["url"].as_str().expect("url is a string");
        let (expected, ours) =
            (pair["normalized"].as_str().expect("normalized is a string"), normalize_git_url(url));
        count += 1;
        if ours != expected {
            writeln!(differences, "{url:?}: {expected:?}, ours {ours:?}").expect("writing to a string");
        }
    }
    assert!(differences.is_empty(), "{differences}");
    assert!(count > 100, "only {count} pairs");
}
