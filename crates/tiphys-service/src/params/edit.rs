//! Changes of the file of an Application, or of an override file.

mod document;
mod override_file;

use std::path::Path;
use std::sync::Arc;

use tiphys_engine::Owner;
use tiphys_engine::diff::{DEFAULT_CONTEXT_LINES, unified};
use tiphys_params::ParameterChange;
use tiphys_store::{FileEdit, FileEditError, FileWriteError, StoredApplication};

use super::change::{ParameterRequest, ParameterSource, SourceChange};
use super::{SourceChoice, find_application};
use crate::error::{ServiceError, chain};
use crate::host::Host;
use crate::workspace::Workspace;

/// Where a change is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WriteTo {
    /// The Application's own file.
    #[default]
    Application,
    /// `.argocd-source-<app>.yaml` in the application's directory of the local repository.
    Override,
}

/// How a change is made.
#[derive(Clone, Debug, Default)]
pub struct EditOptions {
    /// The expected version of the file.
    pub if_version: Option<String>,
    /// Where the change is written.
    pub write_to: WriteTo,
    /// Whether to accept all names without asking the plugin.
    pub allow_unannounced: bool,
}

/// A change that is not written yet.
#[derive(Debug)]
pub struct PlannedEdit {
    /// The application.
    pub stored: Arc<StoredApplication>,
    /// The requested parameters, also those that have the requested value already.
    pub changes: Vec<ParameterChange>,
    /// Warnings about the change.
    pub warnings: Vec<String>,
    edit: Option<FileEdit>,
}

/// The parts of a planned change.
struct Plan {
    change: SourceChange,
    /// None if nothing changes.
    edit: Option<FileEdit>,
    warnings: Vec<String>,
}

/// Plans a change of an application's parameters. Nothing is written.
pub async fn plan_edit(
    workspace: &Workspace,
    host: &Host,
    application: &str,
    choice: &SourceChoice,
    options: &EditOptions,
    request: &ParameterRequest,
) -> Result<PlannedEdit, ServiceError> {
    let stored = find_application(workspace, application)?;
    if options.write_to == WriteTo::Application {
        require_file(&stored)?;
        require_version(&stored, options)?;
    }
    let finding = ParameterSource::find(workspace, Arc::clone(&stored), choice, options.allow_unannounced);
    let subject = Box::pin(finding).await?;
    let Plan { change, edit, warnings } = match options.write_to {
        WriteTo::Application => document::plan(&subject, request, host)?,
        WriteTo::Override => override_file::plan(&subject, request, options, host)?,
    };
    let warnings = change.applied.warnings.into_iter().chain(warnings).collect();
    Ok(PlannedEdit { stored, changes: change.applied.changes, warnings, edit })
}

impl PlannedEdit {
    /// Returns the path of the file that changes. None if nothing changes.
    pub fn path(&self) -> Option<&Path> {
        self.edit.as_ref().map(FileEdit::path)
    }

    /// Returns the change as a patch that `patch -p0` and `git apply -p0` accept in the current directory, if the file is below it.
    pub fn patch(&self, host: &Host) -> Option<String> {
        let edit = self.edit.as_ref()?;
        let current = host.absolute("");
        let path = edit.path().strip_prefix(&current).unwrap_or(edit.path()).display().to_string();
        // A file name with blanks ends at a tab.
        let end = if path.contains(char::is_whitespace) { "\t" } else { "" };
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let before = edit.before().map(text);
        let old = if before.is_some() { format!("{path}{end}") } else { "/dev/null".to_owned() };
        let hunks = unified(&before.unwrap_or_default(), &text(edit.after()), DEFAULT_CONTEXT_LINES);
        Some(format!("--- {old}\n+++ {path}{end}\n{hunks}"))
    }

    /// Writes the file, unless it was changed since it was read.
    pub fn write(self) -> Result<(), ServiceError> {
        match self.edit {
            Some(edit) => edit.write().map_err(|error| write_error(&error)),
            None => Ok(()),
        }
    }
}

/// Refuses an Application that was not read from a file, and one that a controller or another Application owns.
fn require_file(stored: &StoredApplication) -> Result<(), ServiceError> {
    let name = stored.full_name();
    let elsewhere = "--write-to override writes the change into the repository's folder (--repo) instead";
    if let Some(owner) = Owner::of(&stored.node) {
        return Err(ServiceError::invalid_input(format!(
            "application {name} is made by {owner}: what is changed in the Application itself is undone; change the {} instead",
            match owner {
                Owner::ApplicationSet(_) => "ApplicationSet's template",
                Owner::Application(_) => "file that it is made from",
            }
        ))
        .with_hint(elsewhere));
    }
    if stored.place.file.path().is_none() {
        return Err(ServiceError::invalid_input(format!(
            "application {name} came through standard input, so there is no file to write; name its file with --store"
        ))
        .with_hint(elsewhere));
    }
    Ok(())
}

fn require_version(stored: &StoredApplication, options: &EditOptions) -> Result<(), ServiceError> {
    let Some(wanted) = &options.if_version else { return Ok(()) };
    match stored.version().map(|version| version.to_string()) {
        Some(version) if version == *wanted => Ok(()),
        Some(version) => Err(ServiceError::conflict(format!(
            "{} is of version {version}, not {wanted}: it was changed; look at it again and repeat",
            stored.place.file
        ))),
        None => {
            Err(ServiceError::invalid_input("--if-version: what comes through standard input has no version"))
        }
    }
}

fn edit_error(error: &FileEditError) -> ServiceError {
    match error {
        FileEditError::Conflict { .. } => ServiceError::conflict(chain(error)),
        FileEditError::Read { .. } => ServiceError::rendering(chain(error)),
        FileEditError::NoFile { .. } | FileEditError::TooLarge { .. } | FileEditError::Edit { .. } => {
            ServiceError::invalid_input(chain(error))
        }
    }
}

fn write_error(error: &FileWriteError) -> ServiceError {
    match error {
        FileWriteError::Conflict { .. } | FileWriteError::Exists { .. } => {
            ServiceError::conflict(chain(error))
        }
        FileWriteError::ReadOnly { .. } | FileWriteError::NotAFile { .. } => {
            ServiceError::invalid_input(chain(error))
        }
        FileWriteError::Folder { .. } | FileWriteError::Write { .. } => ServiceError::rendering(chain(error)),
    }
}
