//! Files that helm and docker write.

use super::{MountedLogins, OtherShape, PemFiles};
use crate::context::CredentialReach;

#[test]
fn repositories_are_read_with_their_credentials_and_with_the_paths_of_their_certificates() {
    let mut mounted = MountedLogins::default();
    let file = "apiVersion: \"\"\nrepositories:\n- name: priv\n  url: https://a.example.org\n  username: u\n  password: secret\n  \
                caFile: /ca\n  certFile: /cert\n  keyFile: /key\n  pass_credentials_all: true\n  insecure_skip_tls_verify: true\n\
                - {name: open, url: 'https://b.example.org'}\n";
    assert_eq!(mounted.add_repositories(file.as_bytes()), Ok(()));
    let [private, open] = mounted.repositories.as_slice() else { panic!("{mounted:?}") };
    let access = &private.access;
    assert_eq!(
        (access.name.as_str(), access.url.as_str(), access.username.as_str(), access.password.expose()),
        ("priv", "https://a.example.org", "u", "secret")
    );
    let [authorities, certificate, key] = ["/ca", "/cert", "/key"].map(str::to_owned);
    assert_eq!(private.files, PemFiles { authorities, certificate, key });
    assert_eq!((access.insecure, open.access.insecure), (true, false));
    assert_eq!(
        (private.credentials, open.credentials),
        (CredentialReach::EveryServer, CredentialReach::OwnServer)
    );
    assert_eq!(mounted.add_repositories(b""), Ok(()));
}

#[test]
fn of_logins_the_first_wins_and_an_empty_one_is_none() {
    let mut mounted = MountedLogins::default();
    let helms = br#"{"auths": {"r.example.org": {"auth": "aGVsbQ=="}}}"#;
    let dockers = br#"{"auths": {"r.example.org": {"auth": "ZG9ja2Vy"}, "s.example.org": {"auth": "ZG9ja2Vy"}, "t.example.org": {}},
                       "credHelpers": {"t.example.org": "ecr-login"}, "credsStore": "pass"}"#;
    assert_eq!((mounted.add_logins(helms), mounted.add_logins(dockers)), (Ok(()), Ok(())));
    let logins: Vec<_> = mounted.logins.iter().map(|(host, login)| (host.as_str(), login.expose())).collect();
    assert_eq!(
        logins,
        [("r.example.org", r#"{"auth":"aGVsbQ=="}"#), ("s.example.org", r#"{"auth":"ZG9ja2Vy"}"#)]
    );
    assert_eq!(mounted.helpers["t.example.org"], "ecr-login");
    assert_eq!(mounted.helper.as_deref(), Some("pass"));
}

#[test]
fn a_file_of_another_shape_is_refused_and_nothing_of_it_is_told() {
    let mut mounted = MountedLogins::default();
    for file in ["repositories: [{password: [geheim]}]\n", "geheim: [\n", "repositories: geheim\n"] {
        assert_eq!(mounted.add_repositories(file.as_bytes()), Err(OtherShape), "{file}");
    }
    assert_eq!(mounted.add_logins(b"{\"auths\": geheim"), Err(OtherShape));
    assert!(!OtherShape.to_string().contains("geheim"));
}
