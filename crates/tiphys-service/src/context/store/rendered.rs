//! Stores that are rendered: a kustomization, or a chart.

use std::path::{Path, PathBuf};

use tiphys_engine::{SourceType, TrackingMethod};
use tiphys_model::resources::{Application, ApplicationSource, DEFAULT_CONTROL_PLANE_NAMESPACE};
use tiphys_source::{CopyOrigin, LocalCopy};
use tiphys_store::{FileName, Store as Resources, StoreInput};
use tokio_util::sync::CancellationToken;

use crate::context::base::past::work_trees;
use crate::context::options::Setting;
use crate::context::plugins;
use crate::context::service::Service;
use crate::context::workspace::{Workspace, WorkspaceOptions};
use crate::error::{Input, ServiceError};

/// The repository's URL, which only the local directory replaces.
const REPOSITORY: &str = "https://repository.invalid/store.git";

/// The name of the application that renders the store: a chart's release.
const APPLICATION: &str = "store";

/// Renders a directory with the files of its work tree.
pub(crate) async fn of_directory(
    service: &Service,
    dir: &Path,
    cancel: &CancellationToken,
) -> Result<StoreInput, ServiceError> {
    let absolute = service.host().absolute(dir);
    let name = FileName::directory(dir);
    let (top, path) = match work_trees("", &absolute)?.pop() {
        Some(place) => (place.top, place.path.as_str().to_owned()),
        None => (absolute, String::new()),
    };
    let text = manifests(service, top, &path, &name, cancel).await?;
    Ok(StoreInput::Rendered(name, text))
}

/// Renders a directory of a repository without parameters, by a plugin that is part of the program: a change must not choose what runs.
/// Returns its manifests as YAML.
pub(crate) async fn manifests(
    service: &Service,
    repository: PathBuf,
    path: &str,
    name: &FileName,
    cancel: &CancellationToken,
) -> Result<String, ServiceError> {
    let options = service.options();
    let copy = LocalCopy {
        url: Some(REPOSITORY.to_owned()),
        revision: None,
        dir: repository,
        origin: CopyOrigin::Caller,
    };
    let needs = WorkspaceOptions {
        local_copies: vec![copy],
        plugins: Some(plugins::built_in(options)?.into_iter().map(|named| named.plugin).collect()),
        tracking: Some(TrackingMethod::None),
        ..WorkspaceOptions::default().cancelled_by(cancel.clone())
    };
    let workspace = Workspace::with_resources(service, Resources::default(), needs)?;
    let mut application = Application::default();
    APPLICATION.clone_into(&mut application.metadata.name);
    let namespace = options.argocd_namespace.as_deref().unwrap_or(DEFAULT_CONTROL_PLANE_NAMESPACE);
    namespace.clone_into(&mut application.spec.destination.namespace);
    application.spec.source = Some(ApplicationSource {
        repo_url: REPOSITORY.to_owned(),
        path: if path.is_empty() { "." } else { path }.to_owned(),
        ..ApplicationSource::default()
    });
    let rendered = workspace.drained(Box::pin(workspace.renderer.render(&application))).await;
    let shown = name.location().map_or_else(|| name.to_string(), |dir| dir.display().to_string());
    let rendered = rendered.map_err(|error| ServiceError::trial(Path::new(&shown), &error))?;
    if rendered.sources.iter().any(|source| source.source_type == SourceType::Directory) {
        let message = format!(
            "{shown}: no kustomization and no Chart.yaml; name a folder of Applications as the store"
        );
        return Err(ServiceError::invalid_input(message).of_input(Input::Setting(&Setting::STORE_RENDER.key)));
    }
    for warning in &rendered.warnings {
        tracing::warn!("{shown}: {warning}");
    }
    let texts =
        rendered.manifests.into_iter().map(|manifest| tiphys_yaml::write_yaml(&manifest.into_value()));
    Ok(texts.collect::<Vec<_>>().join("---\n"))
}
