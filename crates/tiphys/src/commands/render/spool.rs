//! What `render` prints: it waits in a file without a name until all applications are rendered.

use std::fs::File;
use std::io::{self, BufWriter, Seek as _, Write as _};
use std::path::Path;

use tiphys_engine::Manifest;

use crate::args::OutputFormat;
use crate::error::ServiceError;
use crate::output;
use crate::terminal::one_line;

/// How manifests are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// Documents separated by `---`.
    Yaml,
    /// One `List`.
    Json,
    /// One name a line.
    Name,
}

impl Form {
    /// `None` for formats that print no manifests.
    pub(super) fn of(format: OutputFormat) -> Option<Self> {
        match format {
            OutputFormat::Yaml | OutputFormat::Diff | OutputFormat::Markdown => Some(Self::Yaml),
            OutputFormat::Json => Some(Self::Json),
            OutputFormat::Name => Some(Self::Name),
            OutputFormat::Table | OutputFormat::Wide => None,
        }
    }
}

/// Manifests that are to be printed.
pub(super) struct Spool {
    form: Form,
    out: BufWriter<File>,
    count: usize,
}

impl Spool {
    /// A spool in a folder for temporary files. Only this user can read its file, which goes with the process.
    pub(super) fn new(dir: &Path, form: Form) -> Result<Self, ServiceError> {
        Ok(Self { form, out: BufWriter::new(unnamed_file(dir)?), count: 0 })
    }

    /// Adds the manifests of an application.
    pub(super) fn add(&mut self, manifests: Vec<Manifest>) -> Result<(), ServiceError> {
        manifests
            .into_iter()
            .try_for_each(|manifest| self.add_one(manifest))
            .map_err(|error| unwritten(&error))
    }

    fn add_one(&mut self, manifest: Manifest) -> io::Result<()> {
        let is_first = self.count == 0;
        self.count += 1;
        match self.form {
            Form::Yaml => {
                let separator = if is_first { "" } else { "---\n" };
                write!(self.out, "{separator}{}", tiphys_yaml::write_yaml(&manifest.into_value()))
            }
            Form::Json => {
                let separator = if is_first { list_ends().0 + "[" } else { ",".to_owned() };
                let item = output::json(&manifest.into_value());
                // A line break of JSON text is never part of a string.
                write!(self.out, "{separator}\n    {}", item.trim_end().replace('\n', "\n    "))
            }
            Form::Name => writeln!(self.out, "{}", one_line(&resource_name(&manifest))),
        }
    }

    /// Prints everything.
    pub(super) fn print(mut self) -> Result<(), ServiceError> {
        self.text().map_err(|error| unwritten(&error)).and_then(output::print_from)
    }

    fn text(&mut self) -> io::Result<&File> {
        if self.form == Form::Json {
            let (head, tail) = list_ends();
            let list = if self.count == 0 { head + "[]" } else { "\n  ]".to_owned() };
            write!(self.out, "{list}{tail}")?;
        }
        self.out.flush()?;
        self.out.get_mut().rewind()?;
        Ok(self.out.get_ref())
    }
}

/// A file without a name in a folder for temporary files, of mode 0600. It goes with the process.
pub(super) fn unnamed_file(dir: &Path) -> Result<File, ServiceError> {
    tempfile::tempfile_in(dir).map_err(|error| {
        ServiceError::rendering(format!("cannot write to {}: {error}", dir.display()))
            .with_hint("TMPDIR names another folder for temporary files")
    })
}

/// The JSON text of a `List` before and behind its items.
fn list_ends() -> (String, String) {
    let list = output::json(&output::list(&[]));
    list.split_once("[]").map(|(head, tail)| (head.to_owned(), tail.to_owned())).unwrap_or_default()
}

/// As `kubectl -o name` prints it: `deployment.apps/web`.
fn resource_name(manifest: &Manifest) -> String {
    let (group, kind) = manifest.group_kind();
    let dot = if group.is_empty() { "" } else { "." };
    format!("{}{dot}{group}/{}", kind.to_lowercase(), manifest.name())
}

/// The failure of writing such a file.
pub(super) fn unwritten(error: &io::Error) -> ServiceError {
    ServiceError::rendering(format!("cannot write a temporary file: {error}"))
        .with_hint("TMPDIR names another folder for temporary files")
}

#[cfg(test)]
mod tests;
