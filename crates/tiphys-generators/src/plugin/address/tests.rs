use super::method_url;

fn url(base: &str) -> Result<String, String> {
    method_url(base, "m", "set").map(|url| url.as_str().to_owned())
}

#[test]
fn path_is_appended_with_one_slash() {
    for (base, expected) in [
        ("http://h", "http://h/m"),
        ("http://h/", "http://h/m"),
        ("http://h//", "http://h//m"),
        ("HTTPS://H:8443/x", "https://h:8443/x/m"),
        ("http://user:hush@h", "http://h/m"),
    ] {
        assert_eq!(url(base).as_deref(), Ok(expected));
    }
}

#[test]
fn invalid_addresses_are_errors_in_gos_words() {
    let parse = |shown: &str, problem: &str| {
        format!("NewRequest returned unexpected error: parse \"{shown}\": {problem}")
    };
    let post = |shown: &str, problem: &str| format!("error get api 'set': Post \"{shown}\": {problem}");
    let scheme =
        |shown: &str, scheme: &str| post(shown, &format!("unsupported protocol scheme \"{scheme}\""));
    let no_host = "http: no Host in request URL";
    let query = "baseUrl must not have a query or a fragment, which would replace the path";
    for (base, expected) in [
        ("plugin.svc", scheme("plugin.svc/m", "")),
        ("plugin:4355", scheme("plugin:4355/m", "plugin")),
        ("FTP://x", scheme("FTP://x/m", "ftp")),
        ("127.0.0.1:80", parse("127.0.0.1:80/m", "first path segment in URL cannot contain colon")),
        (" http://h", parse(" http://h/m", "first path segment in URL cannot contain colon")),
        (":80", parse(":80/m", "missing protocol scheme")),
        ("http://h\n", parse("http://h\\n/m", "net/url: invalid control character in URL")),
        ("http://user:hush@h b", parse("http://user:***@h b/m", "it is not a valid URL")),
        ("http://", post("http://m", no_host)),
        ("http:///x", post("http:///x/m", no_host)),
        ("http:h", post("http:h/m", no_host)),
        ("http://h?y=hush", parse("http://h?***", query)),
        ("http://h/#f", parse("http://h/#f/m", query)),
    ] {
        assert_eq!(url(base), Err(expected));
    }
}
