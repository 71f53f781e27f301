//! Reviewing a change of parameters before it is saved: what is written, and what that does to the manifests.

use std::path::Path;

use super::change::{ParameterRequest, ParameterSource};
use super::diff::{SavedManifests, UnsavedChange, compare_with};
use super::edit::{EditOptions, PlannedEdits, WriteTo, plan_edit};
use super::{SourceChoice, find_application};
use crate::application_diff::{ApplicationDiff, Presence};
use crate::context::workspace::Workspace;
use crate::error::{Remedy, ServiceError};
use crate::warning::Warning;

/// A change of one application's parameters, planned and rendered. Nothing is written yet.
#[derive(Debug)]
pub struct Review {
    /// The changed parameters.
    pub change: UnsavedChange,
    /// The effect on the manifests.
    pub difference: ApplicationDiff,
    /// Where the change is written.
    pub write_to: WriteTo,
    /// The files to write, or why nothing can be written.
    pub edits: Result<PlannedEdits, ServiceError>,
    /// Warnings about the application, and about the change at the place where it is written.
    pub warnings: Vec<Warning>,
}

/// An application as it is saved, with the parameters that its plugin announces: what a change begins with, and is compared with.
#[derive(Debug)]
pub struct SavedApplication {
    subject: ParameterSource,
    warnings: Vec<Warning>,
    manifests: SavedManifests,
}

impl SavedApplication {
    /// Finds an application and the chosen source, and asks its plugin.
    pub async fn find(
        workspace: &Workspace,
        application: &str,
        choice: &SourceChoice,
    ) -> Result<Self, ServiceError> {
        let (stored, warnings) = find_application(workspace, application)?;
        let subject = Box::pin(ParameterSource::find(workspace, stored, choice, false)).await?;
        Ok(Self { subject, warnings, manifests: SavedManifests::default() })
    }
}

/// Plans a change of one application's parameters and renders its effect. The manifests of the saved application are rendered once.
///
/// Without `write_to` the change is written where the values are effective: into the inline values of a chart if these set one of them, else
/// into the Application's parameters; into an override file if something else owns the Application.
pub async fn review(
    workspace: &Workspace,
    saved: &SavedApplication,
    request: &ParameterRequest,
    write_to: Option<WriteTo>,
) -> Result<Review, ServiceError> {
    let SavedApplication { subject, manifests, .. } = saved;
    let mut warnings = saved.warnings.clone();
    let host = workspace.service.host();
    let change = UnsavedChange::of(subject, request, host, Vec::new())?;
    let plan = |write_to| {
        let options = EditOptions { write_to, ..EditOptions::default() };
        plan_edit(subject, &options, request, host).and_then(PlannedEdits::of)
    };
    let place = write_to.unwrap_or_default();
    let edits = plan(place);
    let other = match &edits {
        _ if write_to.is_some() => None,
        Err(error) => (error.remedy() == Some(&Remedy::WriteOverride)).then_some(WriteTo::Override),
        Ok(planned) => hides_inline_value(planned).then_some(WriteTo::Values),
    };
    // If the other place is impossible, the first result stays: its error names the owner.
    let other = other.and_then(|place| Some((place, plan(place).ok()?)));
    let (write_to, edits) = other.map_or((place, edits), |(place, planned)| (place, Ok(planned)));
    let is_unknown = write_to == WriteTo::Override && edits.as_ref().is_ok_and(changes_a_file);
    let difference = if is_unknown {
        let message = "the effect of changing an override file that exists is not known before it is saved";
        let error = ServiceError::invalid_input(message);
        ApplicationDiff::new(&change.stored, Presence::Both, Err(error))
    } else {
        Box::pin(compare_with(workspace, &change, manifests)).await
    };
    match &edits {
        Ok(planned) => {
            let of_edits = planned.edits.iter().flat_map(|edit| &edit.warnings);
            warnings.extend(subject.warnings.iter().chain(of_edits).cloned());
        }
        Err(_) => warnings.extend(change.warnings.iter().cloned()),
    }
    Ok(Review { change, difference, write_to, edits, warnings })
}

/// Whether files are changed that exist already. Rendering would merge the saved ones over the unsaved values.
fn changes_a_file(planned: &PlannedEdits) -> bool {
    planned.files().iter().any(|file| file.before().is_some())
}

fn hides_inline_value(planned: &PlannedEdits) -> bool {
    let mut warnings = planned.edits.iter().flat_map(|edit| &edit.warnings);
    warnings.any(|warning| warning.remedy() == Some(&Remedy::WriteValues))
}

impl Review {
    /// Returns a hash of everything that a user sees of the change: the files before and after, and the effect on the manifests. It differs if
    /// any of these has changed since.
    pub fn digest(&self) -> String {
        let mut hasher = blake3::Hasher::new();
        let mut add = |bytes: &[u8]| {
            hasher.update(&(bytes.len() as u64).to_le_bytes());
            hasher.update(bytes);
        };
        match &self.edits {
            Ok(edits) => edits.files().iter().for_each(|file| {
                add(file.path().as_os_str().as_encoded_bytes());
                add(file.before().unwrap_or_default());
                add(file.after());
            }),
            Err(error) => add(error.message().as_bytes()),
        }
        match &self.difference.result {
            Ok(comparison) => {
                add(&comparison.equal.to_le_bytes());
                for object in &comparison.objects {
                    add(object.key.to_string().as_bytes());
                    add(object.change.word().as_bytes());
                    add(object.change.hunks(0).as_bytes());
                }
            }
            Err(error) => add(error.message().as_bytes()),
        }
        hasher.finalize().to_hex().to_string()
    }

    /// Writes the change if its digest is still that of the review that a user has seen, and reports each file.
    pub fn save(self, digest: &str, written: impl FnMut(&Path)) -> Result<(), ServiceError> {
        if self.digest() != digest {
            return Err(ServiceError::conflict(format!(
                "{}: its files or manifests changed after the review; review the change again",
                self.change.stored.full_name()
            )));
        }
        self.edits?.write(written)
    }
}
