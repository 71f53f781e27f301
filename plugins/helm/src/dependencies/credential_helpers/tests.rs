//! Credentials after a helper's answer.

use tiphys_logins::Login;
use tiphys_model::access::{RegistryEntry, RegistryLogin, Secret};

use super::open;
use crate::dependencies::remote::{RemoteKind, RemoteRepository};

#[test]
fn helper_answer_is_a_password_a_token_or_the_next_entry() {
    let password = Login::Password { username: "u".to_owned(), password: Secret::new("p") };
    let entry = RegistryLogin::Entry(RegistryEntry {
        json: Secret::new(r#"{"identitytoken":"t"}"#),
        file: String::new(),
    });
    for (login, username, password, expected) in [
        (Some(password), "u", "p", RegistryLogin::None),
        (Some(Login::Token(Secret::new("t"))), "", "", entry),
        (None, "", "", RegistryLogin::Entry(RegistryEntry { json: Secret::new("{}"), file: String::new() })),
    ] {
        let otherwise =
            Box::new(RegistryLogin::Entry(RegistryEntry { json: Secret::new("{}"), file: String::new() }));
        let asked = RegistryLogin::Helper { name: "pass".to_owned(), otherwise };
        let mut remote = RemoteRepository {
            login: asked,
            ..RemoteRepository::unknown("r.example.com/x", RemoteKind::Registry)
        };
        open(&mut remote, login);
        assert_eq!((remote.access.username.as_str(), remote.access.password.expose()), (username, password));
        assert_eq!(remote.login, expected);
    }
}
