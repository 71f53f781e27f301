//! What must hold for any URL, and for any reference of an index or a redirection.

use super::{Address, Base};

/// Any text is an address or none. What is, keeps its meaning when it is written and read again, shows nothing of a user, a password or a
/// query, and a reference without a server stays on its server. The first line is the address, the second one a reference.
pub fn fuzz_address(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let (text, reference) = text.split_once('\n').unwrap_or((&text, ""));
    let Some((address, _)) = Address::parse(text) else { return };
    check(&address);
    for base in [Base::Folder, Base::File] {
        let Some(found) = address.resolve(reference, base) else { continue };
        check(&found);
        let again = address.resolve(&found.text(), base);
        assert_eq!(again.as_ref(), Some(&found), "{reference:?} is absolute then");
        assert!(names_server(reference) || found.is_on_same_server(&address), "{reference:?}");
    }
    let asked = address.clone().with_query("scope", reference);
    check(&asked);
    assert!(asked.is_on_same_server(&address), "{reference:?}");
}

/// Whether a reference is one with a server: it has a scheme, or begins where a server's name does.
fn names_server(reference: &str) -> bool {
    let reference = reference.trim();
    let place = reference.find(['/', '?', '#']).unwrap_or(reference.len());
    reference.starts_with("//") || reference[..place].contains(':')
}

fn check(address: &Address) {
    let text = address.text();
    assert!(!text.contains(|c: char| c.is_whitespace() || c.is_control()), "{text:?}");
    let (again, login) = Address::parse(&text).expect("it was one");
    assert!(again == *address && login.is_none(), "{text:?}");
    let shown = address.to_string();
    let (place, query) = shown.split_once('?').unwrap_or((&shown, "***"));
    assert_eq!(query, "***", "{shown:?}");
    assert_eq!(Some(place), text.split('?').next(), "{shown:?}");
}
