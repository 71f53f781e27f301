//! The output of `render`. It is stored in an unnamed file until all applications are rendered.

use std::fs::File;
use std::io::{self, BufWriter, Seek as _, Write as _};
use std::path::Path;

use tiphys_engine::Manifest;

use crate::args::OutputFormat;
use crate::error::ServiceError;
use crate::output;
use crate::terminal::one_line;

/// The output format of manifests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// Documents separated by `---`.
    Yaml,
    /// One `List`.
    Json,
    /// One name per line.
    Name,
}

impl Form {
    /// Returns `None` for formats without manifests.
    pub(super) fn of(format: OutputFormat) -> Option<Self> {
        match format {
            OutputFormat::Yaml | OutputFormat::Diff | OutputFormat::Markdown | OutputFormat::Html => {
                Some(Self::Yaml)
            }
            OutputFormat::Json => Some(Self::Json),
            OutputFormat::Name => Some(Self::Name),
            OutputFormat::Table | OutputFormat::Wide => None,
        }
    }
}

/// Manifests that will be printed.
pub(super) struct Spool {
    form: Form,
    out: BufWriter<File>,
    count: usize,
}

impl Spool {
    /// Creates a spool in a directory for temporary files. Its file is private and is removed when the process ends.
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
                // In JSON, a line break is never inside a string.
                write!(self.out, "{separator}\n    {}", item.trim_end().replace('\n', "\n    "))
            }
            Form::Name => writeln!(self.out, "{}", one_line(&resource_name(&manifest))),
        }
    }

    /// Prints all manifests.
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

/// Creates an unnamed file with mode 0600, which is removed when the process ends.
pub(super) fn unnamed_file(dir: &Path) -> Result<File, ServiceError> {
    tempfile::tempfile_in(dir).map_err(|error| {
        ServiceError::rendering(format!("cannot write to {}: {error}", dir.display()))
            .with_hint("TMPDIR names another folder for temporary files")
    })
}

/// The JSON before and after the items of a `List`.
fn list_ends() -> (String, String) {
    let list = output::json(&output::list(&[]));
    list.split_once("[]").map(|(head, tail)| (head.to_owned(), tail.to_owned())).unwrap_or_default()
}

/// A name in the format of `kubectl -o name`: `deployment.apps/web`.
fn resource_name(manifest: &Manifest) -> String {
    let (group, kind) = manifest.group_kind();
    let dot = if group.is_empty() { "" } else { "." };
    format!("{}{dot}{group}/{}", kind.to_lowercase(), manifest.name())
}

/// The error of writing a temporary file.
pub(super) fn unwritten(error: &io::Error) -> ServiceError {
    ServiceError::rendering(format!("cannot write a temporary file: {error}"))
        .with_hint("TMPDIR names another folder for temporary files")
}

#[cfg(test)]
mod tests;
