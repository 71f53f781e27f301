//! The manifests of what a preview calls added, removed or changed.

use std::sync::Arc;

use futures_util::{StreamExt, stream};
use serde_json::Value;
use tiphys_engine::Deletion;
use tiphys_engine::appset::{Action, Change, PlannedApplication};
use tiphys_render::RenderedApplication;
use tiphys_store::{FileName, Place, StoredApplication};
use tiphys_yaml::read_json;

use super::preview::{Previews, SetPreview};
use crate::application_diff::{ApplicationDiff, Presence, compare_rendered};
use crate::context::options::StepCallback;
use crate::context::workspace::Workspace;
use crate::error::{ServiceError, chain};
use crate::warning::Warning;

/// Renders the Applications of previews that differ, as they are and as they would be, and compares their manifests.
pub async fn compare_previews(
    workspace: &Workspace,
    previews: &Previews,
    progress: StepCallback<'_>,
) -> Vec<ApplicationDiff> {
    let planned =
        previews.sets.iter().flat_map(|set| set.plan.applications.iter().map(move |one| (set, one)));
    let differing = planned.filter(|(_, one)| one.change != Change::Unchanged);
    let comparing = stream::iter(differing)
        .map(|(set, planned)| async move {
            let diff = Box::pin(compared(workspace, set, planned)).await;
            progress(&diff.full_name());
            diff
        })
        .buffered(workspace.service.jobs() * 2)
        .collect();
    workspace.drained(comparing).await
}

/// Compares the manifests of one Application.
async fn compared(workspace: &Workspace, set: &SetPreview, planned: &PlannedApplication) -> ApplicationDiff {
    let presence = match planned.change {
        Change::Added => Presence::Added,
        Change::Removed => Presence::Removed,
        Change::Changed | Change::Unchanged | Change::Invalid => Presence::Both,
    };
    let mut warnings = Vec::new();
    let comparison = async {
        if let Some(error) = &planned.error {
            let message = format!("application {}/{}: {error}", planned.namespace, planned.name);
            return Err(ServiceError::rendering(message));
        }
        let before = match (&planned.before, planned.change) {
            (None, _) | (_, Change::Added) => None,
            (Some(before), _) => {
                let stored = document(before)?;
                Some(rendered(workspace, &stored, &mut Vec::new()).await?)
            }
        };
        let after = match (&planned.after, planned.change) {
            (None, _) | (_, Change::Removed) => None,
            (Some(after), _) => {
                let stored = set.stored(planned, after)?;
                warnings.extend(workspace.projects.check_application(&stored)?);
                Some(rendered(workspace, &stored, &mut warnings).await?)
            }
        };
        Ok(compare_rendered(before.as_ref(), after.as_ref()))
    };
    let result = comparison.await;
    let existing = planned.before.as_ref().and_then(|before| document(before).ok());
    let deletion = match &planned.action {
        Action::Delete { finalizers_patch: Some(_) } => Deletion::NonCascading,
        Action::None if planned.change == Change::Removed => Deletion::NotPermitted,
        _ => existing.map(|existing| Deletion::of(&existing.node)).unwrap_or_default(),
    };
    ApplicationDiff {
        namespace: planned.namespace.clone(),
        name: planned.name.clone(),
        presence,
        deletion,
        settings: Vec::new(),
        warnings,
        base_error: None,
        result,
    }
}

/// Renders an Application within the rules of its project.
async fn rendered(
    workspace: &Workspace,
    stored: &StoredApplication,
    warnings: &mut Vec<Warning>,
) -> Result<RenderedApplication, ServiceError> {
    let mut stored = [Arc::new(stored.clone())];
    workspace.origins.allow_file_repositories(&mut stored);
    let [stored] = stored;
    let rendered = workspace.renderer.render(&stored.application).await;
    let rendered = rendered.map_err(|error| ServiceError::application(&stored, error))?;
    warnings.extend(Warning::all_of_application(&stored, &rendered.warnings));
    let reported = workspace.projects.check_rendered(&workspace.clusters, &stored, &rendered).await?;
    warnings.extend(Warning::all_of_application(&stored, reported));
    Ok(rendered)
}

/// Returns an existing Application, which has no file.
fn document(value: &Value) -> Result<StoredApplication, ServiceError> {
    let invalid =
        |message: String| ServiceError::invalid_input(format!("an existing Application: {message}"));
    let node = read_json(value.to_string().as_bytes()).map_err(|error| invalid(error.to_string()))?;
    let name = value["metadata"]["name"].as_str().unwrap_or_default();
    let file = FileName::past(&format!("Application {name}"));
    StoredApplication::detached(node, Place { file, position: None }).map_err(|error| invalid(chain(&error)))
}
