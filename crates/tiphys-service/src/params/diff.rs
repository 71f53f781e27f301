//! The effect of unsaved parameter values on the manifests.

use std::sync::Arc;

use blake3::{Hash, Hasher};
use futures_util::future::join;
use serde_json::json;
use tiphys_model::params::ParameterChange;
use tiphys_model::resources::{Application, ApplicationSource};
use tiphys_render::RenderedApplication;
use tiphys_store::StoredApplication;
use tokio::sync::OnceCell;

use super::change::{ParameterRequest, ParameterSource, ValuePlace};
use super::edit::PlannedEdit;
use super::{SourceChoice, find_application};
use crate::application_diff::{ApplicationDiff, Presence, compare_rendered};
use crate::context::host::Host;
use crate::context::workspace::Workspace;
use crate::error::{Remedy, ServiceError};
use crate::warning::Warning;

/// An application with unsaved parameter values.
#[derive(Debug)]
pub struct UnsavedChange {
    /// The application.
    pub stored: Arc<StoredApplication>,
    /// The changed parameters.
    pub changes: Vec<ParameterChange>,
    /// Warnings about the application and the change.
    pub warnings: Vec<Warning>,
    changed: Application,
    /// The position of the source into which the override files are merged already.
    merged: Option<usize>,
}

impl UnsavedChange {
    /// Applies a request to an application in memory. With `allow_unannounced` the plugin is not asked.
    pub async fn plan(
        workspace: &Workspace,
        application: &str,
        choice: &SourceChoice,
        request: &ParameterRequest,
        allow_unannounced: bool,
    ) -> Result<Self, ServiceError> {
        let (stored, warnings) = find_application(workspace, application)?;
        let finding = ParameterSource::find(workspace, stored, choice, allow_unannounced);
        let subject = Box::pin(finding).await?;
        Self::of(&subject, request, ValuePlace::Parameters, workspace.service.host(), warnings)
    }

    /// Applies a request to a source in memory. `warnings` are those about the application so far.
    pub(super) fn of(
        subject: &ParameterSource,
        request: &ParameterRequest,
        place: ValuePlace,
        host: &Host,
        mut warnings: Vec<Warning>,
    ) -> Result<Self, ServiceError> {
        let stored = Arc::clone(&subject.stored);
        let change = subject.change_document(request, place, host)?;
        let changed = with_source(&stored.application, subject.position, change.after);
        warnings.extend(subject.warnings.iter().cloned());
        // Nothing is written, so the place does not matter.
        let is_about_effect = |remedy: &Remedy| *remedy != Remedy::WriteValues;
        warnings.extend(change.warnings.into_iter().map(|warning| {
            let remedy = warning.remedy().cloned().filter(is_about_effect);
            warning.with_remedy(remedy)
        }));
        Ok(Self { stored, changes: change.changes, warnings, changed, merged: None })
    }
}

impl UnsavedChange {
    /// Returns a planned change of a source's override file.
    pub(super) fn of_override(subject: &ParameterSource, planned: &PlannedEdit) -> Self {
        let stored = Arc::clone(&subject.stored);
        let changed = with_source(&stored.application, subject.position, planned.after.clone());
        Self {
            stored,
            changes: planned.changes.clone(),
            warnings: Vec::new(),
            changed,
            merged: Some(subject.position),
        }
    }
}

/// The manifests of an application as it is saved. They are rendered once.
#[derive(Debug, Default)]
pub(super) struct SavedManifests(OnceCell<RenderedApplication>);

/// Renders an application with its saved and with its unsaved parameters and compares the manifests.
pub async fn compare_unsaved(workspace: &Workspace, change: &UnsavedChange) -> ApplicationDiff {
    compare_with(workspace, change, &SavedManifests::default()).await.0
}

/// Renders an application with its unsaved parameters and compares the manifests with the saved ones, which are rendered at the same time if
/// they are not known. Also returns a hash of the
/// manifests of both sides.
pub(super) async fn compare_with(
    workspace: &Workspace,
    change: &UnsavedChange,
    saved: &SavedManifests,
) -> (ApplicationDiff, Hash) {
    let stored = &change.stored;
    let rendering = async {
        let before = saved.0.get_or_try_init(|| workspace.renderer.render(&stored.application));
        let after = workspace.renderer.render_merged(&change.changed, change.merged);
        join(Box::pin(before), Box::pin(after)).await
    };
    let (before, after) = workspace.drained(rendering).await;
    let (mut warnings, mut hasher) = (Vec::new(), Hasher::new());
    let compared = before.and_then(|before| Ok((before, after?))).map(|(before, after)| {
        let new = after.warnings.iter().filter(|warning| !before.warnings.contains(warning));
        let all = before.warnings.iter().chain(new);
        warnings.extend(Warning::all_of_application(stored, all));
        for manifest in before.manifests.iter().chain(&after.manifests) {
            hasher.update(json!(manifest.object()).to_string().as_bytes());
        }
        compare_rendered(Some(before), Some(&after))
    });
    let result = compared.map_err(|error| ServiceError::application(stored, error));
    let difference = ApplicationDiff { warnings, ..ApplicationDiff::new(stored, Presence::Both, result) };
    (difference, hasher.finalize())
}

/// Returns the application with another source at a position, from 1.
fn with_source(application: &Application, position: usize, source: ApplicationSource) -> Application {
    let mut changed = application.clone();
    let place = changed.spec.sources.get_mut(position - 1).or(changed.spec.source.as_mut());
    if let Some(place) = place {
        *place = source;
    }
    changed
}
