//! Repository URLs that are passed to git.

#[cfg(test)]
mod tests;

use tiphys_model::access::{RepoUrl, percent_decode};

use crate::{Secret, SourceError, redact_url};

/// The transport protocol of a repository URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Transport {
    /// `file://`
    File,
    /// `http://` and `https://`
    Http,
    /// `ssh://` and `git@host:path`
    Ssh,
    /// `git://`
    Git,
}

/// A permitted repository URL. The password is separate, so that it is never an argument of git.
#[derive(Clone, Debug)]
pub(crate) struct RemoteUrl {
    /// The URL without password, as passed to git.
    pub(crate) address: String,
    /// User and password of the URL.
    pub(crate) login: Option<(String, Secret)>,
    pub(crate) transport: Transport,
}

impl RemoteUrl {
    /// Like [`Self::parse`], with an error that names the URL.
    pub(crate) fn parse_shown(url: &str) -> Result<Self, SourceError> {
        Self::parse(url).map_err(|reason| SourceError::Url { repository: redact_url(url.trim()), reason })
    }

    /// Parses a URL. Rejects transports that run a program of the URL's choice, and URLs that git and Argo CD parse differently. The error is
    /// the reason.
    pub(crate) fn parse(url: &str) -> Result<Self, &'static str> {
        const TRANSPORTS: &str = "only file, http, https, ssh and git URLs are allowed";
        let url = with_lower_case_scheme(RepoUrl::new(url));
        let text = url.expose();
        if text.is_empty() {
            return Err("it is empty");
        }
        if text.starts_with('-') || text.contains(|c: char| c.is_control()) {
            return Err("it begins with a dash or holds a control character");
        }
        let user_info = url.user_info().unwrap_or_default();
        let begins_with_dash = || [url.host(), user_info].iter().any(|part| part.starts_with('-'));
        let Some(scheme) = url.scheme() else {
            let path = &text[url.path_start()..];
            if url.port().is_none() || url.host().is_empty() || path.is_empty() {
                return Err(
                    "it is a local path; write it as file://PATH, or use a local copy of the repository",
                );
            }
            if path.starts_with(':') || url.host().starts_with('[') {
                return Err(TRANSPORTS);
            }
            if begins_with_dash() || path.starts_with('-') {
                return Err("its host or path begins with a dash");
            }
            if url.is_ambiguous() {
                return Err(AMBIGUOUS);
            }
            return Ok(Self { address: text.to_owned(), login: None, transport: Transport::Ssh });
        };
        let transport = match scheme {
            "file" => Transport::File,
            "http" | "https" => Transport::Http,
            "ssh" | "git+ssh" | "ssh+git" => Transport::Ssh,
            "git" => Transport::Git,
            _ => return Err(TRANSPORTS),
        };
        if begins_with_dash() {
            return Err("its host begins with a dash");
        }
        // A part of a password with an unescaped `/`, `?` or `#`, which must not become an argument of git.
        if url.port().is_some_and(|port| !port.bytes().all(|byte| byte.is_ascii_digit())) {
            return Err(
                "its port is not a number; percent-encode the special characters of its user and password",
            );
        }
        if transport != Transport::File && url.is_ambiguous() {
            return Err(AMBIGUOUS);
        }
        let (mut address, mut login) = (text.to_owned(), None);
        match transport {
            Transport::Ssh => {
                let user = without_password(user_info);
                let at = if user.is_empty() { "" } else { "@" };
                address = format!("{scheme}://{user}{at}{}{}", url.server(), url.path());
            }
            Transport::Http => {
                if let Some((name, password)) = user_info.split_once(':') {
                    login = Some((percent_decode(name), Secret::new(percent_decode(password))));
                    address = url.without_user_info();
                }
            }
            Transport::File | Transport::Git => {}
        }
        Ok(Self { address, login, transport })
    }
}

const AMBIGUOUS: &str = "git and Argo CD read different servers in it; percent-encode the special characters of its user and password";

/// Git accepts schemes in lower case only.
fn with_lower_case_scheme(url: RepoUrl) -> RepoUrl {
    match url.scheme() {
        Some(scheme) => RepoUrl::new([&scheme.to_ascii_lowercase(), &url.expose()[scheme.len()..]].concat()),
        None => url,
    }
}

/// Returns the user of the user information of an SSH URL. Git would put a password on ssh's command line, and ssh would take it for a part
/// of the user's name.
fn without_password(user_info: &str) -> &str {
    // Git decodes the URL before it looks for the colon.
    let lower = user_info.to_ascii_lowercase();
    let colon = lower.find(':').into_iter().chain(lower.find("%3a")).min();
    &user_info[..colon.unwrap_or(user_info.len())]
}
