//! The address of a repository. All reading of addresses is here, so that no two readings of one address name different servers.

mod canonical;
mod fuzz;
mod redact;

use std::fmt;

pub use canonical::{canonical_addresses, canonical_patterns};
pub use fuzz::fuzz_repo_url;
pub use redact::{credentials_end, redact_address, redact_url};

use tiphys_go::gotemplate::lower_case;
use tiphys_go::url::Url;

/// The scheme of OCI registries, as a prefix.
const OCI: &str = "oci://";

/// Schemes whose URLs git decodes before it splits them. They have no query and no fragment.
const DECODED_BY_GIT: [&str; 5] = ["ssh", "git+ssh", "ssh+git", "git", "file"];

/// The address of a repository as users write it: a URL, git's `[USER@]HOST:PATH`, or `HOST[:PORT]/PATH` of an OCI registry. Any string is
/// an address; programs that use one refuse what they do not support.
///
/// `Display` and `Debug` redact credentials.
#[derive(Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RepoUrl(String);

/// The parts of an address as written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Parts<'a> {
    scheme: Option<&'a str>,
    authority: Authority<'a>,
    /// From the first `/`, `?` or `#` after the authority.
    path: &'a str,
}

/// User information and server of an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Authority<'a> {
    user_info: Option<&'a str>,
    /// Host and port.
    server: &'a str,
    /// With brackets if it is an IPv6 address.
    host: &'a str,
    /// For `HOST:PATH` of git the beginning of the path.
    port: Option<&'a str>,
}

impl RepoUrl {
    /// Takes an address without the whitespace around it.
    pub fn new(address: impl AsRef<str>) -> Self {
        Self(address.as_ref().trim().to_owned())
    }

    /// Returns the whole address, which may contain credentials.
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// Returns the part before `://`, as written.
    pub fn scheme(&self) -> Option<&str> {
        self.parts().scheme
    }

    /// Whether the scheme is this one, in upper or lower case.
    pub fn has_scheme(&self, scheme: &str) -> bool {
        self.scheme().is_some_and(|own| own.eq_ignore_ascii_case(scheme))
    }

    /// Whether this can be the address of an OCI registry: its scheme is `oci` or missing.
    pub fn names_registry(&self) -> bool {
        self.0.starts_with(OCI) || self.scheme().is_none()
    }

    /// Returns the address without its scheme.
    pub fn without_scheme(&self) -> &str {
        self.scheme().map_or(&self.0, |scheme| &self.0[scheme.len() + "://".len()..])
    }

    /// Returns the part before the `@` of the server, as written.
    pub fn user_info(&self) -> Option<&str> {
        self.parts().authority.user_info
    }

    /// Returns the address without user information.
    pub fn without_user_info(&self) -> String {
        let Parts { authority, path, .. } = self.parts();
        let scheme = &self.0[..self.0.len() - self.without_scheme().len()];
        [scheme, authority.server, path].concat()
    }

    /// Returns the address without user information that has a password or a token. An [ambiguous](Self::is_ambiguous) address is redacted.
    pub fn without_credentials(&self) -> String {
        let redacted = redact_url(&self.0);
        if redacted == self.0 || self.is_ambiguous() {
            redacted
        } else {
            redact_url(&self.without_user_info())
        }
    }

    /// Returns host and port as written.
    pub fn server(&self) -> &str {
        self.parts().authority.server
    }

    /// Returns the host as written, an IPv6 address in brackets.
    pub fn host(&self) -> &str {
        self.parts().authority.host
    }

    /// Returns the port as written. For git's `HOST:PATH` this is the beginning of the path.
    pub fn port(&self) -> Option<&str> {
        self.parts().authority.port
    }

    /// Returns everything after the server: path, query and fragment.
    pub fn path(&self) -> &str {
        self.parts().path
    }

    /// Returns the index at which the path begins. In git's `HOST:PATH` that is after the colon.
    pub fn path_start(&self) -> usize {
        let Parts { scheme, path, authority } = self.parts();
        let in_authority = if scheme.is_none() { authority.port.map_or(0, str::len) } else { 0 };
        self.0.len() - path.len() - in_authority
    }

    /// Returns the name of the server as in certificates: without port and brackets. None if the address has no server.
    pub fn server_name(&self) -> Option<&str> {
        let host = self.host();
        let name = host.strip_prefix('[').map_or(host, |rest| rest.split(']').next().unwrap_or_default());
        Some(name).filter(|name| !name.is_empty())
    }

    /// Returns the key of the registry in Docker's configuration files: host and port; for Docker Hub `https://index.docker.io/v1/`.
    pub fn registry_key(&self) -> &str {
        match self.server() {
            "docker.io" | "index.docker.io" | "registry-1.docker.io" => "https://index.docker.io/v1/",
            server => server,
        }
    }

    /// Whether two programs may read different servers in the address: Go's parser, which Argo CD uses to choose credentials, git, which
    /// connects, and this type.
    pub fn is_ambiguous(&self) -> bool {
        let Parts { scheme, authority, .. } = self.parts();
        let Some(scheme) = scheme else {
            // Git reads `USER:PASSWORD@HOST/PATH` as a path on the server USER.
            return authority.user_info.is_some_and(|user_info| user_info.contains(':'));
        };
        let credentials_length = authority.user_info.map(str::len);
        if credentials_end(self.without_scheme()) != credentials_length {
            // The redacted URL would show another server.
            return true;
        }
        let server = percent_decode(authority.server);
        let is_other = |other: &str| !other.eq_ignore_ascii_case(&server);
        if DECODED_BY_GIT.iter().any(|one| scheme.eq_ignore_ascii_case(one)) {
            let decoded = percent_decode(self.without_scheme());
            let authority = decoded.split('/').next().unwrap_or_default();
            if is_other(Authority::of_url(authority).server) {
                return true;
            }
        }
        parse_as_go(&self.0).is_some_and(|url| is_other(&url.host))
    }

    /// Returns the address as Argo CD compares it (`NormalizeGitURLAllowInvalid`). An invalid URL stays as it is.
    pub fn normalized(&self) -> String {
        Some(normalize_git_url(&self.0)).filter(|text| !text.is_empty()).unwrap_or_else(|| self.0.clone())
    }

    /// Returns the form in which two addresses of one repository are equal: normalized, without `oci://`, `.git` and trailing slashes.
    pub(crate) fn comparable(&self) -> String {
        if self.0.is_empty() {
            return String::new();
        }
        Self::new(self.with_scheme().normalized()).without_oci().trim_end_matches('/').to_owned()
    }

    /// Adds `oci://` to an address without a scheme. An SSH address of a git repository stays as it is.
    pub(crate) fn with_scheme(&self) -> Self {
        if self.scheme().is_some() || is_ssh(&self.0) { self.clone() } else { Self([OCI, &self.0].concat()) }
    }

    /// Returns the form in which addresses of Helm repositories and registries are compared: in lower case, without `oci://`, user information
    /// and trailing slashes.
    pub fn chart_repository(&self) -> String {
        let address = self.0.trim_end_matches('/').to_ascii_lowercase();
        Self(Self(address).without_user_info()).without_oci().to_owned()
    }

    /// Returns the address without `oci://`.
    pub fn without_oci(&self) -> &str {
        self.0.strip_prefix(OCI).unwrap_or(&self.0)
    }

    fn parts(&self) -> Parts<'_> {
        let (scheme, rest) = match self.0.split_once("://") {
            Some((scheme, rest)) => (Some(scheme), rest),
            None => (None, &*self.0),
        };
        let (authority, path) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
        let authority =
            if scheme.is_some() { Authority::of_url(authority) } else { Authority::of_plain(authority) };
        Parts { scheme, authority, path }
    }
}

impl<'a> Authority<'a> {
    /// Reads the authority of a URL. The user information ends at the last `@`, as in Go, git and curl.
    fn of_url(text: &'a str) -> Self {
        Self::new(text.rsplit_once('@'), text)
    }

    /// Reads what precedes the path of an address without a scheme. A path of git's `USER@HOST:PATH` may contain `@`.
    fn of_plain(text: &'a str) -> Self {
        let before_colon = text.split_once(':').map_or(text, |(before, _)| before);
        match before_colon.rfind('@') {
            Some(at) => Self::new(Some((&text[..at], &text[at + 1..])), text),
            None => Self::of_url(text),
        }
    }

    fn new(split: Option<(&'a str, &'a str)>, whole: &'a str) -> Self {
        let (user_info, server) =
            split.map_or((None, whole), |(user_info, server)| (Some(user_info), server));
        // Colons within brackets belong to an IPv6 address.
        let bracket = if server.starts_with('[') { server.find(']').unwrap_or_default() } else { 0 };
        let (host, port) = match server[bracket..].find(':') {
            Some(colon) => (&server[..bracket + colon], Some(&server[bracket + colon + 1..])),
            None => (server, None),
        };
        Self { user_info, server, host, port }
    }
}

impl fmt::Display for RepoUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&redact_address(&self.0))
    }
}

impl fmt::Debug for RepoUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Returns a repository URL as Argo CD compares it (`NormalizeGitURL` of its `util/git`): lower case, without `.git`, `ssh://` and the
/// colon of `git@host:path`. Empty for an invalid URL; an empty result matches no URL.
pub fn normalize_git_url(url: &str) -> String {
    let mut url = lower_case(url.trim());
    if is_ssh(&url) && !url.starts_with("ssh://") {
        url = format!("ssh://{}", url.replacen(':', "/", 1));
    }
    let url = url.strip_suffix(".git").unwrap_or(&url);
    let Some(GoUrl { printed, .. }) = parse_as_go(url) else { return String::new() };
    printed.strip_prefix("ssh://").map(str::to_owned).unwrap_or(printed)
}

/// Returns the scheme of a URL in lower case. None if Go's `url.Parse` rejects the string, or finds no scheme: Argo CD then takes the
/// string for a path.
pub fn url_scheme(text: &str) -> Option<String> {
    parse_as_go(text).map(|url| url.scheme).filter(|scheme| !scheme.is_empty())
}

/// Returns the scheme of a URL that has none of these, ignoring letter case. None for a path, and for a URL that has one of them.
pub fn refused_scheme(text: &str, schemes: &[String]) -> Option<String> {
    url_scheme(text).filter(|scheme| !schemes.iter().any(|permitted| permitted.eq_ignore_ascii_case(scheme)))
}

/// Decodes each `%XX` into a byte. Invalid UTF-8 in the result becomes `\u{fffd}`.
pub fn percent_decode(text: &str) -> String {
    percent_encoding::percent_decode_str(text).decode_utf8_lossy().into_owned()
}

/// Whether the URL is `user@host…`, with or without `ssh://` (Argo CD's `IsSSHURL`).
fn is_ssh(url: &str) -> bool {
    let Some((user, host)) = url.strip_prefix("ssh://").unwrap_or(url).rsplit_once('@') else { return false };
    !host.is_empty() && !user.contains(['/', ':'])
}

#[cfg(test)]
mod tests;

/// A URL as Go reads and prints it.
struct GoUrl {
    scheme: String,
    host: String,
    printed: String,
}

/// Parses a URL with Go's rules, on which Argo CD's comparison of repository URLs is based. None if Go rejects it.
fn parse_as_go(text: &str) -> Option<GoUrl> {
    let url = Url::parse(text.as_bytes()).ok()?;
    let [scheme, host, printed] =
        [&url.scheme, &url.host, &url.print()].map(|part| String::from_utf8_lossy(part).into_owned());
    Some(GoUrl { scheme, host, printed })
}
