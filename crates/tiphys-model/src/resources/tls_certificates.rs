//! The ConfigMap `argocd-tls-certs-cm`: CA certificates of servers.

use std::collections::BTreeMap;

use tiphys_yaml::{DecodeError, Node, Object};

/// The CA certificates of one `argocd-tls-certs-cm`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TlsCertificates {
    /// Namespace of the ConfigMap; `None` if the document does not set one.
    pub namespace: Option<String>,
    /// CA certificates in PEM format by server name without port. Empty ones are omitted.
    pub by_server: BTreeMap<String, String>,
}

impl TlsCertificates {
    /// Decodes the ConfigMap. Errors name the field that has the wrong type.
    pub fn decode(node: &Node) -> Result<Self, DecodeError> {
        let mut object = Object::new(node, "")?;
        let data = object.text_map("data")?.unwrap_or_default();
        let namespace = node.at(["metadata", "namespace"]).and_then(Node::as_str);
        Ok(Self {
            namespace: namespace.filter(|namespace| !namespace.is_empty()).map(str::to_owned),
            by_server: data.into_iter().filter(|(_, pem)| !pem.trim().is_empty()).collect(),
        })
    }
}
