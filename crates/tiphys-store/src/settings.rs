//! Argo CD's settings, as far as rendering depends on them.

use std::collections::BTreeMap;

use tiphys_yaml::{Node, Object};

use crate::Place;
use crate::store::BrokenReason;

/// The namespace of the control plane where nothing else says it.
pub const DEFAULT_CONTROL_PLANE_NAMESPACE: &str = "argocd";

/// What `argocd-cm` says. Texts are as they were written: what they mean is decided by who uses them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    /// Namespace of the control plane; `None` if the settings do not say it.
    pub namespace: Option<String>,
    /// `application.resourceTrackingMethod`. Argo CD takes a word that it does not know for `annotation`.
    pub tracking_method: Option<String>,
    /// `application.instanceLabelKey`.
    pub label_key: Option<String>,
    /// `installationID`.
    pub installation_id: Option<String>,
    /// `kustomize.buildOptions`.
    pub kustomize_build_options: Option<String>,
    /// `kustomize.buildOptions.<version>`, by version.
    pub kustomize_version_options: BTreeMap<String, String>,
    /// `helm.valuesFileSchemes`, split; `None` if it is absent, which allows `https` and `http`, while an empty one allows none.
    pub value_file_schemes: Option<Vec<String>>,
    /// `helm.enable`. Every word but `true` switches Helm off.
    pub helm_enable: Option<String>,
    /// `kustomize.enable`, as `helm.enable`.
    pub kustomize_enable: Option<String>,
    /// The keys of `data` that leave differences out for every application: `resource.customizations.ignoreDifferences.…`, and
    /// `resource.customizations` where it says so. In alphabetical order.
    pub ignore_differences: Vec<String>,
}

/// Settings of one document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredSettings {
    /// The settings.
    pub settings: Settings,
    /// Where the document begins.
    pub place: Place,
}

impl StoredSettings {
    pub(crate) fn read(node: &Node, place: Place) -> Result<Self, BrokenReason> {
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
        let settings = Settings {
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
        };
        Ok(Self { settings, place })
    }
}
