//! Invariants of URLs and references from anywhere.

use super::{Base, HttpUrl};

/// Parses the first line as a URL and resolves the second one as a reference. A URL can be written and parsed again, its display redacts
/// user information and query, and a reference without a host stays on its server.
pub fn fuzz_url(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let (text, reference) = text.split_once('\n').unwrap_or((&text, ""));
    let Some((url, _)) = HttpUrl::parse(text) else { return };
    check(&url);
    for base in [Base::Directory, Base::File] {
        let Some(found) = url.resolve(reference, base) else { continue };
        check(&found);
        let again = url.resolve(found.as_str(), base);
        assert_eq!(again.as_ref(), Some(&found), "{reference:?} is absolute then");
        assert!(names_host(reference) || found.is_same_origin(&url), "{reference:?}");
    }
    let with_query = url.clone().with_query("scope", reference);
    check(&with_query);
    assert!(with_query.is_same_origin(&url), "{reference:?}");
}

/// Whether a reference has a scheme, or starts with the name of a host.
fn names_host(reference: &str) -> bool {
    let reference = reference.trim();
    let path = reference.find(['/', '?', '#']).unwrap_or(reference.len());
    reference.starts_with("//") || reference[..path].contains(':')
}

fn check(url: &HttpUrl) {
    let text = url.as_str();
    assert!(!text.contains(|c: char| c.is_whitespace() || c.is_control() || !c.is_ascii()), "{text:?}");
    let (again, credentials) = HttpUrl::parse(text).expect("it was parsed before");
    assert!(again == *url && again.as_str() == text && credentials.is_none(), "{text:?}");
    assert!(!url.as_url().path().split('/').any(|part| [".", ".."].contains(&part)), "{text:?}");
    let shown = url.to_string();
    let (path, query) = shown.split_once('?').unwrap_or((&shown, "***"));
    assert_eq!(query, "***", "{shown:?}");
    assert_eq!(Some(path), text.split('?').next(), "{shown:?}");
}
