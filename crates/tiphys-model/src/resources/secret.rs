//! Argo CD's Secrets: repositories, credential templates, clusters.

use std::collections::BTreeMap;
use std::fmt;

use crate::access::{RepositoryAccess, RepositoryKind, Secret};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use tiphys_yaml::{DecodeError, Node, Object, read_json};

use crate::resources::{CLUSTER_CONFIG, Metadata, ResourceError, decode_fields};

/// Label of Argo CD's Secrets.
pub const SECRET_TYPE_LABEL: &str = "argocd.argoproj.io/secret-type";

/// The purpose of a Secret, by its label.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SecretType {
    /// A repository.
    Repository,
    /// Credentials for all repositories with a URL prefix.
    RepositoryCredentials,
    /// A repository with write access, for pushes of hydrated manifests.
    RepositoryWrite,
    /// Write credentials for all repositories with a URL prefix.
    RepositoryWriteCredentials,
    /// A cluster.
    Cluster,
    /// Another value of the label.
    Other(String),
}

/// A value of a Secret. `Debug` does not print it.
#[derive(Clone, PartialEq, Eq)]
pub struct SecretValue(Vec<u8>);

/// An Argo CD Secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArgoCdSecret {
    /// Name, namespace, labels, annotations.
    pub metadata: Metadata,
    /// The purpose.
    pub secret_type: SecretType,
    /// The values by key; `stringData` takes precedence over `data`.
    pub values: BTreeMap<String, SecretValue>,
}

/// An error in a Secret. It names the key and never quotes the value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SecretError {
    /// The metadata has a field of the wrong type.
    #[error(transparent)]
    Metadata(#[from] ResourceError),
    /// A field has the wrong type, or a value is not base64.
    #[error(transparent)]
    Field(#[from] DecodeError),
}

/// Connection settings from a repository Secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SecretAccess {
    /// The connection settings.
    pub access: RepositoryAccess,
    /// Keys with an invalid boolean. Argo CD rejects such a Secret; here the value is false.
    pub invalid_booleans: Vec<&'static str>,
}

impl SecretValue {
    /// Returns the plain bytes, for the place that sends or writes them.
    pub fn expose(&self) -> &[u8] {
        &self.0
    }
}

impl fmt::Debug for SecretValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

impl SecretType {
    fn of(label: &str) -> Self {
        match label {
            "repository" => Self::Repository,
            "repo-creds" => Self::RepositoryCredentials,
            "repository-write" => Self::RepositoryWrite,
            "repo-write-creds" => Self::RepositoryWriteCredentials,
            "cluster" => Self::Cluster,
            other => Self::Other(other.to_owned()),
        }
    }
}

impl ArgoCdSecret {
    /// Decodes a Secret.
    pub fn decode(node: &Node) -> Result<Self, SecretError> {
        let metadata = Metadata::of(node)?;
        let secret_type =
            SecretType::of(metadata.labels.get(SECRET_TYPE_LABEL).map(String::as_str).unwrap_or_default());
        let mut object = Object::new(node, "")?;
        let mut values = BTreeMap::new();
        for (key, text) in object.text_map("data")?.unwrap_or_default() {
            let value = decode_base64(&text).ok_or_else(|| DecodeError {
                position: node.at(["data", &key]).map_or(node.position, |value| value.position),
                path: format!("data.{key}"),
                message: "expected base64; put plain text into `stringData`".to_owned(),
            })?;
            values.insert(key, SecretValue(value));
        }
        for (key, text) in object.text_map("stringData")?.unwrap_or_default() {
            values.insert(key, SecretValue(text.into_bytes()));
        }
        Ok(Self { metadata, secret_type, values })
    }

    /// Returns the connection settings of a repository or credential template; `None` if the Secret has no URL. Argo CD treats an unknown
    /// `type` as git.
    pub fn repository_access(&self) -> Option<SecretAccess> {
        let text = |key: &str| self.text(key).unwrap_or_default();
        let mut invalid_booleans = Vec::new();
        let mut boolean = |key: &'static str| {
            let Some(value) = self.text(key) else { return false };
            parse_bool(&value).unwrap_or_else(|| {
                invalid_booleans.push(key);
                false
            })
        };
        let kind = match text("type").as_str() {
            "helm" => RepositoryKind::Helm,
            "oci" => RepositoryKind::Oci,
            _ => RepositoryKind::Git,
        };
        let access = RepositoryAccess {
            url: self.text("url")?,
            name: text("name"),
            project: text("project"),
            kind,
            username: text("username"),
            password: Secret::new(text("password")),
            bearer_token: Secret::new(text("bearerToken")),
            ssh_private_key: Secret::new(text("sshPrivateKey")),
            enable_oci: boolean("enableOCI"),
            insecure: boolean("insecure"),
            insecure_oci_force_http: boolean("insecureOCIForceHttp"),
            ca_data: String::new(),
            tls_client_cert_data: text("tlsClientCertData"),
            tls_client_cert_key: Secret::new(text("tlsClientCertKey")),
            proxy: Secret::new(text("proxy")),
            no_proxy: text("noProxy"),
        };
        Some(SecretAccess { access, invalid_booleans })
    }

    /// Returns why Argo CD cannot decode the `config` of a cluster, without its values. `None` if it can.
    pub fn cluster_config_problem(&self) -> Option<String> {
        const BASE64_FIELDS: [&str; 3] = ["certData", "keyData", "caData"];
        let config =
            self.values.get("config").map(SecretValue::expose).filter(|config| !config.is_empty())?;
        let Ok(node) = read_json(config) else { return Some("config: expected JSON".to_owned()) };
        let decoded = match decode_fields(&CLUSTER_CONFIG, &node) {
            Ok(decoded) => decoded.value,
            Err(error) => {
                let dot = if error.at.path.is_empty() { "" } else { "." };
                return Some(format!("config{dot}{}: {}", error.at.path, error.at.message));
            }
        };
        let tls = &decoded["tlsClientConfig"];
        let is_valid = |field: &str| tls[field].as_str().is_none_or(|text| decode_base64(text).is_some());
        let invalid = BASE64_FIELDS.into_iter().find(|field| !is_valid(field))?;
        Some(format!("config.tlsClientConfig.{invalid}: expected base64"))
    }

    /// Returns a non-empty UTF-8 value.
    fn text(&self, key: &str) -> Option<String> {
        let value = self.values.get(key)?;
        std::str::from_utf8(value.expose()).ok().filter(|text| !text.is_empty()).map(str::to_owned)
    }
}

/// Parses a boolean like Go's `strconv.ParseBool`.
pub fn parse_bool(text: &str) -> Option<bool> {
    match text {
        "1" | "t" | "T" | "true" | "TRUE" | "True" => Some(true),
        "0" | "f" | "F" | "false" | "FALSE" | "False" => Some(false),
        _ => None,
    }
}

/// Decodes a value of a Secret's `data`. Like Kubernetes, it accepts the line breaks that `kubectl` and editors insert into long values.
pub fn decode_base64(text: &str) -> Option<Vec<u8>> {
    let compact: String = text.chars().filter(|c| !c.is_ascii_whitespace()).collect();
    STANDARD.decode(compact).ok()
}

#[cfg(test)]
mod tests;
