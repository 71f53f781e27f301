//! Which repository's settings are for which address, as Argo CD decides it for one pair (`util/db/repository_secrets.go`,
//! `util/db/repository.go` and, for dependencies, `getHelmRepos` of its `reposerver/repository/repository.go`; `spec/helm-parity.md` 2.3).
//! [`crate::KnownRepositories`] chooses among several.

use std::collections::BTreeMap;

use crate::url::is_ssh;
use crate::{Secret, normalize_git_url, percent_decode};

/// Scheme of registries.
const OCI: &str = "oci://";

/// The kinds of repositories that Argo CD knows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RepositoryKind {
    /// git.
    #[default]
    Git,
    /// A Helm repository, or a registry of charts.
    Helm,
    /// A registry.
    Oci,
}

/// How a repository is reached, or all whose address begins alike. Texts are as the repository Secret has them; empty ones are not set.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RepositoryAccess {
    /// Its address; of a template the beginning of addresses.
    pub url: String,
    /// Its name, by which charts may refer to it (`@name`, `alias:name`).
    pub name: String,
    /// The only project whose applications may use it; empty: all may.
    pub project: String,
    /// Its kind.
    pub kind: RepositoryKind,
    /// The user.
    pub username: String,
    /// The password or token.
    pub password: Secret,
    /// A bearer token. Only git has it: no plugin is told of it.
    pub bearer_token: Secret,
    /// An SSH private key, in the text form that `ssh -i` reads. Only git has it: no plugin is told of it.
    pub ssh_private_key: Secret,
    /// Whether a Helm repository is a registry.
    pub enable_oci: bool,
    /// Whether the server need not prove who it is.
    pub insecure: bool,
    /// Whether a registry is spoken to without TLS.
    pub insecure_oci_force_http: bool,
    /// Certificates of authorities to trust, in PEM.
    pub ca_data: String,
    /// A client certificate, in PEM.
    pub tls_client_cert_data: String,
    /// The key of the client certificate, in PEM.
    pub tls_client_cert_key: Secret,
    /// The proxy's address, which may hold a password.
    pub proxy: Secret,
    /// Hosts for which the proxy is not used.
    pub no_proxy: String,
}

/// Who gets the user and password of a Helm repository.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CredentialReach {
    /// The repository's server, and no other.
    #[default]
    OwnServer,
    /// Whatever server its index names for a chart (`passCredentials`).
    EveryServer,
}

/// Which repositories of this machine (`file://`) may be named.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FileRepositories {
    /// Those that the caller allowed.
    #[default]
    Allowed,
    /// Any.
    Any,
}

impl RepositoryAccess {
    /// Whether this is a registry.
    pub fn is_registry(&self) -> bool {
        self.kind == RepositoryKind::Oci || self.enable_oci
    }

    /// Whether charts come from it: a Helm repository or a registry.
    pub fn has_charts(&self) -> bool {
        self.kind == RepositoryKind::Helm || self.is_registry()
    }

    /// Whether an application of a project may use it: it is everybody's, or the project's own.
    pub fn is_for(&self, project: &str) -> bool {
        self.project.is_empty() || self.project == project
    }

    /// Whether it has credentials of its own (`Repository.HasCredentials`): only one that has none takes those of a template.
    pub fn has_credentials(&self) -> bool {
        let [username, password, bearer_token, ssh_private_key, certificate, _key] = self.login();
        [username, password, bearer_token, ssh_private_key, certificate].iter().any(|text| !text.is_empty())
    }

    /// Whether it has credentials, and the same as another one.
    pub fn has_login_of(&self, other: &Self) -> bool {
        self.has_credentials() && self.login() == other.login()
    }

    /// All that says who asks: what one login has fetched is not for who has another one, or none.
    pub fn login(&self) -> [&str; 6] {
        [
            &self.username,
            self.password.expose(),
            self.bearer_token.expose(),
            self.ssh_private_key.expose(),
            &self.tls_client_cert_data,
            self.tls_client_cert_key.expose(),
        ]
    }

    /// Whether it has a user and a password: a registry is opened by both, and by nothing else of it.
    pub fn has_password(&self) -> bool {
        !self.username.is_empty() && !self.password.is_empty()
    }

    /// Whether others than the server itself may read what is sent with these settings: the server need not prove who it is, or a proxy
    /// stands in between.
    pub(crate) fn is_open_to_others(&self) -> bool {
        self.insecure || self.insecure_oci_force_http || !self.proxy.is_empty()
    }

    /// Whether these are the settings of the repository at this address, with or without the scheme of registries (`git.SameURL`). Other
    /// than in Argo CD a slash at the end is nothing: helm takes both for one repository.
    pub fn is_at(&self, address: &str) -> bool {
        let own = comparable(&self.url);
        !own.is_empty() && own == comparable(address)
    }

    /// Whether this is a registry that is a part of another one, or that the other one is a part of.
    pub(crate) fn is_around(&self, address: &str) -> bool {
        let (url, address) = (comparable(&self.url), comparable(address));
        self.is_registry() && (begins_with(&address, &url) || begins_with(&url, &address))
    }

    /// How much of an address this template's address is the beginning of, in bytes; `None` for a template that is not for it.
    ///
    /// A template of the kind `oci` is written with the scheme of registries, others are compared as they are written: one of the kind
    /// `helm` for a registry has no scheme.
    fn beginning_of(&self, address: &str) -> Option<usize> {
        server_name(&self.url)?;
        if climbs(address) {
            return None;
        }
        let [url, address] = [self.url.as_str(), address].map(|text| match self.kind {
            RepositoryKind::Oci => normalized(&with_scheme(text)),
            RepositoryKind::Git | RepositoryKind::Helm => normalized(text),
        });
        begins_with(&address, &url).then_some(url.len())
    }

    /// The template whose address is the longest beginning of an address; of equal ones the first (`getRepositoryCredentialIndex`).
    ///
    /// A template with a project is for that project alone. Argo CD does not read the field there; who writes it means it.
    pub(crate) fn template_of<'a>(templates: &'a [Self], project: &str, address: &str) -> Option<&'a Self> {
        let mut found: Option<(usize, &Self)> = None;
        for template in templates.iter().filter(|one| one.is_for(project)) {
            if let Some(length) = template.beginning_of(address)
                && found.is_none_or(|(longest, _)| length > longest)
            {
                found = Some((length, template));
            }
        }
        found.map(|(_, template)| template)
    }

    /// With what a template has (`enrichCredsToRepo`, `CopyCredentialsFrom`), if there are no credentials: texts that are not set, and how
    /// a registry is spoken to. Whether the server must prove who it is a template does not say.
    pub(crate) fn completed(mut self, template: Option<&Self>) -> Self {
        if let Some(template) = template.filter(|_| !self.has_credentials()) {
            self.take_credentials(template);
            self.enable_oci = template.enable_oci;
            self.insecure_oci_force_http = template.insecure_oci_force_http;
        }
        self
    }

    /// What a registry gives to one that nobody knows: user and password, and how it is spoken to. Argo CD takes no more of it
    /// (`getHelmRepos`).
    pub(crate) fn lent(self) -> Self {
        Self {
            username: self.username,
            password: self.password,
            enable_oci: true,
            insecure_oci_force_http: self.insecure_oci_force_http,
            ..Self::default()
        }
    }

    /// Takes what is not set here.
    pub(crate) fn take_credentials(&mut self, other: &Self) {
        let texts = [
            (&mut self.username, &other.username),
            (&mut self.tls_client_cert_data, &other.tls_client_cert_data),
            (&mut self.ca_data, &other.ca_data),
            (&mut self.no_proxy, &other.no_proxy),
        ];
        for (own, other) in texts.into_iter().filter(|(own, _)| own.is_empty()) {
            own.clone_from(other);
        }
        let secrets = [
            (&mut self.password, &other.password),
            (&mut self.bearer_token, &other.bearer_token),
            (&mut self.ssh_private_key, &other.ssh_private_key),
            (&mut self.tls_client_cert_key, &other.tls_client_cert_key),
            (&mut self.proxy, &other.proxy),
        ];
        for (own, other) in secrets.into_iter().filter(|(own, _)| own.is_empty()) {
            own.clone_from(other);
        }
    }
}

/// The name of an address' server as certificates have it: without scheme, user and port; `None` if there is none.
pub fn server_name(address: &str) -> Option<&str> {
    let address = address.trim();
    let rest = address.split_once("://").map_or(address, |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#']).next()?;
    let server = authority.rsplit_once('@').map_or(authority, |(_, server)| server);
    let name = match server.strip_prefix('[') {
        Some(rest) => rest.split(']').next()?,
        None => server.split(':').next()?,
    };
    Some(name).filter(|name| !name.is_empty())
}

/// The authorities of an address' server among those by its name; the port does not count, and no name stands for several (Argo CD's
/// `getCAPath`).
pub fn certificates_of<'a>(by_server: &'a BTreeMap<String, String>, address: &str) -> Option<&'a str> {
    by_server.get(server_name(address)?).map(String::as_str)
}

/// An address without the scheme of registries.
pub fn without_oci(url: &str) -> &str {
    url.strip_prefix(OCI).unwrap_or(url)
}

/// Whether two addresses are written alike; a slash at the end is nothing.
pub fn same_address(one: &str, other: &str) -> bool {
    one.trim_end_matches('/') == other.trim_end_matches('/')
}

/// Whether an address is a registry's: it has that scheme, or none.
pub(crate) fn is_of_registry(address: &str) -> bool {
    address.starts_with(OCI) || !address.contains("://")
}

/// What is compared of an address: all in small letters, without the scheme of registries, `.git` and a slash at the end.
fn comparable(address: &str) -> String {
    let address = address.trim();
    if address.is_empty() {
        return String::new();
    }
    without_oci(&normalized(&with_scheme(address))).trim_end_matches('/').to_owned()
}

/// An address with a scheme: one without is a registry's, or a git repository's over SSH, which stays as it is.
fn with_scheme(address: &str) -> String {
    if address.contains("://") || is_ssh(address) { address.to_owned() } else { [OCI, address].concat() }
}

/// An address as Argo CD compares it; as it is where it is none (`NormalizeGitURLAllowInvalid`).
fn normalized(address: &str) -> String {
    Some(normalize_git_url(address)).filter(|text| !text.is_empty()).unwrap_or_else(|| address.to_owned())
}

/// Whether an address has a part `..`, as a server may read it: its beginning then does not tell where it leads.
fn climbs(address: &str) -> bool {
    percent_decode(address).split(['/', '\\']).any(|part| part == "..")
}

/// Whether an address begins with another. A host is compared as a whole, so that credentials for `https://example.com` do not go to
/// `https://example.com.evil.org`; Argo CD would send them.
fn begins_with(address: &str, beginning: &str) -> bool {
    let Some(rest) = address.strip_prefix(beginning) else { return false };
    let behind_scheme = beginning.split_once("://").map_or(beginning, |(_, rest)| rest);
    let is_within_path = behind_scheme.contains('/');
    !behind_scheme.is_empty() && (is_within_path || rest.is_empty() || rest.starts_with('/'))
}

#[cfg(test)]
mod tests;
