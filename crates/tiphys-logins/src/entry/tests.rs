//! Entries as helm and docker write them, and others.

use tiphys_access::{RegistryEntry, Secret};

use super::entry_login;
use crate::Login;

fn login(json: &str) -> Result<Option<Login>, String> {
    let entry = RegistryEntry { json: Secret::new(json), file: "/logins/config.json".to_owned() };
    entry_login(&entry, "r.example.org").map_err(|error| error.to_string())
}

#[test]
fn an_entry_has_a_token_or_a_user_with_a_password() {
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
fn what_is_no_login_is_told_with_its_file_and_field_and_nothing_of_it_is_shown() {
    let no_pair = "its field auth is no user and password, with `:` between them, in base64";
    for (entry, problem) in [
        (r#"{"auth":"geheim!!"}"#, no_pair),
        (r#"{"auth":"Z2VoZWlt"}"#, no_pair),
        (r#"{"auth":"dTpwYQ"}"#, no_pair),
        (r#"{"auth":"geheim!!","identitytoken":"t"}"#, no_pair),
        (r#"{"auth":"dTr/"}"#, "its field auth is not UTF-8"),
        (r#"{"auth":5}"#, "its field auth is no text"),
        (r#"{"auth":"dTpw","username":["geheim"]}"#, "its field username is no text"),
        (r#"{"identitytoken":{"geheim":1}}"#, "its field identitytoken is no text"),
        (r#""geheim""#, "it is no object"),
        ("[]", "it is no object"),
    ] {
        let due = format!("the login to r.example.org in /logins/config.json cannot be used: {problem}");
        assert_eq!(login(entry), Err(due), "{entry}");
    }
}
