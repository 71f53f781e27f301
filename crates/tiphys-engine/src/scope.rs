//! Which kinds are namespaced.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use tiphys_model::params::Warning;

use crate::{Manifest, ServedKinds};

/// The scope of a kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// Cluster-scoped.
    Cluster,
    /// Namespaced.
    Namespaced,
    /// Unknown: neither a kind of Kubernetes or Argo CD nor defined in the same output.
    Unknown,
}

/// The known scopes without a cluster: kinds of Kubernetes and Argo CD, and kinds that the output defines.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scopes {
    defined: BTreeMap<(String, String), Scope>,
}

/// API groups of Kubernetes whose names do not end in `.k8s.io`.
const SHORT_GROUPS: [&str; 6] = ["", "apps", "autoscaling", "batch", "extensions", "policy"];

/// Other API groups of Kubernetes without cluster-scoped kinds.
const NAMESPACED_GROUPS: [&str; 4] =
    ["coordination.k8s.io", "discovery.k8s.io", "events.k8s.io", "settings.k8s.io"];

/// Cluster-scoped kinds of Kubernetes since 1.16, including removed ones. All other kinds of its groups are namespaced.
const CLUSTER_SCOPED: [(&str, &str); 44] = [
    ("", "ComponentStatus"),
    ("", "Namespace"),
    ("", "Node"),
    ("", "PersistentVolume"),
    ("admissionregistration.k8s.io", "MutatingAdmissionPolicy"),
    ("admissionregistration.k8s.io", "MutatingAdmissionPolicyBinding"),
    ("admissionregistration.k8s.io", "MutatingWebhookConfiguration"),
    ("admissionregistration.k8s.io", "ValidatingAdmissionPolicy"),
    ("admissionregistration.k8s.io", "ValidatingAdmissionPolicyBinding"),
    ("admissionregistration.k8s.io", "ValidatingWebhookConfiguration"),
    ("apiextensions.k8s.io", "CustomResourceDefinition"),
    ("apiregistration.k8s.io", "APIService"),
    ("auditregistration.k8s.io", "AuditSink"),
    ("authentication.k8s.io", "SelfSubjectReview"),
    ("authentication.k8s.io", "TokenReview"),
    ("authorization.k8s.io", "SelfSubjectAccessReview"),
    ("authorization.k8s.io", "SelfSubjectRulesReview"),
    ("authorization.k8s.io", "SubjectAccessReview"),
    ("certificates.k8s.io", "CertificateSigningRequest"),
    ("certificates.k8s.io", "ClusterTrustBundle"),
    ("extensions", "PodSecurityPolicy"),
    ("flowcontrol.apiserver.k8s.io", "FlowSchema"),
    ("flowcontrol.apiserver.k8s.io", "PriorityLevelConfiguration"),
    ("internal.apiserver.k8s.io", "StorageVersion"),
    ("networking.k8s.io", "ClusterCIDR"),
    ("networking.k8s.io", "IPAddress"),
    ("networking.k8s.io", "IngressClass"),
    ("networking.k8s.io", "ServiceCIDR"),
    ("node.k8s.io", "RuntimeClass"),
    ("policy", "PodSecurityPolicy"),
    ("rbac.authorization.k8s.io", "ClusterRole"),
    ("rbac.authorization.k8s.io", "ClusterRoleBinding"),
    ("resource.k8s.io", "DeviceClass"),
    ("resource.k8s.io", "DeviceTaintRule"),
    ("resource.k8s.io", "ResourceClass"),
    ("resource.k8s.io", "ResourcePoolStatusRequest"),
    ("resource.k8s.io", "ResourceSlice"),
    ("scheduling.k8s.io", "PriorityClass"),
    ("storage.k8s.io", "CSIDriver"),
    ("storage.k8s.io", "CSINode"),
    ("storage.k8s.io", "StorageClass"),
    ("storage.k8s.io", "VolumeAttachment"),
    ("storage.k8s.io", "VolumeAttributesClass"),
    ("storagemigration.k8s.io", "StorageVersionMigration"),
];

/// Argo CD's own kinds, all namespaced. Other kinds of their group belong to Argo Workflows, Events and Rollouts.
const ARGO_CD_KINDS: [(&str, &str); 3] =
    [("argoproj.io", "Application"), ("argoproj.io", "ApplicationSet"), ("argoproj.io", "AppProject")];

impl Scopes {
    /// Returns the scopes with the custom resource definitions among these objects.
    pub fn of<'a>(manifests: impl IntoIterator<Item = &'a Manifest>) -> Self {
        let definition = |manifest: &Manifest| {
            let spec = manifest.object().get("spec")?;
            let text = |value: Option<&Value>| value.and_then(Value::as_str).map(str::to_owned);
            let key = (text(spec.get("group"))?, text(spec.get("names")?.get("kind"))?);
            match spec.get("scope")?.as_str()? {
                "Cluster" => Some((key, Scope::Cluster)),
                "Namespaced" => Some((key, Scope::Namespaced)),
                _ => None,
            }
        };
        Self {
            defined: manifests
                .into_iter()
                .filter(|manifest| manifest.is_crd())
                .filter_map(definition)
                .collect(),
        }
    }

    /// Adds the scopes of the kinds that a cluster serves. Definitions among the objects come first.
    #[must_use]
    pub fn with_served(mut self, kinds: &ServedKinds) -> Self {
        for kind in kinds.iter().filter(|kind| kind.scope != Scope::Unknown) {
            self.defined.entry((kind.group.clone(), kind.kind.clone())).or_insert(kind.scope);
        }
        self
    }

    /// Returns the scope of a kind.
    pub fn scope(&self, group: &str, kind: &str) -> Scope {
        if CLUSTER_SCOPED.contains(&(group, kind)) {
            return Scope::Cluster;
        }
        if let Some(scope) = self.defined.get(&(group.to_owned(), kind.to_owned())) {
            return *scope;
        }
        if is_kubernetes_group(group) || ARGO_CD_KINDS.contains(&(group, kind)) {
            Scope::Namespaced
        } else {
            Scope::Unknown
        }
    }
}

/// Returns whether Kubernetes itself defines the kinds of a group. Groups without a dot and `*.k8s.io` are reserved for it, but extensions
/// use the latter too (Gateway API, `VolumeSnapshot`).
pub(crate) fn is_kubernetes_group(group: &str) -> bool {
    SHORT_GROUPS.contains(&group)
        || CLUSTER_SCOPED.iter().any(|(known, _)| *known == group)
        || NAMESPACED_GROUPS.contains(&group)
}

/// Sets the namespace of namespaced objects that have none. Kinds of unknown scope are treated as namespaced, because most are; one warning
/// lists them. List items without a kind do not change.
pub fn set_namespace(manifests: &mut [Manifest], namespace: &str, scopes: &Scopes) -> Vec<Warning> {
    let mut unknown = BTreeSet::new();
    for manifest in manifests.iter_mut().filter(|manifest| manifest.namespace().is_empty()) {
        let (group, kind) = manifest.group_kind();
        if kind.is_empty() {
            continue;
        }
        match scopes.scope(group, kind) {
            Scope::Cluster => continue,
            Scope::Namespaced => {}
            Scope::Unknown => {
                unknown.insert(format!("{kind}.{group}"));
            }
        }
        manifest.set_namespace(namespace);
    }
    if unknown.is_empty() {
        return Vec::new();
    }
    let kinds: Vec<String> = unknown.into_iter().collect();
    vec![Warning {
        message: format!(
            "the scope of these kinds is unknown, so the namespace was set: {}; add their CustomResourceDefinitions to the manifests",
            kinds.join(", ")
        ),
        position: None,
    }]
}

#[cfg(test)]
mod tests;
