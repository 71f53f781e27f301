//! The look-ups of applications and the rules that permit them. No object is read.

use std::pin::pin;
use std::sync::Arc;

use futures_util::{StreamExt, stream};
use tiphys_engine::{LookUpProblem, ServedKinds};
use tiphys_kube::cluster_reader::ClusterError;
use tiphys_model::resources::ResourceReference;
use tiphys_store::StoredApplication;

use crate::context::cluster_references::{ClusterReference, KnownKinds};
use crate::context::clusters::OpenCluster;
use crate::context::options::Setting;
use crate::context::workspace::Workspace;
use crate::error::{ErrorKind, Input, ServiceError};

/// The look-ups of an application.
#[derive(Debug)]
pub struct ApplicationLookUps {
    /// The application.
    pub stored: Arc<StoredApplication>,
    /// The look-ups in the order of the sources, each with the position of its source, from 1. An error if a source cannot be prepared.
    pub result: Result<Vec<(usize, ClusterReference)>, ServiceError>,
}

impl ApplicationLookUps {
    /// Removes look-ups of other objects. An object of an unknown kind may be cluster-scoped or in the destination's namespace.
    #[must_use]
    pub fn of_object(mut self, object: &ResourceReference) -> Self {
        let destination = &self.stored.application.spec.destination.namespace;
        let is_read = |read: &ClusterReference| {
            let ResourceReference { group, kind, namespace, name, .. } = &read.reference;
            let is_unknown =
                namespace.is_empty() && matches!(read.permitted_by, Err(LookUpProblem::UnknownKind(_)));
            (group, kind, name) == (&object.group, &object.kind, &object.name)
                && (*namespace == object.namespace || is_unknown && *destination == object.namespace)
        };
        if let Ok(look_ups) = &mut self.result {
            look_ups.retain(|(_, read)| is_read(read));
        }
        self
    }
}

/// Returns the look-ups of applications in their order. Only the discovery of plugins runs. Scopes of kinds are those of the destination
/// cluster if the caller gives access to it, else those of Kubernetes.
pub async fn look_ups(
    workspace: &Workspace,
    applications: &[Arc<StoredApplication>],
) -> Vec<ApplicationLookUps> {
    let built_in = ServedKinds::built_in();
    let of_one = async |stored: &Arc<StoredApplication>| {
        let result = Box::pin(of_application(workspace, stored, &built_in)).await;
        ApplicationLookUps { stored: Arc::clone(stored), result }
    };
    let finding = async {
        let all = stream::iter(applications).map(of_one).buffered(workspace.service.jobs() * 2);
        pin!(all).collect().await
    };
    workspace.drained(finding).await
}

async fn of_application(
    workspace: &Workspace,
    stored: &StoredApplication,
    built_in: &ServedKinds,
) -> Result<Vec<(usize, ClusterReference)>, ServiceError> {
    let application = &stored.application;
    let prepared = workspace.renderer.prepare_all(application).await;
    let prepared = prepared.map_err(|error| ServiceError::application(stored, error))?;
    if prepared.iter().all(|source| source.look_ups().is_empty()) {
        return Ok(Vec::new());
    }
    let cluster = workspace.projects.cluster(&application.spec.destination);
    let open = workspace.clusters.open(&cluster)?;
    let is_live = open.as_ref().is_some_and(|open| open.reader.is_live());
    let served = match open {
        Some(open) => Some(open.reader.kinds().await.map_err(|error| unread_kinds(stored, &open, error))?),
        None => None,
    };
    let kinds = served.as_deref().map_or(KnownKinds::BuiltIn(built_in), KnownKinds::OfCluster);
    let is_forbidden = is_live && !workspace.projects.permits_live(application);
    let describe = |look_up| {
        let described = ClusterReference::new(&workspace.projects, application, look_up, kinds);
        let forbidden = is_forbidden.then_some(Err(LookUpProblem::Forbidden));
        ClusterReference { permitted_by: forbidden.unwrap_or(described.permitted_by), ..described }
    };
    let of_source = prepared
        .iter()
        .flat_map(|source| source.look_ups().iter().map(|look_up| (source.position, describe(look_up))));
    Ok(of_source.collect())
}

fn unread_kinds(stored: &StoredApplication, cluster: &OpenCluster, error: ClusterError) -> ServiceError {
    let error = ServiceError::caused(ErrorKind::Rendering, error);
    if cluster.reader.is_live() {
        error.in_application(stored, &stored.place)
    } else {
        error.of_input(Input::Setting(&Setting::CLUSTER_STATE.key))
    }
}
