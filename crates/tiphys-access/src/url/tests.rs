use std::fmt::Write as _;
use std::path::Path;

use super::normalize_git_url;

/// The pairs come from Argo CD's own answers (`check: source` of the project oracle) and from Go's `net/url`.
#[test]
fn urls_are_normalised_as_argo_cd_does() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/normalized-urls.jsonl");
    let text = std::fs::read_to_string(path).expect("the pairs can be read");
    let mut differences = String::new();
    let mut count = 0;
    for line in text.split('\n').filter(|line| !line.is_empty()) {
        let pair: serde_json::Value = serde_json::from_str(line).expect("a pair is JSON");
        let url = pair["url"].as_str().expect("a URL is a text");
        let (expected, ours) =
            (pair["normalized"].as_str().expect("so is what it becomes"), normalize_git_url(url));
        count += 1;
        if ours != expected {
            writeln!(differences, "{url:?}: {expected:?}, ours {ours:?}").expect("writing to a string");
        }
    }
    assert!(differences.is_empty(), "{differences}");
    assert!(count > 100, "only {count} pairs");
}
