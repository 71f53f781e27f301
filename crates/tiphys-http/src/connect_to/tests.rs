use super::{ConnectTo, Router};

#[test]
fn only_hosts_with_ports_are_accepted() {
    for text in ["a.svc:80=127.0.0.1:8080", "[::1]:443=b:1", "A:1=[::1]:65535"] {
        assert!(text.parse::<ConnectTo>().is_ok(), "{text}");
    }
    for text in ["", "a:80", "a=b", "a:80=b", "a:0=b:1", "a:80=b:65536", "a:80=:1", "u@a:80=b:1", "a/b:1=c:1"]
    {
        let error = text.parse::<ConnectTo>().expect_err(text);
        assert!(error.to_string().ends_with("expected HOST:PORT=HOST:PORT, with IPv6 addresses in brackets"));
    }
}

#[test]
fn first_entry_for_host_and_port_applies() {
    let entries = ["A.svc:80=localhost:1", "a.svc:80=localhost:2", "a.svc:443=[::1]:3", "[::2]:81=b:4"];
    let router = Router::new(&entries.map(|text| text.parse().expect("it is valid")));
    for (url, expected) in [
        ("http://a.svc/x?y", "http://localhost:1/x?y"),
        ("https://a.svc/", "https://[::1]:3/"),
        ("http://[::2]:81/", "http://b:4/"),
        ("http://a.svc:8080/", "http://a.svc:8080/"),
        ("http://b.svc/", "http://b.svc/"),
    ] {
        assert_eq!(router.route(url.parse().expect("a URL")).to_string(), expected);
    }
}
