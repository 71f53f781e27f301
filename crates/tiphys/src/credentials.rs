//! Repository Secrets of a store as credentials for git.

use tiphys_source::{ClientCertificate, CredentialScope, Login, RepositoryCredential, Secret, ServerCheck};
use tiphys_store::{RepositorySecret, SecretType};

/// The credentials that a Secret holds for git repositories; `None` for Secrets of other kinds, for other repository types and for
/// those without a URL.
pub(crate) fn of_secret(secret: &RepositorySecret) -> Option<RepositoryCredential> {
    let text = |key: &str| {
        let value = secret.values.get(key)?;
        std::str::from_utf8(value.expose()).ok().filter(|text| !text.is_empty()).map(str::to_owned)
    };
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
    let insecure = text("insecure").as_deref() == Some("true");
    let server = if insecure { ServerCheck::Skipped } else { ServerCheck::Verified };
    Some(RepositoryCredential { scope, login, client_certificate, server, proxy: text("proxy") })
}
