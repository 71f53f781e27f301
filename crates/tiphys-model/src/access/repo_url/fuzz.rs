//! Invariants of repository addresses from anywhere.

use super::{Parts, RepoUrl, parse_as_go, percent_decode};

/// Compares an address that is not ambiguous with the readings of git and Go: all read the same server. The parts are the whole address, and
/// the redacted address does not contain the password.
pub fn fuzz_repo_url(bytes: &[u8]) {
    let url = RepoUrl::new(String::from_utf8_lossy(bytes));
    let Parts { scheme, authority, path } = url.parts();
    let [scheme, user_info] =
        [scheme.map(|scheme| [scheme, "://"]), authority.user_info.map(|user| [user, "@"])]
            .map(|part| part.unwrap_or_default().concat());
    assert_eq!([&*scheme, &*user_info, authority.server, path].concat(), url.expose());
    assert_eq!([&*scheme, authority.server, path].concat(), url.without_user_info());
    if authority
        .user_info
        .and_then(|user_info| user_info.split_once(':'))
        .is_some_and(|(_, password)| password != "***")
    {
        assert!(!url.to_string().starts_with(&[scheme, user_info].concat()), "{}", url.expose());
    }
    if url.is_ambiguous() {
        return;
    }
    let [server, host] = [url.server(), url.host()].map(|part| percent_decode(part).to_ascii_lowercase());
    match url.scheme() {
        Some(scheme) => {
            let go = parse_as_go(url.expose()).map(|go| go.host);
            for other in [go, git_server(scheme, url.without_scheme())].into_iter().flatten() {
                assert_eq!(other.to_ascii_lowercase(), server, "{}", url.expose());
            }
        }
        None if url.expose().contains('[') => {}
        None => assert_eq!(git_ssh_host(url.expose()).to_ascii_lowercase(), host, "{}", url.expose()),
    }
}

/// The server to which git connects for a URL (`parse_connect_url` of its `connect.c`; for HTTP that of curl). None for transports that are
/// not supported.
fn git_server(scheme: &str, rest: &str) -> Option<String> {
    match scheme {
        "http" | "https" => rest.split(['/', '?', '#']).next()?.rsplit('@').next().map(percent_decode),
        "ssh" | "git+ssh" | "ssh+git" | "git" => {
            percent_decode(rest).split('/').next()?.rsplit('@').next().map(str::to_owned)
        }
        _ => None,
    }
}

/// The server of `[USER@]HOST:PATH` or `HOST/PATH`.
fn git_ssh_host(address: &str) -> String {
    let host = address.split([':', '/', '?', '#']).next().unwrap_or_default();
    percent_decode(host.rsplit('@').next().unwrap_or_default())
}
