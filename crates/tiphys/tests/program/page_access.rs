//! Who may use the web page.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;

use tiphys_testkit::wait::until;

use crate::http::{self, assert_has};
use crate::page::Page;

#[test]
fn first_address_admits_one_browser() {
    let page = Page::of_sample(&[]);
    let host = format!("Host: {}", page.address);
    let again = http::send(&page.address, &format!("GET {}", page.first), &[&host], "");
    assert_eq!(again.status, 401);
    assert_has(&again.body, &["The address was used already"]);
    assert_eq!(page.get("/applications").status, 200);
    for path in ["/applications", "/api/v1/applications", "/events", "/assets/page.js"] {
        let refused = http::send(&page.address, &format!("GET {path}"), &[&host], "");
        assert_eq!(refused.status, 401, "{path}");
    }
}

#[test]
fn requests_of_other_sites_are_refused() {
    let page = Page::of_sample(&[]);
    let (host, cookie) = (format!("Host: {}", page.address), format!("Cookie: {}", page.cookie));
    let own = format!("Origin: http://{}", page.address);
    let form = "Content-Type: application/x-www-form-urlencoded";
    let save = "POST /applications/argocd/shop/save";
    let cases: [(&str, Vec<&str>, u16); 7] = [
        ("GET /applications", vec!["Host: evil.example", &cookie], 403),
        ("GET /applications", vec![&host, &cookie, "Origin: http://evil.example"], 403),
        ("GET /applications", vec![&host, "Cookie: tiphys_1=x"], 401),
        (save, vec![&host, &cookie, form, "Content-Length: 0", "Origin: http://127.0.0.1:1"], 403),
        (save, vec![&host, &cookie, form, "Content-Length: 0", "Sec-Fetch-Site: same-site", &own], 403),
        (save, vec![&host, &cookie, form, "Content-Length: 0"], 403),
        // The token of forms is missing.
        (save, vec![&host, &cookie, form, "Content-Length: 0", &own], 403),
    ];
    for (first, headers, status) in cases {
        let answer = http::send(&page.address, first, &headers, "");
        assert_eq!(answer.status, status, "{first} {headers:?}");
        assert_has(&answer.head, &["content-security-policy: default-src 'none'; script-src 'nonce-"]);
    }
}

#[test]
fn cookie_is_strict_and_belongs_to_the_port() {
    let page = Page::of_sample(&[]);
    let port = page.address.split(':').nth(1).expect("a port");
    assert!(page.cookie.starts_with(&format!("tiphys_{port}=")), "{}", page.cookie);
}

#[test]
fn large_forms_and_other_bodies_are_refused() {
    let page = Page::of_sample(&[]);
    let path = "/applications/argocd/shop/review";
    assert_eq!(page.send("POST", path, "text/plain", &[], "x").status, 415);
    let length = format!("Content-Length: {}", (8 << 20) + 1);
    let headers = [
        &format!("Host: {}", page.address),
        &format!("Cookie: {}", page.cookie),
        &format!("Origin: http://{}", page.address),
        "Content-Type: application/x-www-form-urlencoded",
        &length,
    ];
    assert_eq!(http::send(&page.address, &format!("POST {path}"), &headers, "").status, 413);
}

/// Opens the stream of changes, and returns the status and the connection.
fn stream(page: &Page) -> (String, TcpStream) {
    let mut stream = http::connect(&page.address);
    let (address, cookie) = (&page.address, &page.cookie);
    write!(stream, "GET /events HTTP/1.1\r\nHost: {address}\r\nCookie: {cookie}\r\n\r\n").expect("a request");
    let mut status = [0; 12];
    stream.read_exact(&mut status).expect("a status");
    (String::from_utf8_lossy(&status).into_owned(), stream)
}

#[test]
fn streams_have_a_limit_and_pages_are_served_beside_them() {
    let page = Page::of_sample(&[]);
    let mut streams: Vec<_> = (0..256).map(|_| stream(&page)).collect();
    assert!(streams.iter().all(|(status, _)| status == "HTTP/1.1 200"));
    assert_eq!(stream(&page).0, "HTTP/1.1 503");
    assert_eq!(page.get("/applications").status, 200);
    streams.truncate(255);
    until(|| (stream(&page).0 == "HTTP/1.1 200").then_some(()));
}

#[test]
fn slow_clients_are_disconnected_and_hold_nobody_up() {
    let page = Page::of_sample(&[]);
    let mut slow: Vec<TcpStream> = (0..500).map(|_| http::connect(&page.address)).collect();
    for stream in &mut slow {
        stream.write_all(b"GET /applications HTTP/1.1\r\nHost: ").expect("the beginning of a request");
    }
    assert_eq!(page.get("/applications").status, 200);
    for stream in &mut slow {
        // It ends, with or without an answer.
        drop(stream.read_to_end(&mut Vec::new()));
    }
}

#[test]
fn reachable_address_is_refused() {
    let world = crate::world::World::empty();
    let output = world.run(&["serve", "--listen", "0.0.0.0:0"]);
    assert_eq!(output.code, 2);
    assert_has(&output.stderr, &["0.0.0.0 can be reached from other machines"]);
}
