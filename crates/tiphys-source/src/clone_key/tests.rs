//! Who shares a clone with whom.

use tiphys_model::access::{RepositoryAccess, Secret};

use super::CloneKey;
use crate::url::RemoteUrl;

const URL: &str = "https://git.example.org/team/apps";

fn key(url: &str, access: &RepositoryAccess) -> CloneKey {
    CloneKey::new(&RemoteUrl::parse(url).expect("it is a URL"), access)
}

fn login(username: &str, password: &str) -> RepositoryAccess {
    RepositoryAccess {
        username: username.to_owned(),
        password: Secret::new(password),
        ..RepositoryAccess::default()
    }
}

#[test]
fn a_clone_is_shared_by_those_who_ask_for_one_repository_in_one_way() {
    let anonymous = RepositoryAccess::default();
    let of_secret = RepositoryAccess {
        url: URL.to_owned(),
        name: "apps".to_owned(),
        project: "team".to_owned(),
        ..login("robot", "hunter22")
    };
    let cases: [(&str, &RepositoryAccess, &str, &RepositoryAccess, bool); 9] = [
        (URL, &anonymous, "https://git.example.org/team/apps.git/", &anonymous, true),
        (URL, &anonymous, "https://git.example.org/team/Apps", &anonymous, false),
        (URL, &anonymous, "HTTPS://git.example.org/team/apps", &anonymous, true),
        (URL, &of_secret, URL, &login("robot", "hunter22"), true),
        (URL, &of_secret, URL, &anonymous, false),
        (URL, &of_secret, URL, &login("robot", "hunter23"), false),
        (URL, &login("ab", "c"), URL, &login("a", "bc"), false),
        ("https://robot:hunter22@git.example.org/team/apps", &anonymous, URL, &anonymous, false),
        (
            "https://robot:hunter22@git.example.org/team/apps",
            &anonymous,
            "https://robot:hunter22@git.example.org/team/apps.git",
            &anonymous,
            true,
        ),
    ];
    for (url, access, other_url, other_access, expected) in cases {
        let (one, other) = (key(url, access), key(other_url, other_access));
        assert_eq!(one == other, expected, "{one:?} {other:?}");
        assert_eq!(
            one.directory_name(&[1; 32]) == other.directory_name(&[1; 32]),
            expected,
            "{one:?} {other:?}"
        );
    }
}

#[test]
fn whatever_a_secret_opens_a_repository_with_is_another_way_to_it() {
    let anonymous = RepositoryAccess::default;
    let ways = [
        anonymous(),
        login("robot", ""),
        login("", "robot"),
        RepositoryAccess { bearer_token: Secret::new("robot"), ..anonymous() },
        RepositoryAccess { ssh_private_key: Secret::new("robot"), ..anonymous() },
        RepositoryAccess { tls_client_cert_data: "robot".to_owned(), ..anonymous() },
        RepositoryAccess { insecure: true, ..anonymous() },
        RepositoryAccess { ca_data: "robot".to_owned(), ..anonymous() },
        RepositoryAccess { proxy: Secret::new("robot"), ..anonymous() },
    ];
    let names: std::collections::BTreeSet<String> =
        ways.iter().map(|way| key(URL, way).directory_name(&[1; 32])).collect();
    assert_eq!(names.len(), ways.len(), "{names:?}");
}

/// There lie clones that earlier builds fetched with whatever login.
#[test]
fn no_name_is_the_bare_hash_of_an_address() {
    let name = key(URL, &RepositoryAccess::default()).directory_name(&[1; 32]);
    assert_ne!(name, blake3::hash(URL.as_bytes()).to_hex().to_string());
}

#[test]
fn name_follows_from_no_url_without_the_secret() {
    let kept = key(URL, &RepositoryAccess::default());
    assert_ne!(kept.directory_name(&[1; 32]), kept.directory_name(&[2; 32]));
}

#[test]
fn no_login_is_in_a_name_or_in_what_people_see() {
    for (url, access) in [
        ("https://robot:hunter22@git.example.org/team/apps", RepositoryAccess::default()),
        (URL, login("robot", "hunter22")),
    ] {
        let kept = key(url, &access);
        let shown = format!("{kept:?}");
        assert!(shown.contains("git.example.org/team/apps"), "{shown}");
        assert!(!shown.contains("robot") && !shown.contains("hunter22"), "{shown}");
        let name = kept.directory_name(&[1; 32]);
        assert!(name.len() == 64 && name.bytes().all(|digit| digit.is_ascii_hexdigit()), "{name}");
    }
}
