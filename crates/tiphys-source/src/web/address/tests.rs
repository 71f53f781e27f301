use super::{Address, Base};

fn address(text: &str) -> Address {
    Address::parse(text).expect(text).0
}

#[test]
fn what_a_repository_names_is_found_below_it() {
    for (base, reference, expected) in [
        ("https://h/charts", "index.yaml", "https://h/charts/index.yaml"),
        ("https://h/charts/", "index.yaml", "https://h/charts/index.yaml"),
        ("https://h", "a/b.tgz", "https://h/a/b.tgz"),
        ("https://h/a?key=k", "b.tgz", "https://h/a/b.tgz?key=k"),
        ("https://h/a?key=k", "b.tgz?x=y", "https://h/a/b.tgz?x=y"),
        ("https://h:8443/a", "/b.tgz#part", "https://h:8443/b.tgz"),
        ("https://h/a", "../../../b.tgz", "https://h/b.tgz"),
        ("https://h/a", "//other/b.tgz", "https://other/b.tgz"),
        ("https://h/a", " my chart.tgz\n", "https://h/a/my%20chart.tgz"),
        ("https://h/a", "http://user:word@other:80/b.tgz", "http://other:80/b.tgz"),
    ] {
        let found = address(base).resolve(reference, Base::Folder).expect(reference);
        assert_eq!(found.text(), expected, "{reference} of {base}");
    }
    for reference in
        ["ftp://h/b.tgz", "file:///etc/passwd", "oci:x", "http://h x/", "b\r\nc.tgz", "b\u{a0}c.tgz"]
    {
        assert_eq!(address("https://h/a").resolve(reference, Base::Folder), None, "{reference}");
    }
}

#[test]
fn a_redirection_is_relative_to_the_folder_that_the_address_is_in() {
    let found = address("https://h/a/b.tgz?x=y").resolve("c.tgz", Base::File).expect("it is one");
    assert_eq!(found.text(), "https://h/a/c.tgz");
}

#[test]
fn a_server_is_scheme_host_and_port() {
    for (one, other, same) in [
        ("https://h/a", "https://H:443/b", true),
        ("https://h/a", "http://h/a", false),
        ("https://h/a", "https://h:8443/a", false),
        ("https://h/a", "https://h.evil.org/a", false),
        ("http://[::1]:80/a", "http://[::1]/a", true),
    ] {
        assert_eq!(address(one).is_on_same_server(&address(other)), same, "{one} and {other}");
    }
}

#[test]
fn user_and_password_are_kept_apart_and_a_query_is_not_shown() {
    let (found, login) = Address::parse("https://u%40x:p%3A1@h/a?token=secret").expect("it is one");
    let (user, password) = login.expect("there is one");
    assert_eq!((user.as_str(), password.expose()), ("u@x", "p:1"));
    assert_eq!(found.to_string(), "https://h/a?***");
    assert_eq!(found.with_query("scope", "a:b c").text(), "https://h/a?token=secret&scope=a%3Ab%20c");
}

#[test]
fn only_http_urls_with_a_host_are_addresses() {
    for text in [
        "",
        "h/a",
        "https://",
        "https:///a",
        "ftp://h/",
        "https://h:port/",
        "https://h/a b",
        "https://h%20x/",
        "https://[/",
        "https://[x]/",
        "https://a\\b/",
    ] {
        assert!(Address::parse(text).is_none(), "{text}");
    }
}
