//! Repository Secrets of a store as credentials for git, and as what plugins are told of Helm repositories and registries.

use tiphys_params::context::{RepositoryAccess, RepositoryKind, Secret};
use tiphys_source::{ClientCertificate, CredentialScope, Login, RepositoryCredential, ServerCheck};
use tiphys_store::{RepositorySecret, SecretType};

use crate::go_values::boolean;

/// The credentials that a Secret holds for git repositories; `None` for Secrets of other kinds, for other repository types and for
/// those without a URL.
pub(crate) fn of_secret(secret: &RepositorySecret) -> Option<RepositoryCredential> {
    let text = |key: &str| text_of(secret, key);
    let url = text("url")?;
    let scope = match secret.secret_type {
        SecretType::Repository => CredentialScope::Repository(url),
        SecretType::RepositoryCredentials => CredentialScope::Prefix(url),
        _ => return None,
    };
    if text("type").is_some_and(|kind| kind != "git") {
        return None;
    }
    let login = if let Some(key) = text("sshPrivateKey") {
        Login::SshKey(Secret::new(key))
    } else if let Some(token) = text("bearerToken") {
        Login::Bearer(Secret::new(token))
    } else if let Some(password) = text("password") {
        Login::Basic { username: text("username").unwrap_or_default(), password: Secret::new(password) }
    } else {
        Login::None
    };
    let client_certificate = match (text("tlsClientCertData"), text("tlsClientCertKey")) {
        (Some(certificate), Some(key)) => Some(ClientCertificate { certificate, key: Secret::new(key) }),
        _ => None,
    };
    let insecure = text("insecure").as_deref().and_then(boolean) == Some(true);
    let server = if insecure { ServerCheck::Skipped } else { ServerCheck::Verified };
    Some(RepositoryCredential { scope, login, client_certificate, server, proxy: text("proxy") })
}

/// How the repository that a Secret is about is reached; `None` for those without a URL. Argo CD takes a kind that it does not know for git.
pub(crate) fn access_of_secret(secret: &RepositorySecret) -> Option<RepositoryAccess> {
    let text = |key: &str| text_of(secret, key).unwrap_or_default();
    let is_on = |key: &str| text_of(secret, key).is_some_and(|word| is_on(secret, key, &word));
    let kind = match text("type").as_str() {
        "helm" => RepositoryKind::Helm,
        "oci" => RepositoryKind::Oci,
        _ => RepositoryKind::Git,
    };
    Some(RepositoryAccess {
        url: text_of(secret, "url")?,
        name: text("name"),
        project: text("project"),
        kind,
        username: text("username"),
        password: Secret::new(text("password")),
        enable_oci: is_on("enableOCI"),
        insecure: is_on("insecure"),
        insecure_oci_force_http: is_on("insecureOCIForceHttp"),
        ca_data: String::new(),
        tls_client_cert_data: text("tlsClientCertData"),
        tls_client_cert_key: Secret::new(text("tlsClientCertKey")),
        proxy: Secret::new(text("proxy")),
        no_proxy: text("noProxy"),
    })
}

/// Whether a word switches something on. Argo CD refuses a Secret with a word that Go does not know.
fn is_on(secret: &RepositorySecret, key: &str, word: &str) -> bool {
    boolean(word).unwrap_or_else(|| {
        let RepositorySecret { metadata, place, .. } = secret;
        tracing::warn!(
            "Secret {} ({place}): {key} is neither true nor false, so Argo CD refuses the Secret; it is taken for false",
            metadata.name
        );
        false
    })
}

/// A value of a Secret, if it is there, not empty, and a text.
fn text_of(secret: &RepositorySecret, key: &str) -> Option<String> {
    let value = secret.values.get(key)?;
    std::str::from_utf8(value.expose()).ok().filter(|text| !text.is_empty()).map(str::to_owned)
}
