use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, Uri};

use super::{Refusal, judge};

const HOST: &str = "127.0.0.1:8080";

type Header = (&'static str, &'static str);

fn judged(method: &Method, uri: &'static str, headers: &[Header]) -> Option<Refusal> {
    let mut map = HeaderMap::new();
    for (name, value) in headers {
        map.append(HeaderName::from_static(name), HeaderValue::from_static(value));
    }
    judge(method, &Uri::from_static(uri), &map).err()
}

#[test]
fn only_loopback_host_names_are_served() {
    let cases = [
        ("127.0.0.1:8080", None),
        ("127.0.0.1", None),
        ("localhost:9", None),
        ("LocalHost:9", None),
        ("[::1]:8080", None),
        ("[::1]", None),
        ("evil.example:8080", Some(Refusal::Host)),
        ("127.0.0.1.evil.example", Some(Refusal::Host)),
        ("localhost.evil.example:8080", Some(Refusal::Host)),
        ("10.0.0.1:8080", Some(Refusal::Host)),
        ("0.0.0.0:8080", Some(Refusal::Host)),
        ("[::1", Some(Refusal::Host)),
        ("user@127.0.0.1", Some(Refusal::Host)),
        ("", Some(Refusal::Host)),
    ];
    for (host, expected) in cases {
        assert_eq!(judged(&Method::GET, "/", &[("host", host)]), expected, "{host}");
    }
    assert_eq!(judged(&Method::GET, "/", &[]), Some(Refusal::Host));
    let twice = [("host", HOST), ("host", "evil.example")];
    assert_eq!(judged(&Method::GET, "/", &twice), Some(Refusal::Host));
    assert_eq!(judged(&Method::GET, "http://evil.example/", &[("host", HOST)]), Some(Refusal::Host));
    assert_eq!(judged(&Method::GET, "http://127.0.0.1:8080/", &[("host", HOST)]), None);
}

#[test]
fn other_sites_cannot_post_forms_or_load_the_page() {
    let site = Some(Refusal::Site);
    let get = Method::GET;
    let post = Method::POST;
    let cases: [(&Method, &[Header], Option<Refusal>); 29] = [
        (&get, &[], None),
        (&get, &[("sec-fetch-site", "none")], None),
        (&get, &[("sec-fetch-site", "same-origin")], None),
        (&get, &[("sec-fetch-site", "cross-site"), ("sec-fetch-dest", "document")], None),
        (&get, &[("sec-fetch-site", "cross-site"), ("sec-fetch-dest", "image")], site),
        (&get, &[("sec-fetch-site", "same-site"), ("sec-fetch-dest", "iframe")], site),
        (&get, &[("sec-fetch-site", "cross-site")], site),
        (&get, &[("origin", "http://127.0.0.1:8080")], None),
        (&get, &[("origin", "http://evil.example")], site),
        (&get, &[("origin", "null")], site),
        (&get, &[("origin", "http://127.0.0.1:8080"), ("origin", "http://evil.example")], site),
        (&get, &[("origin", "http://evil.example"), ("sec-fetch-site", "same-origin")], site),
        (&Method::HEAD, &[("origin", "http://evil.example")], site),
        (&get, &[("referer", "http://127.0.0.1:8080/?x")], None),
        (&get, &[("referer", "http://127.0.0.1:8080")], None),
        (&get, &[("referer", "http://evil.example/")], site),
        (&get, &[("referer", "http://127.0.0.1:8080.evil.example/")], site),
        (&get, &[("referer", "http://127.0.0.1:80801/")], site),
        (&get, &[("referer", "https://127.0.0.1:8080/")], site),
        // A followed link.
        (
            &get,
            &[
                ("referer", "http://evil.example/"),
                ("sec-fetch-site", "cross-site"),
                ("sec-fetch-dest", "document"),
            ],
            None,
        ),
        (&post, &[("origin", "http://evil.example"), ("sec-fetch-site", "same-origin")], site),
        (&post, &[("sec-fetch-site", "same-origin")], None),
        (&post, &[("sec-fetch-site", "same-site")], site),
        (&post, &[("sec-fetch-site", "cross-site"), ("sec-fetch-dest", "document")], site),
        (&post, &[("sec-fetch-site", "none")], site),
        (&post, &[("origin", "http://127.0.0.1:8080")], None),
        (&post, &[("origin", "http://127.0.0.1:8081")], site),
        (&post, &[("origin", "null")], site),
        (&post, &[], site),
    ];
    for (method, headers, expected) in cases {
        let all = [&[("host", HOST)], headers].concat();
        assert_eq!(judged(method, "/", &all), expected, "{method} {headers:?}");
    }
}
