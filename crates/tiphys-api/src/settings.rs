//! The ConfigMap `argocd-cm`: Argo CD's settings, as far as rendering depends on them.

use std::collections::BTreeMap;

use tiphys_yaml::{DecodeError, Node, Object};

/// The namespace of the control plane if nothing sets another one.
pub const DEFAULT_CONTROL_PLANE_NAMESPACE: &str = "argocd";

/// The keys of `argocd-cm` that rendering depends on. Values are as written; the caller interprets them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ArgoCdSettings {
    /// Namespace of the ConfigMap; `None` if the document does not set one.
    pub namespace: Option<String>,
    /// `application.resourceTrackingMethod`. Argo CD treats an unknown method as `annotation`.
    pub tracking_method: Option<String>,
    /// `application.instanceLabelKey`.
    pub label_key: Option<String>,
    /// `installationID`.
    pub installation_id: Option<String>,
    /// `kustomize.buildOptions`.
    pub kustomize_build_options: Option<String>,
    /// `kustomize.buildOptions.<version>`, by version.
    pub kustomize_version_options: BTreeMap<String, String>,
    /// `helm.valuesFileSchemes`, split. `None` if the key is absent: `https` and `http` are allowed. An empty list allows none.
    pub value_file_schemes: Option<Vec<String>>,
    /// `helm.enable`. Every value except `true` disables Helm.
    pub helm_enable: Option<String>,
    /// `kustomize.enable`. Every value except `true` disables Kustomize.
    pub kustomize_enable: Option<String>,
    /// The keys of `data` that ignore differences for every application, sorted: `resource.customizations.ignoreDifferences.…`, and
    /// `resource.customizations` if it contains `ignoreDifferences`.
    pub ignore_differences: Vec<String>,
}

impl ArgoCdSettings {
    /// Decodes the ConfigMap. Errors name the field that has the wrong type.
    pub fn decode(node: &Node) -> Result<Self, DecodeError> {
        let mut object = Object::new(node, "")?;
        let data = object.text_map("data")?.unwrap_or_default();
        let namespace = node.at(["metadata", "namespace"]).and_then(Node::as_str);
        let text = |key: &str| data.get(key).filter(|value| !value.is_empty()).cloned();
        let versions = data.iter().filter_map(|(key, value)| {
            key.strip_prefix("kustomize.buildOptions.").map(|version| (version.to_owned(), value.clone()))
        });
        let schemes = data.get("helm.valuesFileSchemes").map(|list| {
            list.split(',').map(str::trim).filter(|scheme| !scheme.is_empty()).map(str::to_owned).collect()
        });
        let ignores = |(key, value): (&String, &String)| {
            (key.starts_with("resource.customizations.ignoreDifferences.")
                || key == "resource.customizations" && value.contains("ignoreDifferences"))
            .then(|| key.clone())
        };
        Ok(Self {
            namespace: namespace.filter(|namespace| !namespace.is_empty()).map(str::to_owned),
            tracking_method: text("application.resourceTrackingMethod"),
            label_key: text("application.instanceLabelKey"),
            installation_id: text("installationID"),
            kustomize_build_options: text("kustomize.buildOptions"),
            kustomize_version_options: versions.collect(),
            value_file_schemes: schemes,
            helm_enable: text("helm.enable"),
            kustomize_enable: text("kustomize.enable"),
            ignore_differences: data.iter().filter_map(ignores).collect(),
        })
    }
}
