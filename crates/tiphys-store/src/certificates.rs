//! The servers' own authorities that Argo CD trusts.

use std::collections::BTreeMap;

use tiphys_yaml::{Node, Object};

use crate::Place;
use crate::store::BrokenReason;

/// The certificates of one document, `argocd-tls-certs-cm`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StoredCertificates {
    pub(crate) namespace: Option<String>,
    /// PEM, by the server's name without a port.
    pub(crate) by_server: BTreeMap<String, String>,
    pub(crate) place: Place,
}

impl StoredCertificates {
    pub(crate) fn read(node: &Node, place: Place) -> Result<Self, BrokenReason> {
        let mut object = Object::new(node, "")?;
        let data = object.text_map("data")?.unwrap_or_default();
        let namespace = node.at(["metadata", "namespace"]).and_then(Node::as_str);
        Ok(Self {
            namespace: namespace.filter(|namespace| !namespace.is_empty()).map(str::to_owned),
            by_server: data.into_iter().filter(|(_, pem)| !pem.trim().is_empty()).collect(),
            place,
        })
    }
}
