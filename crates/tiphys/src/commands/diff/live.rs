//! Rendered against live.

mod clusters;

use std::process::ExitCode;
use std::sync::Arc;

use tiphys_api::Destination;
use tiphys_cluster::ClusterError;
use tiphys_engine::diff::{
    Comparison, IgnoreError, Ignored, LivePair, LiveRules, compare_live, possible_namespaces,
};
use tiphys_engine::{Manifest, ObjectKey};
use tiphys_render::RenderedApplication;
use tiphys_store::{Place, StoredApplication};

use self::clusters::{LiveCluster, LiveClusters};
use super::output::{self, ApplicationDiff, Form, Presence, Sides};
use crate::applications::{self, Chosen};
use crate::args::{CommonArgs, DiffArgs};
use crate::context::{self, Wishes, Workplace};
use crate::failure::{Failure, chain};
use crate::settings::Host;

/// Renders applications and compares each with what is live in its destination.
pub(super) async fn run(
    common: &CommonArgs,
    args: &DiffArgs,
    form: &Form,
    host: &Host,
) -> Result<ExitCode, Failure> {
    let clusters = LiveClusters::load(common, host)?;
    let wishes = Wishes { applications: applications::paths(&args.applications), ..Wishes::default() };
    let place = context::workplace(common, host, context::resources(common)?, wishes)?;
    warn_of_settings(&place, common);
    let Chosen { applications, worst } = applications::chosen(&place, &args.applications, "compare")?;
    let comparing = async {
        let mut compared = Vec::with_capacity(applications.len());
        let compare_one = async |stored: Arc<StoredApplication>, result| {
            let result = match result {
                Ok(rendered) => compare(&place, &clusters, &stored, rendered).await,
                Err(error) => Err(Failure::of_application(&stored, &error)),
            };
            let metadata = &stored.application.metadata;
            compared.push(ApplicationDiff {
                namespace: metadata.namespace.clone(),
                name: metadata.name.clone(),
                presence: Presence::Both,
                result,
            });
            Ok::<_, Failure>(())
        };
        applications::render_each(&place, &applications, common, host, compare_one).await?;
        Ok(compared)
    };
    let compared: Vec<_> = place.run(comparing).await??;
    let sides = Sides { before: "live".to_owned(), after: "rendered".to_owned() };
    output::finish(&compared, &sides, form, &args.shown, worst, host).await
}

/// What Argo CD leaves out for all applications is shown here.
fn warn_of_settings(place: &Workplace, common: &CommonArgs) {
    let (settings, _) = place.resources.settings(common.argocd_namespace.as_deref(), &|_| true);
    for key in settings.iter().flat_map(|stored| &stored.settings.ignore_differences) {
        tracing::warn!("argocd-cm: {key} is not applied; what it leaves out is shown as a difference");
    }
}

async fn compare(
    place: &Workplace,
    clusters: &LiveClusters,
    stored: &StoredApplication,
    rendered: RenderedApplication,
) -> Result<Comparison, Failure> {
    let name = stored.full_name();
    for warning in &rendered.warnings {
        tracing::warn!("{name}: {warning}");
    }
    let spec = &stored.application.spec;
    let ignored = Ignored::new(&spec.ignore_differences).map_err(|error| not_ignored(stored, &error))?;
    let tracking = place.renderer.tracking(&stored.application);
    let ownership = tracking.ownership();
    let unread = |error: ClusterError| {
        Failure::rendering(format!("application {name} ({}): {}", stored.place, chain(&error)))
    };
    let cluster = clusters.of(&spec.destination, &ownership).await.map_err(unread)?;
    let cluster = cluster.ok_or_else(|| no_cluster(stored, &spec.destination, clusters))?;
    let pairs =
        pairs(rendered.manifests, &spec.destination.namespace, &cluster, &name).await.map_err(unread)?;
    let rules = LiveRules { application: &tracking.instance_name, ignored: &ignored, ownership: &ownership };
    let found = compare_live(&pairs, cluster.removable(&tracking.instance_name), &rules);
    for warning in &found.warnings {
        tracing::warn!("{name}: {}", warning.message);
    }
    for left_out in &found.left_out {
        tracing::info!("{name}: left out: {left_out}");
    }
    Ok(found.comparison)
}

fn not_ignored(stored: &StoredApplication, error: &IgnoreError) -> Failure {
    let index = error.index.to_string();
    let entry = stored.node.at(["spec", "ignoreDifferences", &index, error.field]);
    let place = Place {
        position: entry.map(|entry| entry.position).or(stored.place.position),
        ..stored.place.clone()
    };
    Failure::bad_input(format!("application {} ({place}): {}", stored.full_name(), chain(error)))
}

/// Finds the live object of each one that was rendered.
async fn pairs(
    manifests: Vec<Manifest>,
    destination: &str,
    cluster: &LiveCluster,
    application: &str,
) -> Result<Vec<LivePair>, ClusterError> {
    let scopes = cluster.scopes(&manifests);
    let mut pairs = Vec::with_capacity(manifests.len());
    for manifest in manifests {
        let namespaces = possible_namespaces(&manifest, destination, &scopes);
        let mut found = None;
        for &namespace in &namespaces {
            let key = ObjectKey { namespace: namespace.to_owned(), ..manifest.key() };
            if let Some(live) = cluster.reader.get(&key).await? {
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
            tracing::warn!(
                "{application}: not known whether {kind}.{group} has a namespace, so that {} is taken to be in {namespace}; its \
                 CustomResourceDefinition in the cluster state tells",
                manifest.name()
            );
        }
        pairs.push(LivePair {
            rendered: manifest.in_namespace(&namespace),
            live: found.map(|(_, live)| live),
        });
    }
    Ok(pairs)
}

fn no_cluster(stored: &StoredApplication, destination: &Destination, clusters: &LiveClusters) -> Failure {
    let (cluster, option) = clusters::named(destination);
    Failure::bad_input(format!(
        "application {} ({}): no --cluster-state stands for its destination {cluster:?}, only for {}",
        stored.full_name(),
        stored.place,
        clusters.names()
    ))
    .hint(format!("--cluster-state {option} names a folder of that cluster's live objects"))
}
