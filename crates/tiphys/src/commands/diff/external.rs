//! `KUBECTL_EXTERNAL_DIFF`: a program that shows differences, called in the same way as kubectl does.

use std::collections::HashSet;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::Path;

use tempfile::TempDir;
use tiphys_engine::diff::{ObjectDiff, Shown};
use tiphys_process::Attached;
use tokio_util::sync::CancellationToken;

use super::output::{ApplicationDiff, Sides};
use crate::error::ServiceError;
use crate::lifecycle;
use crate::settings::Process;

/// The variable's name.
const VARIABLE: &str = "KUBECTL_EXTERNAL_DIFF";

/// Maximum length of a file name in bytes.
const FILE_NAME_BYTES_MAX: usize = 255;

/// The program and its arguments, separated by blanks as in kubectl. There is no quoting.
pub(super) fn command(host: &Process) -> Option<Vec<String>> {
    let words: Vec<String> = host.variable(VARIABLE)?.split_whitespace().map(str::to_owned).collect();
    (!words.is_empty()).then_some(words)
}

/// Runs the program on two directories with one file for each object that differs, with secrets redacted. The missing side of an added or
/// removed object is an empty file. Returns whether the program reported a difference.
pub(super) async fn show(
    command: &[String],
    applications: &[ApplicationDiff],
    sides: &Sides,
    host: &Process,
) -> Result<bool, ServiceError> {
    let shown = command.join(" ");
    let unwritten =
        |error: io::Error| ServiceError::rendering(format!("cannot write the files for {VARIABLE}: {error}"));
    let folder = tempfile::Builder::new()
        .prefix("tiphys-diff-")
        .tempdir_in(host.temporary_dir())
        .map_err(unwritten)?;
    let (before, after) = folders(&folder, sides);
    write(applications, &before, &after).map_err(unwritten)?;
    let Some((program, args)) = command.split_first() else { return Ok(true) };
    let attached = Attached {
        program: program.into(),
        args: args.iter().map(OsString::from).chain([before.into(), after.into()]).collect(),
        env: host.variables().map(|(name, value)| (name.into(), value.into())).collect(),
        input: None,
    };
    let current = host.absolute("");
    let code = lifecycle::unless_interrupted(&CancellationToken::new(), attached.run(&current)).await?;
    let code = code.map_err(|error| ServiceError::rendering(VARIABLE).because(error))?;
    match code {
        Some(0) => Ok(false),
        Some(1) => Ok(true),
        Some(code) => {
            Err(ServiceError::rendering(format!("{VARIABLE}: `{shown}` ended with exit code {code}")))
        }
        None => Err(ServiceError::rendering(format!("{VARIABLE}: `{shown}` was ended by a signal"))),
    }
}

/// Creates a directory for each side, with the side's name.
fn folders(folder: &TempDir, sides: &Sides) -> (std::path::PathBuf, std::path::PathBuf) {
    let (before, mut after) = (plain(&sides.before), plain(&sides.after));
    if before == after {
        after.push_str("-new");
    }
    (folder.path().join(before), folder.path().join(after))
}

fn write(applications: &[ApplicationDiff], before: &Path, after: &Path) -> io::Result<()> {
    fs::create_dir(before)?;
    fs::create_dir(after)?;
    let mut names = HashSet::new();
    for one in applications {
        for object in one.objects() {
            let application = (applications.len() > 1).then(|| one.full_name());
            let name = file_name(application.as_deref(), object, &mut names);
            let yaml = |side: Option<&Shown>| side.map(Shown::to_yaml).unwrap_or_default();
            fs::write(before.join(&name), yaml(object.change.before()))?;
            fs::write(after.join(&name), yaml(object.change.after()))?;
        }
    }
    Ok(())
}

/// `group.version.kind.namespace.name` as in kubectl, after the application's name if there are several. A name that is in use or too long
/// gets a number.
fn file_name(application: Option<&str>, object: &ObjectDiff, taken: &mut HashSet<String>) -> String {
    let key = &object.key;
    let side = object.change.after().or_else(|| object.change.before());
    let api_version = side.and_then(|side| side.value().get("apiVersion")?.as_str()).unwrap_or_default();
    let version = api_version.rsplit('/').next().unwrap_or_default();
    let parts = [application.unwrap_or_default(), &key.group, version, &key.kind, &key.namespace, &key.name];
    let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    let mut whole = plain(&parts.join("."));
    whole.truncate(FILE_NAME_BYTES_MAX);
    let mut name = whole.clone();
    let mut number = 1;
    while !taken.insert(name.clone()) {
        number += 1;
        let ending = format!(".{number}");
        whole.truncate(FILE_NAME_BYTES_MAX - ending.len());
        name = format!("{whole}{ending}");
    }
    name
}

/// Turns a string into a single path component: ASCII letters, digits, `-`, `_` and `.`, starting with a letter or digit.
fn plain(text: &str) -> String {
    let kept = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.') { c } else { '_' };
    let name: String = text.chars().map(kept).collect();
    match name.trim_start_matches(['-', '_', '.']) {
        "" => "x".to_owned(),
        name => name.to_owned(),
    }
}

#[cfg(test)]
mod tests;
