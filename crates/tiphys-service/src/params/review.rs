//! Reviewing a change of parameters before it is saved: what is written, and what that does to the manifests.

use std::path::Path;

use blake3::{Hash, Hasher, KEY_LEN};

use super::change::{ParameterRequest, ParameterSource};
use super::diff::{SavedManifests, UnsavedChange, compare_with};
use super::edit::{EditOptions, PlannedEdits, WriteTo, plan_edit};
use super::{SourceChoice, find_application};
use crate::application_diff::ApplicationDiff;
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
    /// A hash of the manifests of both sides.
    manifests: Hash,
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
/// Without `write_to` each value is written where it is in effect; if something else owns the Application, all into an override file.
pub async fn review(
    workspace: &Workspace,
    saved: &SavedApplication,
    request: &ParameterRequest,
    write_to: Option<WriteTo>,
) -> Result<Review, ServiceError> {
    let SavedApplication { subject, manifests, .. } = saved;
    let mut warnings = saved.warnings.clone();
    let host = workspace.service.host();
    let plan = |write_to| {
        let options = EditOptions { write_to, ..EditOptions::default() };
        plan_edit(subject, &options, request, host).and_then(PlannedEdits::of)
    };
    let place = write_to.unwrap_or(WriteTo::Effective);
    let edits = plan(place);
    let is_owned = edits.as_ref().is_err_and(|error| error.remedy() == Some(&Remedy::WriteOverride));
    // If the override file is impossible, the first result stays: its error names the owner.
    let other = if write_to.is_none() && is_owned { plan(WriteTo::Override).ok() } else { None };
    let (write_to, edits) = other.map_or((place, edits), |planned| (WriteTo::Override, Ok(planned)));
    let of_override = edits.iter().flat_map(|planned| &planned.edits).find(|_| write_to == WriteTo::Override);
    let change = match of_override {
        Some(planned) => UnsavedChange::of_override(subject, planned),
        None => UnsavedChange::of(subject, request, write_to.values(), host, Vec::new())?,
    };
    let (difference, manifests) = Box::pin(compare_with(workspace, &change, manifests)).await;
    match &edits {
        Ok(planned) => {
            let of_edits = planned.edits.iter().flat_map(|edit| &edit.warnings);
            warnings.extend(subject.warnings.iter().chain(of_edits).cloned());
        }
        Err(_) => warnings.extend(change.warnings.iter().cloned()),
    }
    Ok(Review { change, difference, manifests, write_to, edits, warnings })
}

impl Review {
    /// Returns a hash of the change: of the files before and after, and of all manifests before and after. It differs if any of these has
    /// changed since. With another key it is another one, so that secret manifests cannot be guessed from it.
    pub fn digest(&self, key: &[u8; KEY_LEN]) -> String {
        let mut hasher = Hasher::new_keyed(key);
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
        add(self.manifests.as_bytes());
        if let Err(error) = &self.difference.result {
            add(error.message().as_bytes());
        }
        hasher.finalize().to_hex().to_string()
    }

    /// Writes the change if its digest is still that of the review that a user has seen, and reports each file.
    pub fn save(
        self,
        key: &[u8; KEY_LEN],
        digest: &str,
        written: impl FnMut(&Path),
    ) -> Result<(), ServiceError> {
        if self.digest(key) != digest {
            return Err(ServiceError::conflict(format!(
                "{}: its files or manifests changed after the review; review the change again",
                self.change.stored.full_name()
            )));
        }
        self.edits?.write(written)
    }
}
