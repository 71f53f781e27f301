//! What becomes of answers.

use serde_json::json;
use tiphys_params::context::{RegistryLogin, Secret};

use super::log_in;
use crate::dependencies::remote::{Remote, RemoteKind};

#[test]
fn an_answer_is_a_password_a_token_or_nothing() {
    let token = RegistryLogin::Entry(Secret::new(r#"{"identitytoken":"t"}"#));
    for (answer, username, password, login) in [
        (json!({ "ServerURL": "r", "Username": "u", "Secret": "p" }), "u", "p", RegistryLogin::None),
        (json!({ "Username": "<token>", "Secret": "t" }), "", "", token),
        (json!(null), "", "", RegistryLogin::None),
    ] {
        let asked = RegistryLogin::Helper("pass".to_owned());
        let mut remote = Remote { login: asked, ..Remote::unknown("r.example.com/x", RemoteKind::Registry) };
        log_in(&mut remote, &answer);
        assert_eq!((remote.access.username.as_str(), remote.access.password.expose()), (username, password));
        assert_eq!(remote.login, login, "{answer}");
    }
}
