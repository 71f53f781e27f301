//! The comparison of rendered manifests with live objects.

mod clusters;

use std::collections::HashSet;
use std::sync::Arc;

use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use tiphys_engine::diff::{
    Comparison, IgnoreError, Ignored, LeftOutReason, LivePair, LiveRules, compare_live as compare_objects,
    possible_namespaces,
};
use tiphys_engine::{Manifest, ObjectKey, Scopes};
use tiphys_kube::cluster_reader::ClusterError;
use tiphys_model::params::SecretMasks;
use tiphys_model::project_rules::Cluster;
use tiphys_model::resources::GlobalIgnoreDifference;
use tiphys_render::RenderedApplication;
use tiphys_store::{Place, StoredApplication};

use self::clusters::{LiveCluster, REQUESTS_MAX};
use super::{ApplicationDiff, Presence};
use crate::context::clusters::shown;
use crate::context::options::StepCallback;
use crate::context::trust::StoreSettings;
use crate::context::workspace::Workspace;
use crate::error::{Remedy, ServiceError};
use crate::render::render_each;
use crate::warning::Warning;

pub use self::clusters::LiveClusters;

/// Renders applications and compares each with the live objects of its destination.
pub async fn compare_live(
    workspace: &Workspace,
    clusters: &LiveClusters,
    applications: &[Arc<StoredApplication>],
    progress: StepCallback<'_>,
) -> Vec<ApplicationDiff> {
    let mut compared = Vec::with_capacity(applications.len());
    let (globally_ignored, _) = ignored_by_settings(workspace);
    let compare_one = async |stored: Arc<StoredApplication>, result: Result<_, ServiceError>| {
        let mut warnings = Vec::new();
        let result = match result {
            Ok(rendered) => {
                compare(workspace, clusters, &stored, rendered, &globally_ignored, &mut warnings).await
            }
            Err(error) => Err(error),
        };
        compared.push(ApplicationDiff { warnings, ..ApplicationDiff::new(&stored, Presence::Both, result) });
    };
    workspace.drained(render_each(workspace, applications, progress, compare_one)).await;
    compared
}

/// Returns a warning for each setting of the store that Argo CD applies to all comparisons and this comparison does not.
pub fn unsupported_settings(workspace: &Workspace) -> Vec<Warning> {
    ignored_by_settings(workspace).1
}

/// Returns what the settings of the store ignore in all applications, and warnings about what is not applied.
fn ignored_by_settings(workspace: &Workspace) -> (Ignored, Vec<Warning>) {
    let namespace = workspace.service.options().argocd_namespace.as_deref();
    let StoreSettings { settings, .. } = StoreSettings::new(&workspace.resources, namespace);
    let (mut ignored, mut warnings) = (Ignored::default(), Vec::new());
    for GlobalIgnoreDifference { key, entry } in &settings.ignore_differences {
        let mut warn = |what: String| {
            let message = format!("argocd-cm: {what}; what it leaves out is shown as a difference");
            warnings.push(Warning::new(message));
        };
        let mut entry = match entry {
            Ok(entry) => entry.clone(),
            Err(reason) => {
                warn(format!("{key} is not applied: {reason}"));
                continue;
            }
        };
        if !std::mem::take(&mut entry.managed_fields_managers).is_empty() {
            warn(format!("managedFieldsManagers of {key} is not applied"));
        }
        match Ignored::new(&[entry], &tiphys_jq::removal) {
            Ok(more) => ignored.extend(&more),
            Err(IgnoreError { field, problem, .. }) => {
                warn(format!("{key} is not applied: {field}: {problem}"));
            }
        }
    }
    (ignored, warnings)
}

async fn compare(
    workspace: &Workspace,
    clusters: &LiveClusters,
    stored: &StoredApplication,
    rendered: RenderedApplication,
    globally_ignored: &Ignored,
    warnings: &mut Vec<Warning>,
) -> Result<Comparison, ServiceError> {
    let name = stored.full_name();
    warnings.extend(Warning::all_of_application(stored, &rendered.warnings));
    let spec = &stored.application.spec;
    let mut ignored = Ignored::new(&spec.ignore_differences, &tiphys_jq::removal)
        .map_err(|error| ignore_error(stored, error))?;
    ignored.extend(globally_ignored);
    let tracking = workspace.renderer.tracking(&stored.application);
    let ownership = tracking.ownership();
    let unread = |error: ClusterError| {
        ServiceError::rendering(format!("application {name} ({})", stored.place)).because(error)
    };
    let destination = workspace.projects.cluster(&spec.destination);
    let cluster = clusters.of(&destination, &ownership).await.map_err(unread)?;
    let cluster = cluster.ok_or_else(|| no_cluster_error(stored, &destination, clusters))?;
    warnings.extend(cluster.take_warnings());
    // Names of objects in messages may be values of dynamic parameters.
    let RenderedApplication { manifests, redactor, .. } = rendered;
    let scopes = cluster.scopes(&manifests);
    let finding = find_live(manifests, &spec.destination.namespace, &cluster, &scopes);
    let (pairs, guessed) = finding.await.map_err(unread)?;
    let redacted = |message: &str| redactor.redact(message).into_owned();
    let guessed = guessed.iter().map(|message| redacted(message));
    warnings.extend(Warning::all_of_application(stored, guessed));
    let rules = LiveRules { application: &tracking.instance_name, ignored: &ignored, ownership: &ownership };
    let keys: HashSet<ObjectKey> = pairs.iter().map(|pair| pair.rendered.key()).collect();
    let (mut removable, mut refused) = (Vec::new(), Vec::new());
    for live in cluster.removable(&tracking.instance_name) {
        match workspace.projects.refusal_of_live(&stored.application, live, &scopes) {
            None if keys.contains(&live.key()) => {}
            None => removable.push(live),
            Some(reason) => refused.push(redacted(&format!("left out {}: {reason}", live.key()))),
        }
    }
    let removable = cluster.completed(&removable).await.map_err(unread)?;
    warnings.extend(Warning::all_of_application(stored, refused));
    let found = compare_objects(&pairs, &removable, &rules);
    let messages = found.warnings.iter().map(|warning| redacted(&warning.message));
    warnings.extend(Warning::all_of_application(stored, messages));
    for left_out in &found.left_out {
        tracing::info!("{name}: left out: {}", redacted(&left_out.to_string()));
    }
    Ok(found.comparison.masked(&SecretMasks::of([&redactor])))
}

fn ignore_error(stored: &StoredApplication, error: IgnoreError) -> ServiceError {
    let index = error.index.to_string();
    let entry = stored.node.at(["spec", "ignoreDifferences", &index, error.field]);
    let place = Place {
        position: entry.map(|entry| entry.position).or(stored.place.position),
        ..stored.place.clone()
    };
    ServiceError::invalid_input(format!("application {} ({place})", stored.full_name())).because(error)
}

/// Finds the live object of each rendered object. Warns about objects whose scope is unknown.
async fn find_live(
    manifests: Vec<Manifest>,
    destination: &str,
    cluster: &LiveCluster,
    scopes: &Scopes,
) -> Result<(Vec<LivePair>, Vec<String>), ClusterError> {
    let finding = stream::iter(manifests).map(|manifest| find_one(manifest, destination, cluster, scopes));
    let found: Vec<(LivePair, Option<String>)> = finding.buffered(REQUESTS_MAX).try_collect().await?;
    let (pairs, warnings): (_, Vec<Option<String>>) = found.into_iter().unzip();
    Ok((pairs, warnings.into_iter().flatten().collect()))
}

async fn find_one(
    rendered: Manifest,
    destination: &str,
    cluster: &LiveCluster,
    scopes: &Scopes,
) -> Result<(LivePair, Option<String>), ClusterError> {
    let namespaces = possible_namespaces(&rendered, destination, scopes);
    let mut found = None;
    let searched = if LeftOutReason::of_rendered(&rendered).is_none() { namespaces.as_slice() } else { &[] };
    for &namespace in searched {
        if let Some(live) = cluster.get(&rendered, namespace).await? {
            found = Some((namespace.to_owned(), live));
            break;
        }
    }
    let namespace = match &found {
        Some((namespace, _)) => namespace.clone(),
        None => namespaces.first().map(|&namespace| namespace.to_owned()).unwrap_or_default(),
    };
    let mut warning = None;
    if found.is_none() && namespaces.len() > 1 && rendered.namespace().is_empty() {
        let (group, kind) = rendered.group_kind();
        warning = Some(format!(
            "not known whether {kind}.{group} has a namespace, so that {} is taken to be in {namespace}; its \
             CustomResourceDefinition in the cluster state tells",
            rendered.name()
        ));
    }
    let live = found.map(|(_, live)| live);
    Ok((LivePair { rendered: rendered.in_namespace(&namespace), live }, warning))
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
