//! Changes of the file of an Application, or of an override file.

mod document;
mod override_file;

use std::path::Path;
use std::sync::Arc;

use tiphys_engine::Owner;
use tiphys_engine::diff::{DEFAULT_CONTEXT_LINES, unified};
use tiphys_model::params::ParameterChange;
use tiphys_model::resources::ApplicationSource;
use tiphys_store::{FileEdit, FileEditError, StoredApplication};

use super::change::{ParameterRequest, ParameterSource, SourceChange, ValuePlace};
use super::each::each;
use super::{SourceChoice, find_application};
use crate::context::host::Host;
use crate::context::options::{ApplicationSelection, StepCallback};
use crate::context::workspace::Workspace;
use crate::error::{ErrorKind, Input, Remedy, ServiceError};
use crate::select::select;
use crate::warning::Warning;

/// Where a change is written.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, strum::EnumString, strum::IntoStaticStr, strum::VariantArray,
)]
#[strum(serialize_all = "lowercase")]
pub enum WriteTo {
    /// The Application's own file, each value where it is in effect: in the inline values of a chart if these set it, if they are the only
    /// place with values of the chart, or if a parameter cannot express it; else in parameters.
    Effective,
    /// The Application's own file.
    #[default]
    Application,
    /// The inline values of a chart in the Application's own file.
    Values,
    /// `.argocd-source-<app>.yaml` in the application's directory of the local repository.
    Override,
}

impl WriteTo {
    /// Every place.
    pub const ALL: &[Self] = <Self as strum::VariantArray>::VARIANTS;

    /// Returns the name in options and requests: `effective`, `application`, `values` or `override`.
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// Returns the place with a name.
    pub fn named(name: &str) -> Option<Self> {
        name.parse().ok()
    }

    /// Returns where values of a chart are set.
    pub(super) fn values(self) -> ValuePlace {
        match self {
            Self::Application | Self::Override => ValuePlace::Parameters,
            Self::Values => ValuePlace::Inline,
            Self::Effective => ValuePlace::Effective,
        }
    }
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
    pub warnings: Vec<Warning>,
    /// The changed source: that of the document, or for an override file the one that is in effect.
    pub(super) after: ApplicationSource,
    edit: Option<FileEdit>,
}

/// The parts of a planned change.
struct Plan {
    change: SourceChange,
    /// None if nothing changes.
    edit: Option<FileEdit>,
}

/// Changes of several applications that are not written yet. They are written only together.
#[derive(Debug, Default)]
pub struct PlannedEdits {
    /// The changes, in the order of the applications.
    pub edits: Vec<PlannedEdit>,
    /// Errors of applications. If there are any, nothing can be written.
    pub errors: Vec<ServiceError>,
    /// Warnings about the selection.
    pub warnings: Vec<Warning>,
    /// The changed files.
    files: Vec<FileEdit>,
}

/// Plans the same change of the parameters of the selected applications. Nothing is written.
pub async fn plan_edits(
    workspace: &Workspace,
    selection: &ApplicationSelection,
    choice: &SourceChoice,
    options: &EditOptions,
    request: &ParameterRequest,
    progress: StepCallback<'_>,
) -> Result<PlannedEdits, ServiceError> {
    let mut planned = match selection.one() {
        Some(application) => {
            let (stored, warnings) = find_application(workspace, application)?;
            let edit = plan(workspace, stored, warnings, choice, options, request).await?;
            PlannedEdits { edits: vec![edit], ..PlannedEdits::default() }
        }
        None => plan_selected(workspace, selection, choice, options, request, progress).await?,
    };
    match FileEdit::join(planned.edits.iter().filter_map(|planned| planned.edit.clone())) {
        Ok(files) => planned.files = files,
        Err(error) => planned.errors.push(edit_error(error)),
    }
    Ok(planned)
}

/// Plans the change of each selected application. The files are not joined yet.
async fn plan_selected(
    workspace: &Workspace,
    selection: &ApplicationSelection,
    choice: &SourceChoice,
    options: &EditOptions,
    request: &ParameterRequest,
    progress: StepCallback<'_>,
) -> Result<PlannedEdits, ServiceError> {
    let selected = select(workspace, selection, "change")?;
    let count = selected.applications.len();
    if count > 1 && options.if_version.is_some() {
        let message = format!("a file's version needs one application, and {count} are selected");
        return Err(ServiceError::invalid_input(message).of_input(Input::IfVersion));
    }
    if count > 1 && request.reads_standard_input() {
        return Err(ServiceError::invalid_input(format!(
            "standard input can be read once, and {count} applications are selected; write the value into a file"
        )));
    }
    let mut planned = PlannedEdits {
        errors: selected.errors,
        warnings: workspace.warnings().iter().chain(&selected.warnings).cloned().collect(),
        ..PlannedEdits::default()
    };
    let plan_one = async |stored: &Arc<StoredApplication>| {
        plan(workspace, Arc::clone(stored), Vec::new(), choice, options, request).await
    };
    for result in each(workspace, &selected.applications, progress, plan_one).await {
        match result {
            Ok(edit) => planned.edits.push(edit),
            Err(error) => planned.errors.push(error),
        }
    }
    Ok(planned)
}

/// Plans a change of one application. `all` has the warnings about it so far.
async fn plan(
    workspace: &Workspace,
    stored: Arc<StoredApplication>,
    mut all: Vec<Warning>,
    choice: &SourceChoice,
    options: &EditOptions,
    request: &ParameterRequest,
) -> Result<PlannedEdit, ServiceError> {
    require_target(&stored, options)?;
    let finding = ParameterSource::find(workspace, Arc::clone(&stored), choice, options.allow_unannounced);
    let subject = Box::pin(finding).await?;
    let Plan { change, edit } = plan_source(&subject, options, request, workspace.service.host())?;
    all.extend(subject.warnings);
    all.extend(change.warnings);
    Ok(PlannedEdit { stored, changes: change.changes, warnings: all, after: change.after, edit })
}

/// Refuses what cannot be written, before the plugin is asked.
fn require_target(stored: &StoredApplication, options: &EditOptions) -> Result<(), ServiceError> {
    if options.write_to != WriteTo::Override {
        require_file(stored)?;
        require_version(stored, options)?;
    }
    Ok(())
}

fn plan_source(
    subject: &ParameterSource,
    options: &EditOptions,
    request: &ParameterRequest,
    host: &Host,
) -> Result<Plan, ServiceError> {
    match options.write_to {
        WriteTo::Override => override_file::plan(subject, request, options, host),
        place => document::plan(subject, request, place.values(), host),
    }
}

/// Plans a change of a source that is found already.
pub(super) fn plan_edit(
    subject: &ParameterSource,
    options: &EditOptions,
    request: &ParameterRequest,
    host: &Host,
) -> Result<PlannedEdit, ServiceError> {
    require_target(&subject.stored, options)?;
    let Plan { change, edit } = plan_source(subject, options, request, host)?;
    let SourceChange { changes, warnings, after, .. } = change;
    Ok(PlannedEdit { stored: Arc::clone(&subject.stored), changes, warnings, after, edit })
}

impl PlannedEdits {
    /// Returns the change of one application.
    pub(super) fn of(edit: PlannedEdit) -> Result<Self, ServiceError> {
        let files = FileEdit::join(edit.edit.clone()).map_err(edit_error)?;
        Ok(Self { edits: vec![edit], files, ..Self::default() })
    }

    /// Returns the changed files.
    pub fn files(&self) -> &[FileEdit] {
        &self.files
    }

    /// Returns the change as a patch that `patch -p0` and `git apply -p0` accept in the current directory, if the files are below it.
    pub fn patch(&self, host: &Host) -> String {
        self.files.iter().map(|file| patch(file, host)).collect()
    }

    /// Writes the files and reports each. If one cannot be written or was changed since it was read, none is. A later error ends it: the rest
    /// is not written.
    pub fn write(self, mut written: impl FnMut(&Path)) -> Result<(), ServiceError> {
        if let Some(error) = self.errors.into_iter().next() {
            return Err(error);
        }
        for file in &self.files {
            file.require_writable().map_err(ServiceError::not_written)?;
        }
        for file in self.files {
            let path = file.path().to_owned();
            file.write().map_err(ServiceError::not_written)?;
            written(&path);
        }
        Ok(())
    }
}

impl PlannedEdit {
    /// Returns whether nothing changes.
    pub fn is_empty(&self) -> bool {
        self.edit.is_none()
    }
}

/// Returns a change as a patch that `patch -p0` and `git apply -p0` accept in the current directory, if the file is below it.
fn patch(edit: &FileEdit, host: &Host) -> String {
    let current = host.absolute("");
    let path = edit.path().strip_prefix(&current).unwrap_or(edit.path()).display().to_string();
    // A file name with blanks ends at a tab.
    let end = if path.contains(char::is_whitespace) { "\t" } else { "" };
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let before = edit.before().map(text);
    let old = if before.is_some() { format!("{path}{end}") } else { "/dev/null".to_owned() };
    let hunks = unified(&before.unwrap_or_default(), &text(edit.after()), DEFAULT_CONTEXT_LINES);
    format!("--- {old}\n+++ {path}{end}\n{hunks}")
}

/// Refuses an Application that was not read from a file, and one that a controller or another Application owns.
pub fn require_file(stored: &StoredApplication) -> Result<(), ServiceError> {
    let name = stored.full_name();
    if let Some(set) = &stored.generated_by {
        return Err(ServiceError::invalid_input(format!(
            "application {name} is generated by application set {set} ({}); change the set's template or parameters",
            stored.place
        ))
        .with_remedy(Remedy::WriteOverride));
    }
    if let Some(owner) = Owner::of(&stored.node) {
        return Err(ServiceError::invalid_input(format!(
            "application {name} is generated by {owner}, which overwrites changes of the Application; change the {} instead",
            match owner {
                Owner::ApplicationSet(_) => "ApplicationSet's template",
                Owner::Application(_) => "file that it is made from",
            }
        ))
        .with_remedy(Remedy::WriteOverride));
    }
    if stored.place.file.path().is_none() {
        return Err(ServiceError::invalid_input(format!(
            "application {name} was read from standard input, so there is no file to write; a store with its file has one"
        ))
        .with_remedy(Remedy::WriteOverride));
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
        None => Err(ServiceError::invalid_input("what comes through standard input has no version")
            .of_input(Input::IfVersion)),
    }
}

fn edit_error(error: FileEditError) -> ServiceError {
    let kind = match &error {
        FileEditError::Conflict { .. } => ErrorKind::Conflict,
        FileEditError::Read { .. } => ErrorKind::Rendering,
        FileEditError::NoFile { .. }
        | FileEditError::Link { .. }
        | FileEditError::TooLarge { .. }
        | FileEditError::Edit { .. }
        | FileEditError::Overlap { .. } => ErrorKind::InvalidInput,
    };
    ServiceError::caused(kind, error)
}
