use super::{Base, HttpUrl};

fn url(text: &str) -> HttpUrl {
    HttpUrl::parse(text).expect(text).0
}

#[test]
fn references_resolve_below_a_repository() {
    for (base, reference, expected) in [
        ("https://h/charts", "index.yaml", "https://h/charts/index.yaml"),
        ("https://h/charts/", "index.yaml", "https://h/charts/index.yaml"),
        ("https://h", "a/b.tgz", "https://h/a/b.tgz"),
        ("https://h/a?key=k", "b.tgz", "https://h/a/b.tgz?key=k"),
        ("https://h/a?key=k", "b.tgz?x=y", "https://h/a/b.tgz?x=y"),
        ("https://h:8443/a", "/b.tgz#part", "https://h:8443/b.tgz"),
        ("https://h/a", "../../../b.tgz", "https://h/b.tgz"),
        ("https://h/a", "https://h/x/../b.tgz", "https://h/b.tgz"),
        ("https://h/a", "//other/b.tgz", "https://other/b.tgz"),
        ("https://h/a", " my chart.tgz\n", "https://h/a/my%20chart.tgz"),
        ("https://h/a", "http://user:word@other:80/b.tgz", "http://other/b.tgz"),
        ("https://h/a", "http://user:word@other:81/b.tgz", "http://other:81/b.tgz"),
    ] {
        let found = url(base).resolve(reference, Base::Directory).expect(reference);
        assert_eq!(found.as_str(), expected, "{reference} of {base}");
    }
    for reference in [
        "ftp://h/b.tgz",
        "file:///etc/passwd",
        "oci:x",
        "http://h x/",
        "b\r\nc.tgz",
        "b\u{a0}c.tgz",
        "%2e%2E/b",
    ] {
        assert_eq!(url("https://h/a").resolve(reference, Base::Directory), None, "{reference}");
    }
}

#[test]
fn redirects_resolve_relative_to_the_directory_of_the_url() {
    let found = url("https://h/a/b.tgz?x=y").resolve("c.tgz", Base::File).expect("it is valid");
    assert_eq!(found.as_str(), "https://h/a/c.tgz");
}

#[test]
fn origin_is_scheme_host_and_port() {
    for (one, other, same) in [
        ("https://h/a", "https://H:443/b", true),
        ("https://h/a", "http://h/a", false),
        ("https://h/a", "https://h:8443/a", false),
        ("https://h/a", "https://h.evil.org/a", false),
        ("http://[::1]:80/a", "http://[0::1]/a", true),
        ("http://127.0.0.1/a", "http://0x7f.1/a", true),
        ("https://xn--mnchen-3ya.example/", "https://XN--mnchen-3ya.example:443/", true),
    ] {
        assert_eq!(url(one).is_same_origin(&url(other)), same, "{one} and {other}");
    }
}

#[test]
fn credentials_are_split_off_and_the_query_is_redacted() {
    let (found, credentials) = HttpUrl::parse("https://u%40x:p%3A1@h/a?token=secret").expect("it is valid");
    let (user, password) = credentials.expect("there are some");
    assert_eq!((user.as_str(), password.expose()), ("u@x", "p:1"));
    assert_eq!(found.to_string(), "https://h/a?***");
    assert_eq!(format!("{found:?}"), "https://h/a?***");
    assert_eq!(found.with_query("scope", "a:b c").as_str(), "https://h/a?token=secret&scope=a%3Ab%20c");
}

#[test]
fn only_http_urls_with_a_host_are_valid() {
    for text in [
        "",
        "h/a",
        "https://",
        "https:///a",
        "https:/h/a",
        "ftp://h/",
        "https://h:port/",
        "https://h:/",
        "https://h:+80/",
        "https://h/a b",
        "https://h%20x/",
        "https://h%2ex/",
        "https://münchen.example/",
        "https://[/",
        "https://[x]/",
        "https://a\\b/",
        "https://1.2.3.4.5/",
        "https://h/a/%2E./b",
    ] {
        assert!(HttpUrl::parse(text).is_none(), "{text}");
    }
}

/// Characters that RFC 3986 allows are not changed, except `'` in queries.
#[test]
fn valid_paths_and_queries_are_kept_byte_for_byte() {
    for path in [
        "/a%2Fb%2fc/%41~-._!$&'()*+,;=:@/d//e/",
        "/a%/%zz/..b/c../%2e%2eb/...",
        "/a?X-Amz-Signature=0aF%2F%2B&b=/?:@!$()*,;=+-._~%27&c",
        "/a?",
        "/?x=../../y&z=%2e%2e/",
    ] {
        let text = format!("https://h{path}");
        assert_eq!(url(&text).as_str(), text);
    }
    for (path, encoded) in [
        ("/ä/\"<>`{}|^\\x", "/%C3%A4/%22%3C%3E%60%7B%7D|^%5Cx"),
        ("/a?q='ä\"<>\\", "/a?q=%27%C3%A4%22%3C%3E\\"),
    ] {
        assert_eq!(url(&format!("https://h{path}")).as_str(), format!("https://h{encoded}"));
    }
}
