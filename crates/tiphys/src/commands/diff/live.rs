//! Rendered against live.

use std::process::ExitCode;
use std::sync::Arc;

use tiphys_api::Destination;
use tiphys_cluster::{ClusterReader, ClusterStateArgument, Clusters, FolderCluster};
use tiphys_engine::diff::{Comparison, LivePair, compare_live};
use tiphys_engine::{Scopes, set_namespace};
use tiphys_render::RenderedApplication;
use tiphys_store::StoredApplication;

use super::output::{self, ApplicationDiff, Form, Sides};
use crate::applications::{self, Chosen};
use crate::args::{CommonArgs, DiffArgs};
use crate::context::{self, Wishes};
use crate::failure::{Failure, chain};
use crate::settings::Host;

/// Renders applications and compares each with what is live in its destination.
pub(super) async fn run(
    common: &CommonArgs,
    args: &DiffArgs,
    form: Form,
    host: &Host,
) -> Result<ExitCode, Failure> {
    let clusters = clusters(common, host)?;
    let place = context::workplace(common, host, context::resources(common)?, Wishes::default())?;
    let Chosen { applications, worst } = applications::chosen(&place, &args.applications, "compare")?;
    let comparing = async {
        let rendered = applications::render_all(&place, &applications, common, host).await;
        let mut compared = Vec::with_capacity(rendered.len());
        for (stored, result) in rendered {
            let result = match result {
                Ok(rendered) => compare(&stored, rendered, &clusters).await,
                Err(error) => Err(Failure::of_application(&stored, &error)),
            };
            let metadata = &stored.application.metadata;
            compared.push(ApplicationDiff {
                namespace: metadata.namespace.clone(),
                name: metadata.name.clone(),
                result,
            });
        }
        compared
    };
    let compared = place.run(comparing).await?;
    let sides = Sides { before: "live".to_owned(), after: "rendered".to_owned() };
    output::finish(&compared, &sides, form, &args.shown, worst, host)
}

/// The folders of `--cluster-state`.
fn clusters(common: &CommonArgs, host: &Host) -> Result<Clusters, Failure> {
    let mut clusters = Clusters::default();
    for text in &common.cluster_state {
        let argument = ClusterStateArgument::parse(text);
        let folder = FolderCluster::load(&host.absolute(&argument.folder))
            .map_err(|error| Failure::bad_input(format!("--cluster-state: {}", chain(&error))))?;
        clusters.insert(&argument.cluster, Arc::new(folder));
    }
    Ok(clusters)
}

async fn compare(
    stored: &StoredApplication,
    mut rendered: RenderedApplication,
    clusters: &Clusters,
) -> Result<Comparison, Failure> {
    let name = stored.full_name();
    for warning in &rendered.warnings {
        tracing::warn!("{name}: {warning}");
    }
    let destination = &stored.application.spec.destination;
    let cluster = clusters.of(destination).ok_or_else(|| no_cluster(stored, destination))?;
    if !destination.namespace.is_empty() {
        let scopes = Scopes::of(&rendered.manifests);
        for warning in set_namespace(&mut rendered.manifests, &destination.namespace, &scopes) {
            tracing::warn!("{name}: {}", warning.message);
        }
    }
    let mut pairs = Vec::with_capacity(rendered.manifests.len());
    for manifest in rendered.manifests {
        let live = read(&**cluster, &manifest)
            .await
            .map_err(|error| Failure::rendering(format!("application {name}: {}", chain(&error))))?;
        pairs.push(LivePair { rendered: manifest, live });
    }
    Ok(compare_live(&pairs, &[]))
}

async fn read(
    cluster: &dyn ClusterReader,
    manifest: &tiphys_engine::Manifest,
) -> Result<Option<tiphys_engine::Manifest>, tiphys_cluster::ClusterError> {
    cluster.get(&manifest.key()).await
}

fn no_cluster(stored: &StoredApplication, destination: &Destination) -> Failure {
    let cluster = if destination.server.is_empty() { &destination.name } else { &destination.server };
    Failure::bad_input(format!(
        "application {} ({}): no --cluster-state stands for its destination {cluster:?}",
        stored.full_name(),
        stored.place
    ))
    .hint(format!("--cluster-state {cluster}=DIR names a folder of that cluster's live objects"))
}
