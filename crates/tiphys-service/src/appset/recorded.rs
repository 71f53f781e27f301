//! The parameters that a controller recorded (`--record-parameters`).

use serde_json::{Value, json};
use tiphys_engine::Manifest;
use tiphys_engine::appset::ParameterRecord;
use tiphys_store::{Store as Resources, StoreInput};

use crate::context::service::Service;
use crate::context::workspace::{Workspace, WorkspaceOptions};
use crate::error::{Remedy, ServiceError};

/// The parameters of a set's Applications, as a controller recorded them.
#[derive(Clone, Debug)]
pub struct RecordedParameters {
    /// `namespace/name` of the set.
    pub set: String,
    /// The Applications by name.
    pub applications: Vec<ParameterRecord>,
}

impl RecordedParameters {
    /// Returns an object for each Application: `set`, `name`, `generator`, `parameters`.
    pub fn to_json(&self) -> Value {
        let row = |one: &ParameterRecord| {
            json!({
                "set": self.set, "name": one.application, "generator": one.generator, "parameters": one.parameters,
            })
        };
        self.applications.iter().map(row).collect()
    }
}

/// Reads the record of a set, `name` or `namespace/name`, from the cluster of Argo CD, of all Applications or of these.
pub async fn recorded_parameters(
    service: &Service,
    set: &str,
    applications: &[String],
) -> Result<RecordedParameters, ServiceError> {
    let no_inputs: [StoreInput; 0] = [];
    let resources = Resources::load(&no_inputs).map_err(|error| ServiceError::bug(error.to_string()))?;
    let options = WorkspaceOptions { reads_clusters: true, ..WorkspaceOptions::default() };
    let workspace = Workspace::with_resources(service, resources, options)?;
    let (namespace, name) = set.split_once('/').unwrap_or((&workspace.control_plane, set));
    let set = format!("{namespace}/{name}");
    let cluster = workspace.clusters.require_own()?;
    let unread = |error: tiphys_kube::cluster_reader::ClusterError| {
        ServiceError::rendering(format!("the record of {set} cannot be read")).because(error)
    };
    let kinds = cluster.reader.kinds().await.map_err(unread)?;
    let kind = kinds
        .find("", "ConfigMap", Some("v1"))
        .map_err(|error| ServiceError::rendering(format!("cluster {}: {error}", cluster.name)))?;
    let config_map = ParameterRecord::config_map_name(name);
    let found = cluster.reader.get(kind, namespace, &config_map).await.map_err(unread)?;
    let Some(found) = found.map(Manifest::into_value) else {
        let message = format!(
            "ApplicationSet {set} has no recorded parameters: ConfigMap {namespace}/{config_map} does not exist"
        );
        return Err(ServiceError::invalid_input(message).with_remedy(Remedy::RecordParameters));
    };
    if !ParameterRecord::is_record(&found["metadata"]) {
        return Err(ServiceError::invalid_input(format!(
            "ApplicationSet {set} has no recorded parameters: ConfigMap {namespace}/{config_map} is another one; rename it or the set"
        )));
    }
    if ParameterRecord::is_too_large(&found) {
        return Err(ServiceError::invalid_input(format!(
            "ApplicationSet {set} has no recorded parameters: they are larger than a ConfigMap (1 MB)"
        )));
    }
    let recorded = ParameterRecord::read(&found).map_err(|entry| {
        ServiceError::invalid_input(format!(
            "ConfigMap {namespace}/{config_map}: data.{entry}: expected a record; delete the ConfigMap, and the controller writes it again"
        ))
    })?;
    if let Some(missing) =
        applications.iter().find(|name| !recorded.iter().any(|one| one.application == **name))
    {
        return Err(ServiceError::invalid_input(format!(
            "ApplicationSet {set} has no Application {missing}"
        )));
    }
    let is_meant = |one: &ParameterRecord| applications.is_empty() || applications.contains(&one.application);
    Ok(RecordedParameters { set, applications: recorded.into_iter().filter(is_meant).collect() })
}
