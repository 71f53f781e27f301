use super::{redact_address, redact_url};

#[test]
fn passwords_in_urls_are_redacted() {
    for (url, expected) in [
        ("https://user:pw@h/x", "https://user:***@h/x"),
        ("https://user:p@w@h/x", "https://user:***@h/x"),
        ("https://token@h/x", "https://***@h/x"),
        ("'https://token@h/x'", "'https://***@h/x'"),
        ("oci://token@h/x", "oci://***@h/x"),
        ("ssh://git@h/x", "ssh://git@h/x"),
        ("git@h:x", "git@h:x"),
        ("git@h:x/y@z", "git@h:x/y@z"),
        ("user:pw@h/x", "user:***@h/x"),
        ("user:p@w@h/x", "user:***@h/x"),
        ("https://h/a@b:c@d", "https://h/a@b:c@d"),
        ("https://user:pw@h", "https://user:***@h"),
        ("https://h/x?token=hunter2", "https://h/x?***"),
        ("https://user:pw@h/x?token=hunter2#f", "https://user:***@h/x?***"),
        ("https://token@h?token=hunter2", "https://***@h?***"),
        ("ssh://git@h/x?token=hunter2", "ssh://git@h/x?***"),
        ("https://h?token=a:b@c", "https://h?***"),
        ("https://h:8443/a@b", "https://h:8443/a@b"),
        ("https://[::1]/a@b", "https://[::1]/a@b"),
        ("ssh://git@h:x/y@z", "ssh://git@h:x/y@z"),
    ] {
        assert_eq!(redact_url(url), expected);
    }
}

#[test]
fn unencoded_password_is_redacted_completely() {
    for (url, expected) in [
        ("https://user:p#w@h/x", "https://user:***@h/x"),
        ("https://user:p@w#x@h/x", "https://user:***@h/x"),
        ("https://user:p/w@h/x", "https://user:***@h/x"),
        ("https://user:p/w@h/x?token=hunter2@y", "https://user:***@h/x?***"),
        ("https://user:p?w@h/x", "https://user:***@h/x"),
        ("https://user:p/w?x@h/x", "https://user:***@h/x"),
        ("oci://user:p/w@h/x", "oci://user:***@h/x"),
    ] {
        assert_eq!(redact_url(url), expected);
    }
    assert_eq!(redact_address("user:p/w@h/x"), "user:***@h/x");
}

#[test]
fn passwords_in_addresses_without_scheme_are_redacted() {
    for (address, expected) in [
        ("h/x", "h/x"),
        ("user:pw@h/x", "user:***@h/x"),
        ("token@h/x", "***@h/x"),
        ("oci://user:pw@h/x", "oci://user:***@h/x"),
    ] {
        assert_eq!(redact_address(address), expected);
    }
}
