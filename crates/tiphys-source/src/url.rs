//! Repository URLs that git is asked for.

#[cfg(test)]
mod tests;

use tiphys_access::percent_decode;

use crate::{Secret, SourceError, redact_url};

/// How git reaches a repository.
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

/// A URL that git may be asked for. The password is kept aside, so that it never reaches an argument list.
#[derive(Clone, Debug)]
pub(crate) struct RemoteUrl {
    /// What git gets: no password.
    pub(crate) address: String,
    /// What the URL itself held.
    pub(crate) login: Option<(String, Secret)>,
    pub(crate) transport: Transport,
}

impl RemoteUrl {
    /// [`Self::parse`] with an error that names the URL.
    pub(crate) fn parse_shown(url: &str) -> Result<Self, SourceError> {
        Self::parse(url).map_err(|reason| SourceError::Url { repository: redact_url(url.trim()), reason })
    }

    /// Takes only transports that are known not to run a program of the URL's choice; says what is wrong otherwise.
    pub(crate) fn parse(url: &str) -> Result<Self, &'static str> {
        let url = url.trim();
        if url.is_empty() {
            return Err("it is empty");
        }
        if url.starts_with('-') || url.contains(|c: char| c.is_control()) {
            return Err("it begins with a dash or holds a control character");
        }
        let Some((scheme, rest)) = url.split_once("://") else {
            let (host, path) = url.split_once(':').unwrap_or((url, ""));
            if host.contains('/') || host.is_empty() || path.is_empty() {
                return Err(
                    "it is a local path; write file:// before it, or let a folder stand for the repository with --repo URL=DIR",
                );
            }
            if path.starts_with(':') || host.contains('[') {
                return Err("only file, http, https, ssh and git URLs are allowed");
            }
            let user_is_option = host.rsplit('@').any(|part| part.starts_with('-'));
            if user_is_option || path.starts_with('-') {
                return Err("its host or path begins with a dash");
            }
            return Ok(Self { address: url.to_owned(), login: None, transport: Transport::Ssh });
        };
        let transport = match scheme.to_ascii_lowercase().as_str() {
            "file" => Transport::File,
            "http" | "https" => Transport::Http,
            "ssh" | "git+ssh" | "ssh+git" => Transport::Ssh,
            "git" => Transport::Git,
            _ => return Err("only file, http, https, ssh and git URLs are allowed"),
        };
        let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        if authority.rsplit('@').any(|part| part.starts_with('-')) {
            return Err("its host begins with a dash");
        }
        let plain = || Self { address: url.to_owned(), login: None, transport };
        if transport == Transport::Ssh {
            let authority = without_password(authority);
            return Ok(Self { address: format!("{scheme}://{authority}{path}"), login: None, transport });
        }
        if transport != Transport::Http {
            return Ok(plain());
        }
        let Some((user, host)) = authority.rsplit_once('@') else { return Ok(plain()) };
        let Some((name, password)) = user.split_once(':') else { return Ok(plain()) };
        let login = (percent_decode(name), Secret::new(percent_decode(password)));
        Ok(Self { address: format!("{scheme}://{host}{path}"), login: Some(login), transport })
    }
}

/// User and host of an SSH URL. Git would put a password on ssh's command line, and ssh would take it for a part of the
/// user's name.
fn without_password(authority: &str) -> String {
    // Git decodes the URL before it looks for these two.
    let lower = authority.to_ascii_lowercase();
    let Some(at) = lower.rfind('@').max(lower.rfind("%40")) else { return authority.to_owned() };
    let user = &lower[..at];
    let Some(colon) = user.find(':').into_iter().chain(user.find("%3a")).min() else {
        return authority.to_owned();
    };
    let host = &authority[at..];
    if colon > 0 {
        return format!("{}{host}", &authority[..colon]);
    }
    host.strip_prefix('@').or_else(|| host.strip_prefix("%40")).unwrap_or(host).to_owned()
}
