//! Rendering many applications.

mod inputs;
mod self_references;
mod shared_objects;

use std::pin::pin;
use std::sync::Arc;

use futures_util::{StreamExt, stream};
use tiphys_engine::{Scopes, set_namespace, skip_secrets};
use tiphys_render::{RenderedApplication, Work};
use tiphys_store::StoredApplication;

use self::self_references::self_references;
use self::shared_objects::SharedObjects;
use crate::context::options::StepCallback;
use crate::context::workspace::Workspace;
use crate::error::ServiceError;

pub use inputs::{ApplicationInputs, inputs};

/// Changes to the manifests that Argo CD would deploy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RenderAdjustments {
    /// Sets the destination's namespace on namespaced objects without one.
    pub set_namespace: bool,
    /// Removes Secrets.
    pub skip_secrets: bool,
}

/// Renders applications concurrently and passes each result to `handle`, in the order of the applications. Results are not collected,
/// since all manifests together may not fit in memory.
pub async fn render(
    workspace: &Workspace,
    applications: &[Arc<StoredApplication>],
    adjustments: RenderAdjustments,
    progress: StepCallback<'_>,
    mut handle: impl FnMut(Arc<StoredApplication>, Result<RenderedApplication, ServiceError>),
) {
    let adjusted = async |stored: Arc<StoredApplication>, mut result: Result<RenderedApplication, _>| {
        if let Ok(rendered) = &mut result {
            adjust(rendered, &stored, adjustments);
        }
        handle(stored, result);
    };
    workspace.drained(render_each(workspace, applications, progress, adjusted)).await;
}

/// Renders applications concurrently and passes each result to `handle`, in the order of the applications. The slots limit the number of
/// plugin runs. Twice as many applications are in progress, so that sources are read meanwhile.
pub(crate) async fn render_each(
    workspace: &Workspace,
    applications: &[Arc<StoredApplication>],
    progress: StepCallback<'_>,
    mut handle: impl AsyncFnMut(Arc<StoredApplication>, Result<RenderedApplication, ServiceError>),
) {
    let rendering = stream::iter(applications).map(|stored| async move {
        let result = workspace.renderer.render(&stored.application).await;
        progress(&stored.full_name());
        let result = result.map_err(|error| ServiceError::application(stored, error));
        let permitted = async {
            let mut rendered = result?;
            let Workspace { projects, clusters, .. } = workspace;
            let mut reported = projects.check_rendered(clusters, stored, &rendered).await?;
            let look_ups = rendered.sources.iter().flat_map(|source| &source.look_ups);
            reported.extend(self_references(&stored.application, look_ups, &rendered.manifests));
            rendered.warnings.extend(reported);
            Ok(rendered)
        };
        (Arc::clone(stored), permitted.await)
    });
    let mut results = pin!(rendering.buffered(workspace.service.jobs() * 2));
    let mut shared = SharedObjects::default();
    while let Some((stored, mut result)) = results.next().await {
        if let Ok(rendered) = &mut result {
            let destination = &stored.application.spec.destination;
            let cluster = workspace.projects.cluster(destination);
            let messages =
                shared.add(cluster, &destination.namespace, &stored.full_name(), &rendered.manifests);
            let redacted = messages.iter().map(|message| rendered.redactor.redact(message).into_owned());
            rendered.warnings.extend(redacted);
        }
        handle(stored, result).await;
    }
}

fn adjust(rendered: &mut RenderedApplication, stored: &StoredApplication, adjustments: RenderAdjustments) {
    if adjustments.set_namespace {
        let scopes = Scopes::of(&rendered.manifests);
        let namespace = &stored.application.spec.destination.namespace;
        if !namespace.is_empty() {
            let warnings = set_namespace(&mut rendered.manifests, namespace, &scopes);
            rendered.warnings.extend(warnings.into_iter().map(|warning| warning.message));
        }
    }
    if adjustments.skip_secrets {
        rendered.manifests = skip_secrets(std::mem::take(&mut rendered.manifests));
    }
}

/// The environment of a plugin's commands for one source.
#[derive(Clone, Debug)]
pub struct PluginEnvironment {
    /// The application's full name.
    pub application: String,
    /// Position of the source, from 1.
    pub source: usize,
    /// The plugin's name.
    pub plugin: String,
    /// Names and values.
    pub variables: Vec<(String, String)>,
}

/// Returns the environments of the plugins of all sources. Only the plugins' discovery runs.
pub async fn environments(
    workspace: &Workspace,
    applications: &[Arc<StoredApplication>],
) -> Result<Vec<PluginEnvironment>, ServiceError> {
    let preparing = async {
        let mut found = Vec::new();
        for stored in applications {
            let prepared = workspace.renderer.prepare_all(&stored.application).await;
            let prepared = prepared.map_err(|error| ServiceError::application(stored, error))?;
            for one in prepared {
                if let Work::Plugin { chosen, request, .. } = &one.work {
                    found.push(PluginEnvironment {
                        application: stored.full_name(),
                        source: one.position,
                        plugin: chosen.plugin.name().to_owned(),
                        variables: chosen.plugin.environment(request),
                    });
                }
            }
        }
        Ok(found)
    };
    workspace.drained(preparing).await
}
