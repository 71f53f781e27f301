//! Comparing the results of a case with the expected ones, or updating these.

use std::fs::Permissions;
use std::io::{self, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use serde_json::Value;
use tiphys_engine::diff::{DEFAULT_CONTEXT_LINES, unified};
use tiphys_plugin::PluginError;
use tiphys_render::RenderError;

use super::case::{ANNOUNCEMENT, ERROR, Expected, MANIFESTS};
use super::{TestMode, TestOutcome, TestProblem};
use crate::error::{ServiceError, chain};
use crate::text::{json_text, yaml_documents};

/// The results of a plugin. None if it was not asked.
#[derive(Debug, Default)]
pub(super) struct CaseOutput {
    pub(super) manifests: Option<Result<Vec<Value>, CaseError>>,
    pub(super) announcement: Option<Result<Value, CaseError>>,
}

/// An error: the message, and the part of it that does not depend on paths.
#[derive(Clone, Debug)]
pub(super) struct CaseError {
    message: String,
    own: String,
}

impl CaseError {
    pub(super) fn new(failure: &ServiceError, error: &RenderError) -> Self {
        let own = match error {
            RenderError::Source(source) => match source.failure.of_plugin() {
                // Authors write cases for the output of their own plugin.
                Some(PluginError::Command { stderr, .. }) if !stderr.is_empty() => stderr.clone(),
                _ => chain(&*source.failure),
            },
            _ => chain(error),
        };
        Self { message: failure.message(), own }
    }

    pub(super) fn of_message(message: String) -> Self {
        Self { own: message.clone(), message }
    }
}

/// Runs of the plugin that a case requires.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RequiredRuns {
    pub(super) manifests: bool,
    pub(super) announcement: bool,
}

/// Returns what a case requires. A new case requires everything when it is updated.
pub(super) fn required_runs(expected: &Expected, mode: TestMode) -> RequiredRuns {
    let new = expected.is_empty() && mode == TestMode::Update;
    RequiredRuns {
        manifests: new || expected.manifests.is_some() || expected.error.is_some(),
        announcement: new || expected.announcement.is_some(),
    }
}

/// Compares the results of a case, or updates the files in its directory.
pub(super) fn judge(
    folder: &Path,
    expected: &Expected,
    given: &CaseOutput,
    mode: TestMode,
) -> Result<TestOutcome, ServiceError> {
    let mut verdict = Verdict { folder, mode, problems: Vec::new(), updated: Vec::new() };
    if let Some(given) = &given.manifests {
        verdict.manifests(expected, given)?;
    }
    if let Some(given) = &given.announcement {
        verdict.announcement(expected, given)?;
    }
    Ok(match (verdict.problems.is_empty(), verdict.updated.is_empty()) {
        (true, true) => TestOutcome::Passed,
        (true, false) => TestOutcome::Updated(verdict.updated),
        (false, _) => TestOutcome::Failed(verdict.problems, verdict.updated),
    })
}

struct Verdict<'a> {
    folder: &'a Path,
    mode: TestMode,
    problems: Vec<TestProblem>,
    updated: Vec<&'static str>,
}

impl Verdict<'_> {
    fn manifests(
        &mut self,
        expected: &Expected,
        given: &Result<Vec<Value>, CaseError>,
    ) -> Result<(), ServiceError> {
        let is_new = expected.is_empty();
        match (&expected.manifests, &expected.error, given) {
            (Some(expected), _, Ok(given)) if expected == given => {}
            (Some(expected), _, Ok(given)) => {
                let (before, after) = (yaml_documents(expected), yaml_documents(given));
                self.differs(MANIFESTS, "manifests", &before, &after)?;
            }
            (None, None, Ok(given)) if is_new => self.write(MANIFESTS, &yaml_documents(given))?,
            (_, Some(_), Ok(given)) => {
                let count = given.len();
                let plural = if count == 1 { "" } else { "s" };
                self.changed_side(ERROR, &format!("generating succeeds, with {count} object{plural}"));
            }
            (Some(_), _, Err(wrong)) => {
                let message = format!("generating fails: {}", wrong.message);
                self.changed_side(MANIFESTS, &message);
            }
            (_, Some(lines), Err(wrong)) => self.error(lines, wrong)?,
            (None, None, Err(wrong)) if is_new => self.write(ERROR, &format!("{}\n", wrong.own))?,
            (None, None, _) => {}
        }
        Ok(())
    }

    fn error(&mut self, lines: &[String], wrong: &CaseError) -> Result<(), ServiceError> {
        let says = |line: &str| wrong.message.contains(line) || wrong.own.contains(line);
        let missing: Vec<&String> = lines.iter().filter(|line| !says(line)).collect();
        if missing.is_empty() {
            return Ok(());
        }
        if self.mode == TestMode::Update {
            return self.write(ERROR, &format!("{}\n", wrong.own));
        }
        let missing: Vec<String> = missing.iter().map(|line| format!("  {line}")).collect();
        let message = format!("the error does not say\n{}\nbut {}", missing.join("\n"), wrong.message);
        self.problems.push(TestProblem { file: ERROR, message, diff: None });
        Ok(())
    }

    fn announcement(
        &mut self,
        expected: &Expected,
        given: &Result<Value, CaseError>,
    ) -> Result<(), ServiceError> {
        match (&expected.announcement, given) {
            (Some(expected), Ok(given)) if expected == given => Ok(()),
            (Some(expected), Ok(given)) => {
                self.differs(ANNOUNCEMENT, "announcements", &json_text(expected), &json_text(given))
            }
            (Some(_), Err(wrong)) => {
                self.changed_side(ANNOUNCEMENT, &format!("announcing fails: {}", wrong.message));
                Ok(())
            }
            // A new case of a plugin without announcements gets no file for them.
            (None, Ok(given)) if given.as_array().is_some_and(|list| !list.is_empty()) => {
                self.write(ANNOUNCEMENT, &json_text(given))
            }
            (None, _) => Ok(()),
        }
    }

    fn differs(
        &mut self,
        file: &'static str,
        given: &str,
        before: &str,
        after: &str,
    ) -> Result<(), ServiceError> {
        if self.mode == TestMode::Update {
            return self.write(file, after);
        }
        let hunks = unified(before, after, DEFAULT_CONTEXT_LINES);
        let diff = format!("--- {file}\n+++ {given}\n{hunks}");
        let message = format!("the {given} differ");
        self.problems.push(TestProblem { file, message, diff: Some(diff) });
        Ok(())
    }

    /// Reports that a success became an error or the reverse. An update never writes that.
    fn changed_side(&mut self, file: &'static str, message: &str) {
        let message = match self.mode {
            TestMode::Compare => message.to_owned(),
            TestMode::Update => {
                format!("{message}\n--update does not write that; if it is meant, remove {file} first")
            }
        };
        self.problems.push(TestProblem { file, message, diff: None });
    }

    fn write(&mut self, file: &'static str, text: &str) -> Result<(), ServiceError> {
        let path = self.folder.join(file);
        write_whole(self.folder, &path, text)
            // The error names the temporary file, which means nothing to the user.
            .map_err(|error| {
                ServiceError::invalid_input(format!("cannot write {}: {}", path.display(), error.kind()))
            })?;
        self.updated.push(file);
        Ok(())
    }
}

/// Replaces a file atomically. A link is replaced and not followed.
fn write_whole(folder: &Path, path: &Path, text: &str) -> io::Result<()> {
    let mut file = tempfile::Builder::new()
        .prefix(".update.")
        .permissions(Permissions::from_mode(0o666))
        .tempfile_in(folder)?;
    file.write_all(text.as_bytes())?;
    file.persist(path)?;
    Ok(())
}

#[cfg(test)]
mod tests;
