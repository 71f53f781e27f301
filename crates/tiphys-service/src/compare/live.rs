//! The comparison of rendered manifests with live objects.

mod clusters;

use std::sync::Arc;

use tiphys_cluster::ClusterError;
use tiphys_engine::diff::{
    Comparison, IgnoreError, Ignored, LivePair, LiveRules, compare_live as compare_objects,
    possible_namespaces,
};
use tiphys_engine::{Manifest, ObjectKey};
use tiphys_project::Cluster;
use tiphys_render::RenderedApplication;
use tiphys_store::{Place, StoredApplication};

use self::clusters::LiveCluster;
use super::{ApplicationDiff, Presence};
use crate::clusters::shown;
use crate::error::{Remedy, ServiceError, chain};
use crate::options::StepCallback;
use crate::render::render_each;
use crate::warning::Warning;
use crate::workspace::Workspace;

pub use self::clusters::LiveClusters;

/// Renders applications and compares each with the live objects of its destination.
pub async fn compare_live(
    workspace: &Workspace,
    clusters: &LiveClusters,
    applications: &[Arc<StoredApplication>],
    progress: StepCallback<'_>,
) -> Vec<ApplicationDiff> {
    let mut compared = Vec::with_capacity(applications.len());
    let compare_one = async |stored: Arc<StoredApplication>, result: Result<_, ServiceError>| {
        let mut warnings = Vec::new();
        let result = match result {
            Ok(rendered) => compare(workspace, clusters, &stored, rendered, &mut warnings).await,
            Err(error) => Err(error),
        };
        compared.push(ApplicationDiff { warnings, ..ApplicationDiff::new(&stored, Presence::Both, result) });
    };
    workspace.drained(render_each(workspace, applications, progress, compare_one)).await;
    compared
}

/// Returns one warning for each setting of the store that Argo CD applies to all comparisons and this comparison does not.
pub fn unsupported_settings(workspace: &Workspace) -> Vec<Warning> {
    let namespace = workspace.service.options().argocd_namespace.as_deref();
    let (settings, _) = workspace.resources.settings(namespace, &|_| true);
    let keys = settings.iter().flat_map(|stored| &stored.settings.ignore_differences);
    let message =
        |key| format!("argocd-cm: {key} is not applied; what it leaves out is shown as a difference");
    keys.map(|key| Warning::new(message(key))).collect()
}

async fn compare(
    workspace: &Workspace,
    clusters: &LiveClusters,
    stored: &StoredApplication,
    rendered: RenderedApplication,
    warnings: &mut Vec<Warning>,
) -> Result<Comparison, ServiceError> {
    let name = stored.full_name();
    warnings.extend(Warning::all_of_application(stored, &rendered.warnings));
    let spec = &stored.application.spec;
    let ignored = Ignored::new(&spec.ignore_differences).map_err(|error| ignore_error(stored, &error))?;
    let tracking = workspace.renderer.tracking(&stored.application);
    let ownership = tracking.ownership();
    let unread = |error: ClusterError| {
        ServiceError::rendering(format!("application {name} ({}): {}", stored.place, chain(&error)))
    };
    let destination = workspace.projects.cluster(&spec.destination);
    let cluster = clusters.of(&destination, &ownership).await.map_err(unread)?;
    let cluster = cluster.ok_or_else(|| no_cluster_error(stored, &destination, clusters))?;
    let (pairs, guessed) =
        find_live(rendered.manifests, &spec.destination.namespace, &cluster).await.map_err(unread)?;
    warnings.extend(Warning::all_of_application(stored, guessed));
    let rules = LiveRules { application: &tracking.instance_name, ignored: &ignored, ownership: &ownership };
    let scopes = cluster.scopes(&[]);
    let refusal = |live: &&Manifest| workspace.projects.refusal_of_live(&stored.application, live, &scopes);
    let (mut removable, mut refused) = (Vec::new(), Vec::new());
    for live in cluster.removable(&tracking.instance_name) {
        match refusal(&live) {
            None => removable.push(live.clone()),
            Some(reason) => refused.push(format!("left out {}: {reason}", live.key())),
        }
    }
    warnings.extend(Warning::all_of_application(stored, refused));
    let found = compare_objects(&pairs, &removable, &rules);
    let messages = found.warnings.iter().map(|warning| &warning.message);
    warnings.extend(Warning::all_of_application(stored, messages));
    for left_out in &found.left_out {
        tracing::info!("{name}: left out: {left_out}");
    }
    Ok(found.comparison)
}

fn ignore_error(stored: &StoredApplication, error: &IgnoreError) -> ServiceError {
    let index = error.index.to_string();
    let entry = stored.node.at(["spec", "ignoreDifferences", &index, error.field]);
    let place = Place {
        position: entry.map(|entry| entry.position).or(stored.place.position),
        ..stored.place.clone()
    };
    ServiceError::invalid_input(format!("application {} ({place}): {}", stored.full_name(), chain(error)))
}

/// Finds the live object of each rendered object. Warns about objects whose scope is unknown.
async fn find_live(
    manifests: Vec<Manifest>,
    destination: &str,
    cluster: &LiveCluster,
) -> Result<(Vec<LivePair>, Vec<String>), ClusterError> {
    let scopes = cluster.scopes(&manifests);
    let (mut pairs, mut warnings) = (Vec::with_capacity(manifests.len()), Vec::new());
    for manifest in manifests {
        let namespaces = possible_namespaces(&manifest, destination, &scopes);
        let mut found = None;
        for &namespace in &namespaces {
            let key = ObjectKey { namespace: namespace.to_owned(), ..manifest.key() };
            if let Some(live) = cluster.get(&key).await? {
                found = Some((namespace.to_owned(), live));
                break;
            }
        }
        let namespace = match &found {
            Some((namespace, _)) => namespace.clone(),
            None => namespaces.first().map(|&namespace| namespace.to_owned()).unwrap_or_default(),
        };
        if found.is_none() && namespaces.len() > 1 && manifest.namespace().is_empty() {
            let (group, kind) = manifest.group_kind();
            warnings.push(format!(
                "not known whether {kind}.{group} has a namespace, so that {} is taken to be in {namespace}; its \
                 CustomResourceDefinition in the cluster state tells",
                manifest.name()
            ));
        }
        pairs.push(LivePair {
            rendered: manifest.in_namespace(&namespace),
            live: found.map(|(_, live)| live),
        });
    }
    Ok((pairs, warnings))
}

fn no_cluster_error(
    stored: &StoredApplication,
    destination: &Cluster,
    clusters: &LiveClusters,
) -> ServiceError {
    let (cluster, is_own) = shown(destination);
    ServiceError::invalid_input(format!(
        "application {} ({}): there are no live objects of its destination {cluster:?}, only of {}",
        stored.full_name(),
        stored.place,
        clusters.names()
    ))
    .with_remedy(Remedy::AddClusterState((!is_own).then(|| cluster.to_owned())))
}
