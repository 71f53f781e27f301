use axum::http::{HeaderMap, HeaderValue, header::COOKIE};

use super::Access;

fn cookies(text: &str) -> HeaderMap {
    HeaderMap::from_iter([(COOKIE, HeaderValue::from_str(text).expect("a header"))])
}

#[test]
fn first_token_is_accepted_once() {
    let access = Access::new(8080).expect("randomness");
    let token = access.first_token();
    assert!(!access.admit("other"));
    assert!(access.admit(&token));
    assert!(!access.admit(&token));
    assert_eq!(access.first_token(), "");
    assert!(!access.admit(""));
}

#[test]
fn cookie_belongs_to_one_server() {
    let access = Access::new(8080).expect("randomness");
    let cookie = access.set_cookie();
    let cookie = cookie.split(';').next().expect("a pair");
    assert!(access.has_session(&cookies(&format!("theme=dark; {cookie}; other=1"))));
    let cases = ["", "tiphys_8080=", "tiphys_8080=0", &cookie.replace("8080", "8081")];
    for text in cases {
        assert!(!access.has_session(&cookies(text)), "{text}");
    }
    let restarted = Access::new(8080).expect("randomness");
    assert!(!restarted.has_session(&cookies(cookie)));
}

#[test]
fn form_token_is_required() {
    let access = Access::new(8080).expect("randomness");
    assert!(access.is_form_token(Some(access.form_token())));
    assert!(!access.is_form_token(Some("")));
    assert!(!access.is_form_token(None));
}
