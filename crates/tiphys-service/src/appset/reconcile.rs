//! A reconcile of one set of a cluster: its generators are asked, then it is planned.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::Value;
use tiphys_engine::appset::{
    Generated, Outcome, Plan, PlanInput, PlanSettings, SetDeletion, plan, plan_set_deletion,
    requeue_after_seconds,
};
use tiphys_kube::cluster_reader::ClusterReader;
use tiphys_model::resources::{ApplicationSet, Metadata};
use tiphys_store::{FileName, Place, Store as Resources, StoreInput, StoredSet};
use tiphys_yaml::read_json;
use tokio_util::sync::CancellationToken;

use crate::appset::preview::{ControllerSettings, Planner};
use crate::context::clusters::DestinationClusters;
use crate::context::service::Service;
use crate::context::sets::generation::{Stop, decoded, generated_from};
use crate::context::sets::objects::ClusterObjects;
use crate::context::sets::world::{Asking, GeneratorClusters, World, clusters_of};
use crate::context::sets::{Services, WorldInputs};
use crate::context::workspace::{Workspace, WorkspaceOptions};
use crate::error::ServiceError;

/// The objects of a control plane that decide what its sets generate: `AppProjects`, `ConfigMaps` and Secrets, as JSON. They are read when a set
/// is generated for the first time.
#[derive(Debug)]
pub struct ControlPlaneObjects {
    objects: Vec<Arc<Value>>,
    /// With the settings of the first request.
    opened: Mutex<Option<Arc<ControlPlane>>>,
}

/// The common inputs of all sets of a control plane.
struct ControlPlane {
    workspace: Workspace,
    objects: Arc<ClusterObjects>,
    clusters: Arc<GeneratorClusters>,
    settings: PlanSettings,
}

/// The answers of a set's generators, and all that a plan needs but the existing Applications.
#[derive(Debug)]
pub struct GeneratedSet {
    set: Arc<ApplicationSet>,
    generated: Generated,
    settings: PlanSettings,
    requeue_after_seconds: Option<u64>,
}

/// A set of a cluster.
#[derive(Debug)]
pub struct DecodedSet {
    stored: StoredSet,
    set: Arc<ApplicationSet>,
}

/// A set of a cluster, and how it is generated.
#[derive(Clone, Copy)]
pub struct GenerateRequest<'a> {
    /// The set.
    pub set: &'a DecodedSet,
    /// The objects of its control plane.
    pub objects: &'a ControlPlaneObjects,
    /// Secrets and `ConfigMaps` of the set's own namespace, if that is another one. Only generators of forges read them: others must not take a
    /// Secret of a tenant for one of the control plane.
    pub own_objects: &'a [Arc<Value>],
    /// The settings of the controller.
    pub settings: &'a ControllerSettings,
    /// The interval of generators `git`, `oci` and `clusterDecisionResource` without one of their own, in seconds.
    pub default_requeue_seconds: u64,
    /// Whether the objects have all cluster Secrets. Else destinations are not looked up.
    pub knows_clusters: bool,
    /// The cluster of Argo CD, for generators `clusterDecisionResource`.
    pub cluster: Option<&'a Arc<dyn ClusterReader>>,
}

impl ControlPlaneObjects {
    /// Collects objects. Others than those that Argo CD reads may be among them.
    pub fn new(objects: Vec<Arc<Value>>) -> Self {
        Self { objects, opened: Mutex::default() }
    }

    fn opened(
        &self,
        service: &Service,
        settings: &ControllerSettings,
    ) -> Result<Arc<ControlPlane>, ServiceError> {
        let mut opened = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(control_plane) = &*opened {
            return Ok(Arc::clone(control_plane));
        }
        let control_plane = Arc::new(ControlPlane::open(service, &self.objects, settings)?);
        *opened = Some(Arc::clone(&control_plane));
        Ok(control_plane)
    }
}

impl ControlPlane {
    fn open(
        service: &Service,
        objects: &[Arc<Value>],
        settings: &ControllerSettings,
    ) -> Result<Self, ServiceError> {
        let documents: Vec<String> = objects.iter().map(ToString::to_string).collect();
        let input = StoreInput::Rendered(FileName::cluster(), format!("[{}]", documents.join(",\n")));
        let resources = Resources::load(&[input]).map_err(|error| ServiceError::bug(error.to_string()))?;
        let workspace = Workspace::with_resources(service, resources, WorkspaceOptions::default())?;
        let Workspace { resources, control_plane, projects, .. } = &workspace;
        let planner = Planner::new(service, resources, control_plane, projects.in_cluster(), settings)?;
        let settings = planner.of_cluster();
        let clusters = Arc::new(GeneratorClusters::of(&clusters_of(service, resources)?));
        Ok(Self { objects: Arc::new(ClusterObjects::new(objects)), clusters, settings, workspace })
    }
}

impl fmt::Debug for ControlPlane {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ControlPlane").finish_non_exhaustive()
    }
}

/// Asks the generators of a set anew. An error is one of the set's document, or of a setting. Errors of generators and templates are part of the
/// plan.
pub async fn generate_set(
    service: &Service,
    request: &GenerateRequest<'_>,
    cancel: &CancellationToken,
) -> Result<GeneratedSet, ServiceError> {
    let control_plane = request.objects.opened(service, request.settings)?;
    let ControlPlane { workspace, objects, clusters, settings } = &*control_plane;
    // A request does not know the answers of the previous one.
    let renderer = workspace.renderer.renewed(cancel.child_token());
    let Workspace { origins, control_plane: namespace, .. } = workspace;
    let objects = match request.own_objects {
        [] => Arc::clone(objects),
        own => Arc::new(objects.and(own)),
    };
    let own = Arc::new(DestinationClusters::of_own(service.clone(), request.cluster.map(Arc::clone)));
    let services = Services::with_objects(service, objects, &own, origins, namespace);
    let inputs = WorldInputs { renderer: &renderer, services: &services, ..WorldInputs::of(workspace) };
    let world = World::new(&inputs, Asking::ControlPlane(Arc::clone(clusters)))?;
    let DecodedSet { stored, set } = request.set;
    let mut repositories = Vec::new();
    let set = Arc::clone(set);
    let generating = generated_from(stored, set, &world, service.generating(), &mut repositories);
    let generated = tokio::select! {
        generated = Box::pin(generating) => generated,
        () = cancel.cancelled() => return Err(ServiceError::interrupted()),
    };
    let (set, generated, _no_warning) = generated.map_err(|stop| match stop {
        Stop::Failed(error) => error,
        Stop::LeftOut(not_asked) => not_asked.to_error(&stored.id(namespace)),
    })?;
    let requeue_after_seconds = requeue_after_seconds(&set, request.default_requeue_seconds);
    let mut settings = settings.clone();
    if !request.knows_clusters {
        settings.clusters = None;
    }
    Ok(GeneratedSet { set, generated, settings, requeue_after_seconds })
}

impl GeneratedSet {
    /// Returns the set.
    pub fn set(&self) -> &ApplicationSet {
        &self.set
    }

    /// Returns the generated Applications, and the errors of generators and templates.
    pub fn generated(&self) -> &Generated {
        &self.generated
    }

    /// Returns the names of the generated Applications.
    pub fn names(&self) -> Vec<String> {
        self.generated.applications.iter().map(|one| name_of(&one.application.value())).collect()
    }

    /// Whether all generators and templates succeeded, so that the result can be used again until the generators are asked again.
    pub fn is_complete(&self) -> bool {
        self.generated.errors.is_empty() && self.generated.questions.is_empty()
    }

    /// Returns the seconds after which the generators are asked again; `None` if there is no timer.
    pub fn requeue_after_seconds(&self) -> Option<u64> {
        self.requeue_after_seconds.filter(|seconds| *seconds > 0)
    }

    /// Plans what the controller does. `existing` has the Applications that belong to the set, or have one of [`GeneratedSet::names`].
    /// `are_deletions_allowed` releases the deletion guard.
    pub fn plan(&self, existing: &[Value], are_deletions_allowed: bool) -> Plan {
        plan(&PlanInput {
            set: &self.set,
            generated: &self.generated,
            existing,
            settings: &PlanSettings { are_deletions_allowed, ..self.settings.clone() },
            jq: &tiphys_jq::removal,
            requeue_after_seconds: self.requeue_after_seconds,
        })
    }
}

impl DecodedSet {
    /// Decodes a set as the API server returns it.
    pub fn decode(set: &Value) -> Result<Self, ServiceError> {
        let stored = stored_set(set)?;
        let set = Arc::new(decoded(&stored)?);
        Ok(Self { stored, set })
    }

    /// Returns the set.
    pub fn set(&self) -> &ApplicationSet {
        &self.set
    }
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
