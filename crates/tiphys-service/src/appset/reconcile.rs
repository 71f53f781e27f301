//! The plan of a reconcile of one set of a cluster.

use std::sync::Arc;

use serde_json::Value;
use tiphys_engine::appset::{
    Generated, Outcome, Plan, PlanInput, PlanSettings, SetDeletion, plan, plan_set_deletion,
    requeue_after_seconds,
};
use tiphys_model::resources::{ApplicationSet, Metadata};
use tiphys_store::{FileName, Place, Store as Resources, StoreInput, StoredSet};
use tiphys_yaml::read_json;
use tokio_util::sync::CancellationToken;

use crate::appset::preview::{ControllerSettings, Planner};
use crate::context::service::Service;
use crate::context::sets::WorldInputs;
use crate::context::sets::generation::{Stop, decoded, generated};
use crate::context::sets::world::{Asking, World};
use crate::context::workspace::{Workspace, WorkspaceOptions};
use crate::error::ServiceError;

/// The objects of a control plane that decide what its sets generate: `AppProjects`, `ConfigMaps` and Secrets, as JSON.
#[derive(Clone, Debug)]
pub struct ControlPlaneObjects(String);

/// A reconcile that can be carried out.
#[derive(Debug)]
pub struct PlannedReconcile {
    /// The decoded set.
    pub set: Arc<ApplicationSet>,
    /// The generated Applications, and the errors of generators and templates.
    pub generated: Generated,
    /// The actions.
    pub plan: Plan,
    /// Seconds after which the generators are asked again; `None` if there is no timer.
    pub requeue_after_seconds: Option<u64>,
}

/// Inputs of a reconcile.
#[derive(Clone, Copy)]
pub struct ReconcileRequest<'a> {
    /// The set as the API server returns it.
    pub set: &'a Value,
    /// Returns the existing Applications that belong to the set, or have one of these names in its namespace.
    pub existing: &'a (dyn Fn(&[&str]) -> Vec<Value> + Sync),
    /// The settings of the controller.
    pub settings: &'a ControllerSettings,
    /// The interval of generators `git`, `oci` and `clusterDecisionResource` without one of their own, in seconds.
    pub default_requeue_seconds: u64,
    /// Whether the deletion guard is released for this generation of the set.
    pub are_deletions_allowed: bool,
}

impl ControlPlaneObjects {
    /// Joins objects. Others than those that Argo CD reads may be among them.
    pub fn new<'a>(objects: impl IntoIterator<Item = &'a Value>) -> Self {
        let documents: Vec<String> = objects.into_iter().map(Value::to_string).collect();
        Self(format!("[{}]", documents.join(",\n")))
    }
}

/// Asks the generators of a set anew, and plans what its controller does. An error is one of the set's document, or of a setting.
pub async fn plan_reconcile(
    service: &Service,
    objects: &ControlPlaneObjects,
    request: &ReconcileRequest<'_>,
    cancel: &CancellationToken,
) -> Result<PlannedReconcile, ServiceError> {
    let input = StoreInput::Rendered(FileName::cluster(), objects.0.clone());
    let resources = Resources::load(&[input]).map_err(|error| ServiceError::bug(error.to_string()))?;
    let options = WorkspaceOptions::default().cancelled_by(cancel.clone());
    let workspace = Workspace::with_resources(service, resources, options)?;
    let stored = stored_set(request.set)?;
    let world = World::new(&WorldInputs::of(&workspace), Asking::ControlPlane)?;
    let mut repositories = Vec::new();
    let generating = generated(&stored, &world, service.generating(), |_| {}, &mut repositories);
    let generated = tokio::select! {
        generated = Box::pin(generating) => generated,
        () = cancel.cancelled() => return Err(ServiceError::interrupted()),
    };
    let (set, generated, _no_warning) = generated.map_err(|stop| match stop {
        Stop::Failed(error) => error,
        Stop::LeftOut(not_asked) => not_asked.to_error(&stored.id(&workspace.control_plane)),
    })?;
    let Workspace { resources, control_plane, projects, .. } = &workspace;
    let planner = Planner::new(service, resources, control_plane, projects.in_cluster(), request.settings)?;
    let names: Vec<String> =
        generated.applications.iter().map(|one| name_of(&one.application.value())).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let requeue_after_seconds = requeue_after_seconds(&set, request.default_requeue_seconds);
    let plan = plan(&PlanInput {
        set: &set,
        generated: &generated,
        existing: &(request.existing)(&names),
        settings: &PlanSettings {
            are_deletions_allowed: request.are_deletions_allowed,
            ..planner.of_cluster()
        },
        jq: &tiphys_jq::removal,
        requeue_after_seconds,
    });
    Ok(PlannedReconcile { set, generated, plan, requeue_after_seconds })
}

/// Decodes a set of a cluster.
pub fn decode_set(set: &Value) -> Result<ApplicationSet, ServiceError> {
    decoded(&stored_set(set)?)
}

/// Plans what the controller does when a set is deleted. The error is the outcome for a set that needs an order of deletions.
pub fn plan_deletion(
    set: &ApplicationSet,
    existing: &[Value],
    settings: &ControllerSettings,
    control_plane: &str,
) -> Result<SetDeletion, Outcome> {
    plan_set_deletion(set, existing, &settings.to_plan(control_plane))
}

/// Returns a set of the cluster as one of a store.
fn stored_set(set: &Value) -> Result<StoredSet, ServiceError> {
    let node = read_json(set.to_string().as_bytes()).map_err(|error| ServiceError::bug(error.to_string()))?;
    let metadata = Metadata::of(&node).map_err(|error| ServiceError::invalid_input(error.to_string()))?;
    let place = Place { file: FileName::cluster(), position: None };
    Ok(StoredSet { metadata, node, place })
}

fn name_of(application: &Value) -> String {
    application["metadata"]["name"].as_str().unwrap_or_default().to_owned()
}
