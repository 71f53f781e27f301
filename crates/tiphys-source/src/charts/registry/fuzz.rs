//! Invariants of registry addresses and of challenges from anywhere.

use tiphys_http::{Base, HttpUrl};

use super::Root;
use super::challenge::Challenge;

/// Reads a challenge, writes it and reads it again.
pub fn fuzz_challenge(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let Some(challenge) = Challenge::read(&text) else { return };
    let Challenge::Bearer { realm, service, scope } = &challenge else { return };
    assert!(!realm.is_empty(), "{text:?}");
    let quoted = |text: &str| text.replace('\\', "\\\\").replace('"', "\\\"");
    let mut written = format!("Bearer realm=\"{}\"", quoted(realm));
    for (name, value) in [("service", service), ("scope", scope)] {
        if let Some(value) = value {
            written = format!("{written},{name}=\"{}\"", quoted(value));
        }
    }
    assert_eq!(Challenge::read(&written).as_ref(), Some(&challenge), "{written}");
}

/// Reads the first line as a registry's address and the second one as a chart's name. The result is a path below `/v2/` of one server.
pub fn fuzz_registry(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let (repo_url, chart) = text.split_once('\n').unwrap_or((&text, ""));
    let Some(Root { url, name, .. }) = Root::read(repo_url, chart, "https") else { return };
    assert_eq!(url.as_str(), format!("{}/v2/{name}", url.origin()), "{text:?}");
    assert!(!name.split('/').any(|part| ["", ".", ".."].contains(&part)), "{name}");
    let manifest = url.resolve("manifests/1.0.0", Base::Directory).expect("it is below");
    assert_eq!(manifest.as_str(), format!("{}/manifests/1.0.0", url.as_str()));
    let (again, login) = HttpUrl::parse(url.as_str()).expect("it was parsed before");
    assert!(again == url && login.is_none(), "{url}");
}
