use tiphys_model::access::Secret;

use super::{NoLogin, answer};
use crate::Login;

#[test]
fn helper_output_is_a_password_a_token_or_nothing() {
    let password = Login::Password { username: "u".to_owned(), password: Secret::new("p") };
    for (code, printed, expected) in [
        (Some(0), r#"{"ServerURL":"r","Username":"u","Secret":"p"}"#, Ok(Some(password))),
        (Some(0), r#"{"Username":"<token>","Secret":"t"}"#, Ok(Some(Login::Token(Secret::new("t"))))),
        (Some(1), "credentials not found in native keychain\n", Ok(None)),
        (Some(1), "no store", Err(NoLogin)),
        (Some(1), r#"{"Username":"u","Secret":"p"}"#, Err(NoLogin)),
        (Some(0), r#"{"Username":"u"}"#, Err(NoLogin)),
        (Some(0), "credentials not found in native keychain\n", Err(NoLogin)),
        (None, "", Err(NoLogin)),
    ] {
        assert_eq!(answer(code, printed.as_bytes()), expected, "{printed}");
    }
}
