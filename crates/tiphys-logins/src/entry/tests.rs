use tiphys_params::context::Secret;

use super::entry_login;
use crate::Login;

#[test]
fn an_entry_has_a_token_or_a_user_with_a_password() {
    let pair = |username: &str, password: &str| {
        Some(Login::Password { username: username.to_owned(), password: Secret::new(password) })
    };
    for (entry, expected) in [
        (r#"{"auth":"dXNlcjpwYTpzcw=="}"#, pair("user", "pa:ss")),
        (r#"{"auth":"dXNlcjpwYXNzAA=="}"#, pair("user", "pass")),
        (r#"{"username":"user","password":"pass"}"#, pair("user", "pass")),
        (r#"{"auth":"dXNlcjpwYXNz","identitytoken":"t"}"#, Some(Login::Token(Secret::new("t")))),
        (r#"{"auth":"","identitytoken":""}"#, None),
        (r#"{"auth":"dXNlcg=="}"#, None),
        (r#"{"auth":"?"}"#, None),
        (r#"{"username":"user"}"#, None),
        ("[]", None),
    ] {
        assert_eq!(entry_login(&Secret::new(entry)), expected, "{entry}");
    }
}
