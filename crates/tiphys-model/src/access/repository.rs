//! Connection settings of a repository, and whether they apply to an address. The rules are Argo CD's: `util/db/repository_secrets.go`,
//! `util/db/repository.go` and, for dependencies, `getHelmRepos` in `reposerver/repository/repository.go`. [`crate::access::KnownRepositories`]
//! chooses among several.

use std::collections::BTreeMap;

use strum::{EnumString, IntoStaticStr, VariantNames};

use crate::access::{RepoUrl, Secret, percent_decode};

/// A repository type of Argo CD.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, EnumString, IntoStaticStr, VariantNames)]
#[strum(serialize_all = "lowercase")]
pub enum RepositoryKind {
    /// A git repository.
    #[default]
    Git,
    /// A Helm repository, or an OCI registry with charts.
    Helm,
    /// An OCI registry.
    Oci,
}

/// Connection settings of a repository, or of all with a URL prefix (a credential template). Values are as in the Secret; empty means not
/// set.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct RepositoryAccess {
    /// The repository's address; for a template, a prefix of addresses.
    pub url: String,
    /// The name by which charts refer to it (`@name`, `alias:name`).
    pub name: String,
    /// The only project whose applications may use it. Empty if all projects may.
    pub project: String,
    /// The repository type.
    pub kind: RepositoryKind,
    /// The user name.
    pub username: String,
    /// The password or token.
    pub password: Secret,
    /// A bearer token. Only git uses it, so it is not passed to plugins.
    pub bearer_token: Secret,
    /// An SSH private key, in the text format that `ssh -i` reads. Only git uses it, so it is not passed to plugins.
    pub ssh_private_key: Secret,
    /// Whether a Helm repository is an OCI registry.
    pub enable_oci: bool,
    /// Whether the server's TLS certificate or SSH host key is not verified.
    pub insecure: bool,
    /// Whether a registry is accessed over plain HTTP.
    pub insecure_oci_force_http: bool,
    /// CA certificates to trust, in PEM format.
    pub ca_data: String,
    /// A client certificate, in PEM format.
    pub tls_client_cert_data: String,
    /// The key of the client certificate, in PEM format.
    pub tls_client_cert_key: Secret,
    /// The proxy's URL, which may contain a password.
    pub proxy: Secret,
    /// Hosts that are reached without the proxy.
    pub no_proxy: String,
}

/// Servers to which the credentials of a Helm repository are sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum CredentialReach {
    /// Only the repository's server.
    #[default]
    OwnServer,
    /// Every server that the repository's index names for a chart (`passCredentials`).
    EveryServer,
}

/// Which local repositories (`file://`) may be used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum FileRepositories {
    /// Only those that the caller allows.
    #[default]
    Allowed,
    /// All.
    Any,
}

impl RepositoryAccess {
    /// Whether this is an OCI registry.
    pub fn is_registry(&self) -> bool {
        self.kind == RepositoryKind::Oci || self.enable_oci
    }

    /// Whether this is a Helm repository or an OCI registry.
    pub fn has_charts(&self) -> bool {
        self.kind == RepositoryKind::Helm || self.is_registry()
    }

    /// Whether an application of a project may use it: it is global or belongs to this project.
    pub fn is_for(&self, project: &str) -> bool {
        self.project.is_empty() || self.project == project
    }

    /// Whether it has its own credentials (Argo CD's `Repository.HasCredentials`). Only a repository without any takes those of a template.
    pub fn has_credentials(&self) -> bool {
        let [username, password, bearer_token, ssh_private_key, certificate, _key] = self.login();
        [username, password, bearer_token, ssh_private_key, certificate].iter().any(|text| !text.is_empty())
    }

    /// Whether it has credentials and they equal those of another repository.
    pub fn has_login_of(&self, other: &Self) -> bool {
        self.has_credentials() && self.login() == other.login()
    }

    /// Returns all credential fields, for cache keys: content fetched with one set of credentials must not be served to another.
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

    /// Whether it has a user name and a password. A registry accepts only both together; other credentials are not used for registries.
    pub fn has_password(&self) -> bool {
        !self.username.is_empty() && !self.password.is_empty()
    }

    /// Returns the setting because of which a third party could read what is sent, for messages: the server is not verified, TLS is not used,
    /// or a proxy is set.
    pub fn exposing_setting(&self) -> Option<&'static str> {
        let settings = [
            (self.insecure, "`insecure`"),
            (!self.proxy.is_empty(), "a proxy"),
            (self.insecure_oci_force_http, "`insecureOCIForceHttp`"),
        ];
        settings.into_iter().find(|(is_set, _)| *is_set).map(|(_, name)| name)
    }

    /// Whether these settings belong to the repository at this address, with or without `oci://` (Argo CD's `git.SameURL`). Unlike Argo CD,
    /// this ignores a trailing slash, because Helm does.
    pub fn is_at(&self, address: &str) -> bool {
        let own = RepoUrl::new(&self.url).comparable();
        !own.is_empty() && own == RepoUrl::new(address).comparable()
    }

    /// Whether this is a registry and one of the two addresses is a prefix of the other.
    pub(crate) fn overlaps(&self, address: &str) -> bool {
        let [url, address] = [&self.url, address].map(|address| RepoUrl::new(address).comparable());
        self.is_registry() && (has_prefix(&address, &url) || has_prefix(&url, &address))
    }

    /// Returns the length in bytes of this template's normalized URL if it is a prefix of the address. None if the template does not apply.
    ///
    /// For kind `oci`, a missing `oci://` is added to both. Other kinds are compared as written: a `helm` template for a registry has no
    /// scheme.
    fn prefix_length(&self, address: &str) -> Option<usize> {
        let own = RepoUrl::new(&self.url);
        own.server_name()?;
        if has_parent_segment(address) {
            return None;
        }
        let [url, address] = [own, RepoUrl::new(address)].map(|url| match self.kind {
            RepositoryKind::Oci => url.with_scheme().normalized(),
            RepositoryKind::Git | RepositoryKind::Helm => url.normalized(),
        });
        has_prefix(&address, &url).then_some(url.len())
    }

    /// Returns the template with the longest prefix of an address; the first of equal ones (Argo CD's `getRepositoryCredentialIndex`).
    ///
    /// A template with a project applies only to that project. Argo CD ignores the field in templates, but users who set it expect this.
    pub(crate) fn template_of<'a>(templates: &'a [Self], project: &str, address: &str) -> Option<&'a Self> {
        let mut found: Option<(usize, &Self)> = None;
        for template in templates.iter().filter(|one| one.is_for(project)) {
            if let Some(length) = template.prefix_length(address)
                && found.is_none_or(|(longest, _)| length > longest)
            {
                found = Some((length, template));
            }
        }
        found.map(|(_, template)| template)
    }

    /// Adds a template's settings if there are no credentials (Argo CD's `enrichCredsToRepo`, `CopyCredentialsFrom`): unset fields,
    /// `enable_oci` and plain HTTP. A template does not change `insecure`.
    pub(crate) fn completed(mut self, template: Option<&Self>) -> Self {
        if let Some(template) = template.filter(|_| !self.has_credentials()) {
            self.take_credentials(template);
            self.enable_oci = template.enable_oci;
            self.insecure_oci_force_http = template.insecure_oci_force_http;
        }
        self
    }

    /// Returns what an unknown registry inherits from this one: user name, password and plain HTTP. Argo CD copies no other field
    /// (`getHelmRepos`).
    pub(crate) fn shared(self) -> Self {
        Self {
            username: self.username,
            password: self.password,
            enable_oci: true,
            insecure_oci_force_http: self.insecure_oci_force_http,
            ..Self::default()
        }
    }

    /// Fills unset credential, certificate and proxy fields from another repository.
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

/// Returns the CA certificates for the server of an address. The port is ignored, and wildcards are not supported (Argo CD's `getCAPath`).
pub fn certificates_of<'a>(by_server: &'a BTreeMap<String, String>, address: &str) -> Option<&'a str> {
    by_server.get(RepoUrl::new(address).server_name()?).map(String::as_str)
}

/// Whether two addresses are equal except for trailing slashes.
pub fn same_address(one: &str, other: &str) -> bool {
    one.trim_end_matches('/') == other.trim_end_matches('/')
}

/// Whether an address has a segment `..` after percent-decoding. The prefix of such an address does not identify the repository.
fn has_parent_segment(address: &str) -> bool {
    percent_decode(address).split(['/', '\\']).any(|part| part == "..")
}

/// Whether an address has a prefix. The host is compared as a whole, so that credentials for `https://example.com` are not sent to
/// `https://example.com.evil.org`; Argo CD sends them.
fn has_prefix(address: &str, prefix: &str) -> bool {
    let Some(rest) = address.strip_prefix(prefix) else { return false };
    let prefix = RepoUrl::new(prefix);
    let after_scheme = prefix.without_scheme();
    let is_within_path = after_scheme.contains('/');
    !after_scheme.is_empty() && (is_within_path || rest.is_empty() || rest.starts_with('/'))
}

#[cfg(test)]
mod tests;
