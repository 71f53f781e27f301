//! Repository Secrets of a store as what is known of repositories.

use tiphys_params::context::{KnownRepositories, RepositoryAccess, RepositoryKind, Secret};
use tiphys_store::{RepositorySecret, SecretType};

use crate::go_values::boolean;

/// What Secrets say of repositories. Argo CD's other Secrets are for other things.
pub(crate) fn known_repositories(secrets: &[&RepositorySecret]) -> KnownRepositories {
    let accesses = |wanted| {
        let found = secrets.iter().filter(|secret| secret.secret_type == wanted);
        found.filter_map(|secret| access_of_secret(secret)).collect()
    };
    KnownRepositories {
        repositories: accesses(SecretType::Repository),
        templates: accesses(SecretType::RepositoryCredentials),
        ..KnownRepositories::default()
    }
}

/// How the repository that a Secret is about is reached; `None` for those without a URL. Argo CD takes a kind that it does not know for git.
fn access_of_secret(secret: &RepositorySecret) -> Option<RepositoryAccess> {
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
        bearer_token: Secret::new(text("bearerToken")),
        ssh_private_key: Secret::new(text("sshPrivateKey")),
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

#[cfg(test)]
mod tests;
