use tiphys_model::access::{RegistryEntry, Secret};

use super::entry_login;
use crate::Login;

fn login(json: &str) -> Result<Option<Login>, String> {
    let entry = RegistryEntry { json: Secret::new(json), file: "/logins/config.json".to_owned() };
    entry_login(&entry, "r.example.org").map_err(|error| error.to_string())
}

#[test]
fn entry_has_a_token_or_user_name_and_password() {
    let pair = |username: &str, password: &str| {
        Some(Login::Password { username: username.to_owned(), password: Secret::new(password) })
    };
    for (entry, expected) in [
        (r#"{"auth":"dXNlcjpwYTpzcw=="}"#, pair("user", "pa:ss")),
        (r#"{"auth":"dXNlcjpwYXNzAA=="}"#, pair("user", "pass")),
        (r#"{"auth":"dXNlcjpw\nYXNz\r\n"}"#, pair("user", "pass")),
        (r#"{"auth":"dXNlcjpwYXNzcx=="}"#, pair("user", "passs")),
        (r#"{"auth":"dXNlcjo="}"#, pair("user", "")),
        (r#"{"username":"user","password":"pass"}"#, pair("user", "pass")),
        (r#"{"auth":null,"username":"user","password":"pass"}"#, pair("user", "pass")),
        (r#"{"auth":"dXNlcjpwYXNz","identitytoken":"t"}"#, Some(Login::Token(Secret::new("t")))),
        (r#"{"auth":"","identitytoken":""}"#, None),
        (r#"{"username":"user"}"#, None),
        ("{}", None),
        ("null", None),
    ] {
        assert_eq!(login(entry), Ok(expected), "{entry}");
    }
}

#[test]
fn invalid_entry_is_reported_without_its_content() {
    let no_pair = "its field auth is not base64 of USER:PASSWORD";
    for (entry, problem) in [
        (r#"{"auth":"hunter2!!"}"#, no_pair),
        (r#"{"auth":"aHVudGVyMg=="}"#, no_pair),
        (r#"{"auth":"dTpwYQ"}"#, no_pair),
        (r#"{"auth":"hunter2!!","identitytoken":"t"}"#, no_pair),
        (r#"{"auth":"dTr/"}"#, "its field auth is not UTF-8"),
        (r#"{"auth":5}"#, "its field auth must be a string"),
        (r#"{"auth":"dTpw","username":["hunter2"]}"#, "its field username must be a string"),
        (r#"{"identitytoken":{"hunter2":1}}"#, "its field identitytoken must be a string"),
        (r#""hunter2""#, "it is not an object"),
        ("[]", "it is not an object"),
    ] {
        let expected =
            format!("the credentials for r.example.org in /logins/config.json cannot be used: {problem}");
        assert_eq!(login(entry), Err(expected), "{entry}");
    }
}
