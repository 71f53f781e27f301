//! Whether a case gives what it says; with `--update`, writing down what it gives.

use std::fs::Permissions;
use std::io::{self, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use serde_json::Value;
use tiphys_engine::diff::{DEFAULT_CONTEXT_LINES, unified};
use tiphys_plugin::PluginError;
use tiphys_render::RenderError;

use super::case::{ANNOUNCEMENT, ERROR, Expected, MANIFESTS};
use super::report::{Outcome, Problem};
use crate::failure::{Failure, chain};
use crate::output;

/// Whether expectations are held to or written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    Compare,
    Update,
}

/// What a plugin gave; `None` if it was not asked.
#[derive(Debug, Default)]
pub(super) struct Given {
    pub(super) manifests: Option<Result<Vec<Value>, Wrong>>,
    pub(super) announcement: Option<Result<Value, Wrong>>,
}

/// A failure: the text that a person would see, and the part of it that does not depend on the place.
#[derive(Clone, Debug)]
pub(super) struct Wrong {
    message: String,
    own: String,
}

impl Wrong {
    pub(super) fn new(failure: &Failure, error: &RenderError) -> Self {
        let own = match error {
            RenderError::Source(source) => match source.failure.of_plugin() {
                // What the plugin says itself is what its author writes a case for.
                Some(PluginError::Command { stderr, .. }) if !stderr.is_empty() => stderr.clone(),
                _ => chain(&*source.failure),
            },
            RenderError::Sources(_) | RenderError::DeadlineExceeded => chain(error),
        };
        Self { message: failure.message().to_owned(), own }
    }

    pub(super) fn of_message(message: String) -> Self {
        Self { own: message.clone(), message }
    }
}

/// What has to be asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Due {
    pub(super) manifests: bool,
    pub(super) announcement: bool,
}

/// What a case asks for. One that expects nothing yet is asked for everything when it is updated.
pub(super) fn due(expected: &Expected, mode: Mode) -> Due {
    let new = expected.is_empty() && mode == Mode::Update;
    Due {
        manifests: new || expected.manifests.is_some() || expected.error.is_some(),
        announcement: new || expected.announcement.is_some(),
    }
}

/// Compares, or updates the files of a case in its folder.
pub(super) fn judge(
    folder: &Path,
    expected: &Expected,
    given: &Given,
    mode: Mode,
) -> Result<Outcome, Failure> {
    let mut verdict = Verdict { folder, mode, problems: Vec::new(), updated: Vec::new() };
    if let Some(given) = &given.manifests {
        verdict.manifests(expected, given)?;
    }
    if let Some(given) = &given.announcement {
        verdict.announcement(expected, given)?;
    }
    Ok(match (verdict.problems.is_empty(), verdict.updated.is_empty()) {
        (true, true) => Outcome::Passed,
        (true, false) => Outcome::Updated(verdict.updated),
        (false, _) => Outcome::Failed(verdict.problems, verdict.updated),
    })
}

struct Verdict<'a> {
    folder: &'a Path,
    mode: Mode,
    problems: Vec<Problem>,
    updated: Vec<&'static str>,
}

impl Verdict<'_> {
    fn manifests(&mut self, expected: &Expected, given: &Result<Vec<Value>, Wrong>) -> Result<(), Failure> {
        let is_new = expected.is_empty();
        match (&expected.manifests, &expected.error, given) {
            (Some(expected), _, Ok(given)) if expected == given => {}
            (Some(expected), _, Ok(given)) => {
                let (before, after) = (output::documents(expected), output::documents(given));
                self.differs(MANIFESTS, "generated", &before, &after)?;
            }
            (None, None, Ok(given)) if is_new => self.write(MANIFESTS, &output::documents(given))?,
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

    fn error(&mut self, lines: &[String], wrong: &Wrong) -> Result<(), Failure> {
        let missing: Vec<&String> =
            lines.iter().filter(|line| !wrong.message.contains(line.as_str())).collect();
        if missing.is_empty() {
            return Ok(());
        }
        if self.mode == Mode::Update {
            return self.write(ERROR, &format!("{}\n", wrong.own));
        }
        let missing: Vec<String> = missing.iter().map(|line| format!("  {line}")).collect();
        let message = format!("the error does not say\n{}\nbut {}", missing.join("\n"), wrong.message);
        self.problems.push(Problem { file: ERROR, message, diff: None });
        Ok(())
    }

    fn announcement(&mut self, expected: &Expected, given: &Result<Value, Wrong>) -> Result<(), Failure> {
        match (&expected.announcement, given) {
            (Some(expected), Ok(given)) if expected == given => Ok(()),
            (Some(expected), Ok(given)) => {
                self.differs(ANNOUNCEMENT, "announced", &output::json(expected), &output::json(given))
            }
            (Some(_), Err(wrong)) => {
                self.changed_side(ANNOUNCEMENT, &format!("announcing fails: {}", wrong.message));
                Ok(())
            }
            // A new case of a plugin that announces nothing has nothing to say of it.
            (None, Ok(given)) if given.as_array().is_some_and(|list| !list.is_empty()) => {
                self.write(ANNOUNCEMENT, &output::json(given))
            }
            (None, _) => Ok(()),
        }
    }

    fn differs(&mut self, file: &'static str, given: &str, before: &str, after: &str) -> Result<(), Failure> {
        if self.mode == Mode::Update {
            return self.write(file, after);
        }
        let hunks = unified(before, after, DEFAULT_CONTEXT_LINES);
        let diff = format!("--- {file}\n+++ {given}\n{hunks}");
        let message = format!("what is {given} differs");
        self.problems.push(Problem { file, message, diff: Some(diff) });
        Ok(())
    }

    /// A success became a failure or the reverse: that is never written over what was expected.
    fn changed_side(&mut self, file: &'static str, message: &str) {
        let message = match self.mode {
            Mode::Compare => message.to_owned(),
            Mode::Update => {
                format!("{message}\n--update does not write that; if it is meant, remove {file} first")
            }
        };
        self.problems.push(Problem { file, message, diff: None });
    }

    fn write(&mut self, file: &'static str, text: &str) -> Result<(), Failure> {
        let path = self.folder.join(file);
        write_whole(self.folder, &path, text)
            // The name of the temporary file, which the error has, means nothing to a reader.
            .map_err(|error| {
                Failure::bad_input(format!("cannot write {}: {}", path.display(), error.kind()))
            })?;
        self.updated.push(file);
        Ok(())
    }
}

/// Puts a new file into the place of the old one, whole or not at all; a link there is replaced and not followed.
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
