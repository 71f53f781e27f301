use std::path::Path;

use serde_json::Value;
use tiphys_model::access::RepoUrl;

use super::{RemoteUrl, Transport};

#[test]
fn a_password_is_kept_out_of_the_address() {
    let url = RemoteUrl::parse("https://us%40er:p%3Aw%+f%C3%A9%4@h:8443/x.git").expect("it can be fetched");
    assert_eq!(url.address, "https://h:8443/x.git");
    let (user, password) = url.login.expect("it has a login");
    assert_eq!((user.as_str(), password.expose()), ("us@er", "p:w%+fé%4"));
    assert_eq!(format!("{password:?} {password}"), "*** ***");
    let url = RemoteUrl::parse("https://user@h/x").expect("it can be fetched");
    assert_eq!(url.address, "https://user@h/x", "a credential helper wants to know the user");
}

#[test]
fn an_ssh_url_loses_its_password() {
    for (url, address) in [
        ("ssh://user:hunter2@h/x", "ssh://user@h/x"),
        ("ssh://user:hunt@er:2@h:22/x", "ssh://user@h:22/x"),
        ("git+ssh://user%3Ahunter2@h/x", "git+ssh://user@h/x"),
        ("ssh://user:@h/x", "ssh://user@h/x"),
        ("ssh://:hunter2@h/x", "ssh://h/x"),
        ("ssh://user@h:22/a:b@c", "ssh://user@h:22/a:b@c"),
        ("ssh://h:22/x", "ssh://h:22/x"),
        ("ssh://user@[::1]:22/x", "ssh://user@[::1]:22/x"),
        ("git@h:x", "git@h:x"),
    ] {
        let url = RemoteUrl::parse(url).expect("it can be fetched");
        assert_eq!((url.address.as_str(), url.login.is_none()), (address, true));
    }
}

#[test]
fn git_gets_the_scheme_in_lower_case() {
    for (url, address) in [
        ("HTTP://H/x.git", "http://H/x.git"),
        ("Https://user:word@H/X", "https://H/X"),
        ("SSH://git@h/x", "ssh://git@h/x"),
        ("FILE:///Srv/x", "file:///Srv/x"),
    ] {
        assert_eq!(RemoteUrl::parse(url).expect("it can be fetched").address, address);
    }
}

#[test]
fn only_transports_that_run_nothing_of_the_urls_choice_are_taken() {
    for (url, transport) in [
        ("file:///srv/x", Some(Transport::File)),
        ("https://h/x", Some(Transport::Http)),
        ("http://h/x", Some(Transport::Http)),
        ("ssh://git@h:22/x", Some(Transport::Ssh)),
        ("git@h:x", Some(Transport::Ssh)),
        ("h:x", Some(Transport::Ssh)),
        ("git://h/x", Some(Transport::Git)),
        ("ext::sh -c x", None),
        ("fd::17", None),
        ("oci://h/x", None),
        ("/srv/x", None),
        ("./x", None),
        ("-x", None),
        ("ssh://-ox/y", None),
        ("ssh://git@-ox/y", None),
        ("-ox:y", None),
        ("git@h:-x", None),
        ("https://h/x\ny", None),
        ("", None),
    ] {
        assert_eq!(RemoteUrl::parse(url).ok().map(|url| url.transport), transport, "{url:?}");
    }
}

/// The data records the servers to which git 2.39 connects and those that Go 1.26 reads, on which Argo CD's choice of credentials is based.
/// `ours` is null for an address that is refused.
#[test]
fn accepted_urls_have_one_server_for_git_and_go() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/url-servers.jsonl");
    let text = std::fs::read_to_string(path).expect("the data can be read");
    for line in text.lines() {
        let row: Value = serde_json::from_str(line).expect("a row is JSON");
        let url = row["url"].as_str().expect("url is a string");
        let accepted = RemoteUrl::parse(url).ok().map(|url| RepoUrl::new(url.address));
        let ours = accepted.as_ref().map(RepoUrl::host);
        assert_eq!(ours, row["ours"].as_str(), "{url}");
        let without_brackets = |host: &str| host.trim_matches(['[', ']']).to_owned();
        // Git passes the user of a git:// URL on as a part of the host; such a host does not exist.
        let git = row["git"].as_str().map(|host| host.rsplit('@').next().unwrap_or_default().to_owned());
        let go = row["go"]
            .as_str()
            .filter(|host| !host.is_empty())
            .map(|host| RepoUrl::new(host).host().to_owned());
        for other in [git, go].into_iter().flatten() {
            assert_eq!(
                ours.map_or_else(|| other.clone(), without_brackets),
                without_brackets(&other),
                "{url}"
            );
        }
    }
}
