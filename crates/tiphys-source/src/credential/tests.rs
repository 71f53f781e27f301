use super::{CredentialScope, Login, RepositoryCredential, ServerCheck, find};
use crate::Secret;

fn credential(scope: CredentialScope, user: &str) -> RepositoryCredential {
    let login = if user.is_empty() {
        Login::None
    } else {
        Login::Basic { username: user.to_owned(), password: Secret::new("pw") }
    };
    RepositoryCredential {
        scope,
        login,
        client_certificate: None,
        server: ServerCheck::Verified,
        proxy: None,
    }
}

fn repository(url: &str, user: &str) -> RepositoryCredential {
    credential(CredentialScope::Repository(url.to_owned()), user)
}

fn prefix(url: &str, user: &str) -> RepositoryCredential {
    credential(CredentialScope::Prefix(url.to_owned()), user)
}

#[test]
fn a_repositorys_own_secret_wins_then_the_longest_prefix() {
    let credentials = [
        prefix("https://h/", "all"),
        prefix("https://bare", "bare"),
        prefix("https://h/team", "team"),
        repository("https://H/team/Own.git", "own"),
        repository("https://h/team/empty", ""),
    ];
    for (url, expected) in [
        ("https://h/team/own", Some("own")),
        ("https://h/team/empty", Some("team")),
        ("https://h/team/x", Some("team")),
        ("https://h/other", Some("all")),
        // A path may end in the middle of a name, as in Argo CD; a host may not.
        ("https://h/teams/x", Some("team")),
        ("https://elsewhere/x", None),
        ("https://bare/x", Some("bare")),
        ("https://bare:8443/x", Some("bare")),
        ("https://bare.evil.example/x", None),
    ] {
        let user = find(&credentials, url).login.and_then(|login| match login {
            Login::Basic { username, .. } => Some(username.as_str()),
            _ => None,
        });
        assert_eq!(user, expected, "{url}");
    }
}

#[test]
fn credentials_do_not_print_what_is_secret() {
    let printed = format!("{:?}", repository("https://h/x", "robot"));
    assert!(printed.contains("robot") && !printed.contains("pw"), "{printed}");
}
