//! The Secrets that Argo CD reads: repositories, credential templates, clusters.

use std::collections::BTreeMap;
use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use tiphys_api::Metadata;
use tiphys_yaml::{DecodeError, Node, Object};

use crate::Place;
use crate::document::SECRET_TYPE_LABEL;
use crate::store::BrokenReason;

/// What a Secret is to Argo CD, by its label.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SecretType {
    /// A repository.
    Repository,
    /// Credentials for all repositories below a URL.
    RepositoryCredentials,
    /// A repository to write to.
    RepositoryWrite,
    /// Credentials for all repositories below a URL, to write to them.
    RepositoryWriteCredentials,
    /// A cluster.
    Cluster,
    /// Another word.
    Other(String),
}

/// A value that has no way to print itself.
#[derive(Clone, PartialEq, Eq)]
pub struct SecretText(Vec<u8>);

/// A Secret that Argo CD reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RepositorySecret {
    /// Name, namespace, labels, annotations.
    pub metadata: Metadata,
    /// What it is.
    pub secret_type: SecretType,
    /// Its values, by key; `stringData` wins over `data`.
    pub values: BTreeMap<String, SecretText>,
    /// Where it stands.
    pub place: Place,
}

impl SecretText {
    /// The bytes, for the one place that hands them on.
    pub fn expose(&self) -> &[u8] {
        &self.0
    }
}

impl fmt::Debug for SecretText {
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

impl RepositorySecret {
    /// Reads a Secret. Errors name the key and never its value.
    pub(crate) fn read(node: &Node, place: Place) -> Result<Self, BrokenReason> {
        let metadata = Metadata::of(node).map_err(BrokenReason::Resource)?;
        let secret_type =
            SecretType::of(metadata.labels.get(SECRET_TYPE_LABEL).map(String::as_str).unwrap_or_default());
        let mut object = Object::new(node, "")?;
        let mut values = BTreeMap::new();
        for (key, text) in object.text_map("data")?.unwrap_or_default() {
            let value = base64_value(&text).ok_or_else(|| DecodeError {
                position: node.at(["data", &key]).map_or(node.position, |value| value.position),
                path: format!("data.{key}"),
                message: "expected base64; a plain text belongs into `stringData`".to_owned(),
            })?;
            values.insert(key, SecretText(value));
        }
        for (key, text) in object.text_map("stringData")?.unwrap_or_default() {
            values.insert(key, SecretText(text.into_bytes()));
        }
        Ok(Self { metadata, secret_type, values, place })
    }
}

/// The bytes that a value of `data` stands for. `kubectl` and editors wrap long values; Kubernetes takes the line breaks too.
pub(crate) fn base64_value(text: &str) -> Option<Vec<u8>> {
    let compact: String = text.chars().filter(|c| !c.is_ascii_whitespace()).collect();
    STANDARD.decode(compact).ok()
}
