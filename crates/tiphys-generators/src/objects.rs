//! `ConfigMaps` and Secrets that sets name, and which server may receive them.

use std::collections::BTreeMap;

use tiphys_model::access::Secret;

/// Finds `ConfigMaps` and Secrets when a set names them.
pub trait ConfigObjects: Send + Sync {
    /// Returns a `ConfigMap`; none if it does not exist. The error names an invalid document.
    fn config_map(&self, namespace: &str, name: &str) -> Result<Option<ConfigObject>, String>;

    /// Returns a Secret; none if it does not exist. The error names an invalid document.
    fn secret(&self, namespace: &str, name: &str) -> Result<Option<ConfigObject>, String>;
}

/// The data of a `ConfigMap` or Secret. Values of a Secret are decoded.
#[derive(Clone, Debug)]
pub struct ConfigObject {
    /// Values by key. Values that are not UTF-8 are missing.
    pub data: BTreeMap<String, Secret>,
    /// Value of its label `argocd.argoproj.io/secret-type`; empty without it.
    pub secret_type: String,
    /// Who wrote the object.
    pub origin: ObjectOrigin,
    /// `Secret argocd/token (secrets.yaml:3)`, for messages.
    pub name: String,
}

/// Who wrote a document, from the least to the most trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ObjectOrigin {
    /// A rendered repository, for instance the checkout of a pull request.
    Repository,
    /// The caller.
    Caller,
}

/// An address, and the document that has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recipient {
    /// Who wrote the address. A built-in address is the caller's.
    pub origin: ObjectOrigin,
    /// The document, as [`ConfigObject::name`].
    pub name: String,
}

/// The address comes from a document with less trust than the Secret.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{object} is not sent to the address of {recipient}, which is in a rendered repository; take both from the same place"
)]
pub struct RecipientError {
    object: String,
    recipient: String,
}

impl Recipient {
    /// Checks that an object may be sent to this address: its author has at least as much trust.
    pub fn check(&self, object: &ConfigObject) -> Result<(), RecipientError> {
        if self.origin >= object.origin {
            return Ok(());
        }
        Err(RecipientError { object: object.name.clone(), recipient: self.name.clone() })
    }
}

#[cfg(test)]
mod tests;
