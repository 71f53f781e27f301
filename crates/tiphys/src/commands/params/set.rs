//! `tiphys params set | unset`: a change of an Application's file, or of an override file.

mod document;
mod override_file;

use std::process::ExitCode;
use std::sync::Arc;

use tiphys_engine::Owner;
use tiphys_engine::diff::{DEFAULT_CONTEXT_LINES, unified};
use tiphys_store::{FileEdit, FileEditError, FileWriteError, StoredApplication};

use super::change::{Change, Subject, Wanted};
use crate::args::{CommonArgs, EditArgs, ParamsSetArgs, ParamsUnsetArgs, SourceChoice, WriteTo};
use crate::failure::{Failure, chain};
use crate::output;
use crate::settings::Host;

/// `params set`.
pub(super) async fn set(common: &CommonArgs, args: &ParamsSetArgs, host: &Host) -> Result<ExitCode, Failure> {
    super::require_one_standard_input(common, &args.values)?;
    let wanted = Wanted::values(&args.values, &[], host)?;
    run(common, host, &args.application.app, &args.source, &args.edit, &wanted).await
}

/// `params unset`.
pub(super) async fn unset(
    common: &CommonArgs,
    args: &ParamsUnsetArgs,
    host: &Host,
) -> Result<ExitCode, Failure> {
    run(common, host, &args.application.app, &args.source, &args.edit, &Wanted::names(&args.names)).await
}

/// What is to be written, if anything changes.
struct Planned {
    change: Change,
    edit: Option<FileEdit>,
    /// What a person should know though nothing is wrong.
    warnings: Vec<String>,
}

async fn run(
    common: &CommonArgs,
    host: &Host,
    app: &str,
    choice: &SourceChoice,
    args: &EditArgs,
    wanted: &Wanted,
) -> Result<ExitCode, Failure> {
    let place = super::workplace(common, host, app)?;
    let stored = super::only_application(&place, app)?;
    if args.write_to == WriteTo::Application {
        require_file(&stored)?;
        require_version(&stored, args)?;
    }
    let subject = Subject::find(&place, Arc::clone(&stored), choice, args.allow_unannounced).await?;
    let planned = match args.write_to {
        WriteTo::Application => document::plan(&subject, wanted, host)?,
        WriteTo::Override => override_file::plan(&subject, wanted, args, host)?,
    };
    for warning in planned.change.applied.warnings.iter().chain(&planned.warnings) {
        tracing::warn!("{}: {warning}", stored.full_name());
    }
    let file = planned.edit.as_ref().map(|edit| edit.path().display().to_string());
    match planned.edit {
        Some(edit) if args.dry_run => output::print(&patch(&edit, host))?,
        Some(edit) => edit.write().map_err(|error| unwritten(&error))?,
        None => {}
    }
    for change in &planned.change.applied.changes {
        output::note(&if change.before == change.after {
            format!("{}: already {}", change.target, change.before)
        } else {
            change.to_string()
        });
    }
    match (file, args.dry_run) {
        (None, _) => output::note("nothing to change"),
        (Some(file), false) => output::note(&format!("wrote {file}")),
        (Some(_), true) => {}
    }
    Ok(ExitCode::SUCCESS)
}

/// The edit as a patch that `patch -p0` and `git apply -p0` take in the current folder, if the file is below it.
fn patch(edit: &FileEdit, host: &Host) -> String {
    let current = host.absolute("");
    let path = edit.path().strip_prefix(&current).unwrap_or(edit.path()).display().to_string();
    // A name with blanks ends at a tab.
    let end = if path.contains(char::is_whitespace) { "\t" } else { "" };
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let before = edit.before().map(text);
    let old = if before.is_some() { format!("{path}{end}") } else { "/dev/null".to_owned() };
    let hunks = unified(&before.unwrap_or_default(), &text(edit.after()), DEFAULT_CONTEXT_LINES);
    format!("--- {old}\n+++ {path}{end}\n{hunks}")
}

/// An Application that is nobody's file cannot be changed in one; one that something else makes is not changed where it is a copy.
fn require_file(stored: &StoredApplication) -> Result<(), Failure> {
    let name = stored.full_name();
    let elsewhere = "--write-to override writes the change into the repository's folder (--repo) instead";
    if let Some(owner) = Owner::of(&stored.node) {
        return Err(Failure::bad_input(format!(
            "application {name} is made by {owner}: what is changed in the Application itself is undone; change the {} instead",
            match owner {
                Owner::ApplicationSet(_) => "ApplicationSet's template",
                Owner::Application(_) => "file that it is made from",
            }
        ))
        .hint(elsewhere));
    }
    if stored.place.file.path().is_none() {
        return Err(Failure::bad_input(format!(
            "application {name} came through standard input, so there is no file to write; name its file with --store"
        ))
        .hint(elsewhere));
    }
    Ok(())
}

fn require_version(stored: &StoredApplication, args: &EditArgs) -> Result<(), Failure> {
    let Some(wanted) = &args.if_version else { return Ok(()) };
    match stored.version().map(|version| version.to_string()) {
        Some(version) if version == *wanted => Ok(()),
        Some(version) => Err(Failure::conflict(format!(
            "{} is of version {version}, not {wanted}: it was changed; look at it again and repeat",
            stored.place.file
        ))),
        None => Err(Failure::bad_input("--if-version: what comes through standard input has no version")),
    }
}

/// An edit that cannot be made.
fn not_edited(error: &FileEditError) -> Failure {
    match error {
        FileEditError::Conflict { .. } => Failure::conflict(chain(error)),
        FileEditError::Read { .. } => Failure::rendering(chain(error)),
        FileEditError::NoFile { .. } | FileEditError::TooLarge { .. } | FileEditError::Edit { .. } => {
            Failure::bad_input(chain(error))
        }
    }
}

/// An edit that cannot be written.
fn unwritten(error: &FileWriteError) -> Failure {
    match error {
        FileWriteError::Conflict { .. } | FileWriteError::Exists { .. } => Failure::conflict(chain(error)),
        FileWriteError::ReadOnly { .. } | FileWriteError::NotAFile { .. } => Failure::bad_input(chain(error)),
        FileWriteError::Folder { .. } | FileWriteError::Write { .. } => Failure::rendering(chain(error)),
    }
}
