//! What must hold for any address of a registry, and for anything that one answers.

use super::Root;
use super::challenge::Challenge;
use crate::web::{Address, Base, Scheme};

/// Any header is a challenge or none; one that was read can be written and read again.
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

/// Any address and name of a chart lead to a path below `/v2/` of one server, or are refused. The first line is the address.
pub fn fuzz_registry(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let (repo_url, chart) = text.split_once('\n').unwrap_or((&text, ""));
    let Some(Root { address, name, .. }) = Root::read(repo_url, chart, Scheme::Https) else { return };
    assert_eq!(address.text(), format!("{}/v2/{name}", address.server_text()), "{text:?}");
    assert!(!name.split('/').any(|part| ["", ".", ".."].contains(&part)), "{name}");
    let manifest = address.resolve("manifests/1.0.0", Base::Folder).expect("it is below");
    assert_eq!(manifest.text(), format!("{}/manifests/1.0.0", address.text()));
    let (again, login) = Address::parse(&address.text()).expect("it was one");
    assert!(again == address && login.is_none(), "{address}");
}
