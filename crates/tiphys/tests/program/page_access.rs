//! Who may use the web page.

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

#[test]
fn reachable_address_is_refused() {
    let world = crate::world::World::empty();
    let output = world.run(&["serve", "--listen", "0.0.0.0:0"]);
    assert_eq!(output.code, 2);
    assert_has(&output.stderr, &["0.0.0.0 can be reached from other machines"]);
}
