//! The ConfigMap `argocd-cm`: Argo CD's settings, as far as rendering depends on them.

mod ignored;

use std::collections::BTreeMap;

use tiphys_yaml::{Data, DecodeError, Node, Object, read_document};

pub use ignored::GlobalIgnoreDifference;

use crate::resources::LabelSelector;
use crate::resources::decode::text;

/// The namespace of the control plane if nothing sets another one.
pub const DEFAULT_CONTROL_PLANE_NAMESPACE: &str = "argocd";

/// The keys of `argocd-cm` that rendering depends on. Values are as written; the caller interprets them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArgoCdSettings {
    /// Namespace of the ConfigMap; `None` if the document does not set one.
    pub namespace: Option<String>,
    /// `application.resourceTrackingMethod`. Argo CD treats an unknown method as `annotation`.
    pub tracking_method: Option<String>,
    /// `application.instanceLabelKey`.
    pub label_key: Option<String>,
    /// `installationID`.
    pub installation_id: Option<String>,
    /// `kustomize.buildOptions`, and the settings of versions of kustomize.
    pub kustomize: KustomizeSettings,
    /// `helm.valuesFileSchemes`, split. `None` if the key is absent: `https` and `http` are allowed. An empty list allows none.
    pub value_file_schemes: Option<Vec<String>>,
    /// `helm.enable`. Every value except `true` disables Helm.
    pub helm_enable: Option<String>,
    /// `kustomize.enable`. Every value except `true` disables Kustomize.
    pub kustomize_enable: Option<String>,
    /// `globalProjects`: the projects whose rules also apply to other projects. An error in it, with the reason.
    pub global_projects: Result<Vec<GlobalProject>, String>,
    /// `cluster.inClusterEnabled`.
    pub in_cluster: InCluster,
    /// Fields that comparisons of all applications ignore.
    pub ignore_differences: Vec<GlobalIgnoreDifference>,
}

/// The settings of kustomize.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KustomizeSettings {
    /// `kustomize.buildOptions`: options of `kustomize build`, separated by blanks.
    pub build_options: Option<String>,
    /// The versions that a `kustomize` block may name.
    pub versions: BTreeMap<String, KustomizeVersion>,
}

/// A version of kustomize.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KustomizeVersion {
    /// `kustomize.path.<version>`, or `kustomize.version.<version>`: the path of the program.
    pub program: Option<String>,
    /// `kustomize.buildOptions.<version>`, instead of the general ones.
    pub build_options: Option<String>,
}

impl KustomizeSettings {
    /// Returns the program of a version, if it has one.
    pub fn program(&self, version: &str) -> Option<&str> {
        self.versions.get(version)?.program.as_deref()
    }

    /// Returns the build options of a version, else the general ones.
    pub fn build_options(&self, version: &str) -> &str {
        let of_version = self.versions.get(version).and_then(|version| version.build_options.as_deref());
        of_version.or(self.build_options.as_deref()).unwrap_or_default()
    }
}

/// Whether Applications may be deployed to the cluster in which Argo CD runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum InCluster {
    /// They may.
    #[default]
    Enabled,
    /// They may not. Only the value `false` disables it.
    Disabled,
}

/// An entry of `globalProjects`: a project whose rules also apply to the selected ones.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GlobalProject {
    /// The name of the global project.
    pub project_name: String,
    /// The labels of the projects to which its rules apply.
    pub label_selector: LabelSelector,
}

impl Default for ArgoCdSettings {
    fn default() -> Self {
        Self {
            namespace: None,
            tracking_method: None,
            label_key: None,
            installation_id: None,
            kustomize: KustomizeSettings::default(),
            value_file_schemes: None,
            helm_enable: None,
            kustomize_enable: None,
            global_projects: Ok(Vec::new()),
            in_cluster: InCluster::Enabled,
            ignore_differences: Vec::new(),
        }
    }
}

/// Decodes `globalProjects`, a YAML list. Unlike in Argo CD, an error is reported and not ignored, because the rules would not apply.
fn global_projects(value: &str) -> Result<Vec<GlobalProject>, String> {
    let document = read_document(value.as_bytes()).map_err(|error| error.to_string())?;
    let Some(document) = document.map(Node::deduplicated) else { return Ok(Vec::new()) };
    let entries = match &document.data {
        Data::Null => return Ok(Vec::new()),
        Data::Sequence(entries) => entries,
        _ => return Err(format!("expected a list, found {}", document.type_words())),
    };
    let decoded = entries.iter().enumerate().map(|(index, node)| {
        let mut object = Object::new(node, format!("[{index}]"))?;
        Ok(GlobalProject {
            project_name: text(&mut object, "projectName")?,
            label_selector: match object.object("labelSelector")? {
                Some(selector) => LabelSelector::decode(selector)?,
                None => LabelSelector::default(),
            },
        })
    });
    decoded.collect::<Result<_, DecodeError>>().map_err(|error| format!("{}: {}", error.path, error.message))
}

impl ArgoCdSettings {
    /// Decodes the ConfigMap. Errors name the field that has the wrong type.
    pub fn decode(node: &Node) -> Result<Self, DecodeError> {
        let mut object = Object::new(node, "")?;
        let data = object.text_map("data")?.unwrap_or_default();
        let namespace = node.at(["metadata", "namespace"]).and_then(Node::as_str);
        let value = |key: &str| data.get(key).filter(|value| !value.is_empty()).cloned();
        let mut versions: BTreeMap<String, KustomizeVersion> = BTreeMap::new();
        for (key, value) in &data {
            let of = |prefix| key.strip_prefix(prefix).filter(|version: &&str| !version.is_empty());
            if let Some(version) = of("kustomize.buildOptions.") {
                versions.entry(version.to_owned()).or_default().build_options = Some(value.clone());
            } else if let Some(version) = of("kustomize.path.").or_else(|| of("kustomize.version.")) {
                versions.entry(version.to_owned()).or_default().program = Some(value.clone());
            }
        }
        let schemes = data.get("helm.valuesFileSchemes").map(|list| {
            list.split(',').map(str::trim).filter(|scheme| !scheme.is_empty()).map(str::to_owned).collect()
        });
        Ok(Self {
            namespace: namespace.filter(|namespace| !namespace.is_empty()).map(str::to_owned),
            tracking_method: value("application.resourceTrackingMethod"),
            label_key: value("application.instanceLabelKey"),
            installation_id: value("installationID"),
            kustomize: KustomizeSettings { build_options: value("kustomize.buildOptions"), versions },
            value_file_schemes: schemes,
            helm_enable: value("helm.enable"),
            kustomize_enable: value("kustomize.enable"),
            global_projects: global_projects(data.get("globalProjects").map_or("", String::as_str)),
            in_cluster: match data.get("cluster.inClusterEnabled").map(String::as_str) {
                Some("false") => InCluster::Disabled,
                _ => InCluster::Enabled,
            },
            ignore_differences: GlobalIgnoreDifference::all(&data),
        })
    }
}
