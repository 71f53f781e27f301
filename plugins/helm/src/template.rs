//! The arguments of `helm template` as data, in the order in which Argo CD's native support gives them.

use std::cell::Cell;
use std::path::PathBuf;

use tiphys_access::redact_url;
use tiphys_helm_values::{self as values, Flag, HelmVersion, Inputs, LIMITS, assignment_text, merged};
use tiphys_process::ExecLimits;

use crate::options::{AssignmentKind, Part};
use crate::shown::{INLINE_PLACEHOLDER, MASK, without_values};

/// Bytes of API versions that are joined to one argument. A cluster may have more of them than one argument, or as arguments of their own
/// all arguments, could hold.
const API_VERSIONS_BYTES_MAX: usize = 64 * 1024;

/// Bytes of all texts that are kept free for the environment that helm gets: a few short variables.
const ENVIRONMENT_BYTES: usize = 16 * 1024;

/// Characters that are shown of an argument that is too large.
const BEGINNING_CHARS: usize = 64;

/// Everything that a call depends on, resolved.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Template {
    /// Name of the release.
    pub(crate) release_name: String,
    /// Its namespace; empty: none is given.
    pub(crate) namespace: String,
    /// The cluster's version, if one is given.
    pub(crate) kube_version: Option<String>,
    /// Kind, name and value: the value with its variables replaced, or the file's path.
    pub(crate) assignments: Vec<(AssignmentKind, String, String)>,
    /// Paths and URLs.
    pub(crate) value_files: Vec<String>,
    /// The file of inline values.
    pub(crate) inline_values: Option<PathBuf>,
    /// What the cluster has.
    pub(crate) api_versions: Vec<String>,
    /// The chart's folder `crds`.
    pub(crate) crds: Part,
    /// The check of values against the schema.
    pub(crate) schema_validation: Part,
    /// Test hooks.
    pub(crate) tests: Part,
}

/// A command line, and how texts show it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Call {
    /// The arguments.
    pub(crate) arguments: Vec<String>,
    /// The whole command as Argo CD would show it, with the values of `--set` and its relatives redacted.
    pub(crate) shown: String,
    /// Values that helm may quote in its own messages. The command itself shows none of them.
    values: Vec<String>,
}

impl Call {
    /// Redacts the values of `--set` and `--set-string` in a text that helm printed.
    pub(crate) fn without_values(&self, text: &str) -> String {
        without_values(text, &self.values)
    }
}

/// More than the system passes to a program.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum TooLarge {
    /// One value.
    #[error(
        "parameter {parameter} has {bytes} bytes, and one value passes to helm up to {bytes_max}; move it to the parameter values or to \
         a value file, or name a file with it in set-file.{name}"
    )]
    Value {
        /// The parameter.
        parameter: String,
        /// The value's name.
        name: String,
        /// How large name and value are.
        bytes: usize,
        /// How large they may be.
        bytes_max: usize,
    },
    /// Another argument.
    #[error("an argument of helm has {bytes} bytes, more than {bytes_max}: {beginning}…")]
    Argument {
        /// How it begins.
        beginning: String,
        /// How large it is.
        bytes: usize,
        /// How large it may be.
        bytes_max: usize,
    },
    /// All of them.
    #[error(
        "the parameters make {bytes} bytes of arguments for helm, more than {bytes_max}; move values from set.NAME to the parameter values \
         or to a value file"
    )]
    All {
        /// How large they are.
        bytes: usize,
        /// How large they may be.
        bytes_max: usize,
    },
}

impl Template {
    /// The command line.
    pub(crate) fn call(&self, limits: &ExecLimits) -> Result<Call, TooLarge> {
        let inline = self.inline_values.as_ref().map(|path| path.to_string_lossy().into_owned());
        let arguments = self.arguments(inline.as_deref(), &joined(&self.api_versions), argument);
        self.check_values(limits)?;
        check_size(&arguments, limits)?;
        let inline = inline.as_ref().map(|_| INLINE_PLACEHOLDER);
        let shown = format!("helm {}", self.arguments(inline, &self.api_versions, redacted).join(" "));
        let values = self.assignments.iter().filter(|one| one.0 != AssignmentKind::File);
        // helm also quotes parts: items of lists, and what a comma ends.
        let parts = |value: &str| value.split([',', '{', '}', '=']).map(str::to_owned).collect::<Vec<_>>();
        let values =
            values.flat_map(|(_, _, value)| [vec![value.clone(), unescaped(value)], parts(value)].concat());
        // Redacting what the command shows anyway, such as the name of the release, would only make the message harder to read.
        let values = values.filter(|value| !shown.contains(value)).collect();
        Ok(Call { arguments, shown, values })
    }

    fn arguments(
        &self,
        inline: Option<&str>,
        api_versions: &[String],
        assignment: fn(AssignmentKind, &str, &str) -> String,
    ) -> Vec<String> {
        let mut all: Vec<String> = vec!["template".into(), ".".into()];
        let mut option = |name: &str, value: &str| all.extend([name.to_owned(), value.to_owned()]);
        option("--name-template", &self.release_name);
        if !self.namespace.is_empty() {
            option("--namespace", &self.namespace);
        }
        if let Some(version) = &self.kube_version {
            option("--kube-version", version);
        }
        let kinds = [
            (AssignmentKind::Value, "--set"),
            (AssignmentKind::Text, "--set-string"),
            (AssignmentKind::File, "--set-file"),
        ];
        for (kind, name) in kinds {
            for (_, value_name, value) in self.assignments.iter().filter(|one| one.0 == kind) {
                option(name, &assignment(kind, value_name, value));
            }
        }
        for file in self.value_files.iter().map(String::as_str).chain(inline) {
            option("--values", &csv_field(file));
        }
        for version in api_versions {
            option("--api-versions", version);
        }
        let flags = [
            (self.crds == Part::Keep, "--include-crds"),
            (self.schema_validation == Part::Skip, "--skip-schema-validation"),
            (self.tests == Part::Skip, "--skip-tests"),
        ];
        all.extend(flags.into_iter().filter(|(is_set, _)| *is_set).map(|(_, name)| name.to_owned()));
        all
    }

    fn check_values(&self, limits: &ExecLimits) -> Result<(), TooLarge> {
        for (kind, name, value) in &self.assignments {
            let bytes = argument(*kind, name, value).len();
            if bytes >= limits.text_bytes_max {
                let prefix = match kind {
                    AssignmentKind::Value => crate::options::SET,
                    AssignmentKind::Text => crate::options::SET_STRING,
                    AssignmentKind::File => crate::options::SET_FILE,
                };
                let (parameter, bytes_max) = (format!("{prefix}{name}"), limits.text_bytes_max - 1);
                return Err(TooLarge::Value { parameter, name: name.clone(), bytes, bytes_max });
            }
        }
        Ok(())
    }
}

/// The argument of an option that sets one value.
fn argument(kind: AssignmentKind, name: &str, value: &str) -> String {
    match kind {
        AssignmentKind::Value | AssignmentKind::Text => assignment_text(name, value),
        AssignmentKind::File => file_assignment(name, value),
    }
}

/// The argument as messages show it: any value may be a secret. A name may contain `=` and thus a value of its own.
fn redacted(_: AssignmentKind, name: &str, _: &str) -> String {
    format!("{}={MASK}", name.split('=').next().unwrap_or_default())
}

/// A value as helm reads it, without the backslashes that escape characters.
fn unescaped(value: &str) -> String {
    let mut chars = value.chars();
    std::iter::from_fn(|| chars.next().and_then(|char| if char == '\\' { chars.next() } else { Some(char) }))
        .collect()
}

/// `name=path` of which helm reads this path and no other: its grammar gives backslashes and commas a meaning in paths, too.
fn file_assignment(name: &str, path: &str) -> String {
    format!("{name}={}", file_text(path))
}

/// A path or URL in such an assignment.
pub(crate) fn file_text(path: &str) -> String {
    path.replace('\\', "\\\\").replace(',', "\\,")
}

/// Whether `--set-file` with this name reads this file alone. A name may end one assignment and begin another, whose file nobody has looked
/// at; so helm's own grammar reads the argument before helm does.
pub(crate) fn reads_only(name: &str, path: &str) -> bool {
    let text = file_assignment(name, path);
    [HelmVersion::V3, HelmVersion::V4].into_iter().all(|version| {
        let is_it = Cell::new(true);
        let read_file = |read: &str| {
            is_it.set(is_it.get() && read == path);
            Ok(String::new())
        };
        let assignments = [values::Assignment { flag: Flag::SetFile, text: &text }];
        let inputs = Inputs {
            version,
            values_files: &[],
            assignments: &assignments,
            read_file: &read_file,
            limits: LIMITS,
        };
        // What the grammar refuses helm refuses as well, after the files that it has read by then.
        let _refused = merged(&inputs);
        is_it.get()
    })
}

/// A text as the one field of a line of comma-separated values, which helm takes `--values` for: it would read several files otherwise.
fn csv_field(text: &str) -> String {
    if text.contains(['"', ',', '\r', '\n']) { format!("\"{}\"", csv_text(text)) } else { text.to_owned() }
}

/// A text between the quotation marks of such a field.
pub(crate) fn csv_text(text: &str) -> String {
    text.replace('"', "\"\"")
}

/// API versions joined by commas, which helm takes as lists. One that means something else in a list stays alone.
fn joined(versions: &[String]) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    let mut open = false;
    for version in versions {
        let is_plain = !version.is_empty() && !version.contains(['"', ',', '\r', '\n']);
        match all.last_mut() {
            Some(list) if open && is_plain && list.len() + version.len() < API_VERSIONS_BYTES_MAX => {
                list.push(',');
                list.push_str(version);
            }
            _ => all.push(version.clone()),
        }
        open = is_plain;
    }
    all
}

fn check_size(arguments: &[String], limits: &ExecLimits) -> Result<(), TooLarge> {
    let bytes_max = limits.text_bytes_max - 1;
    if let Some(argument) = arguments.iter().find(|argument| argument.len() > bytes_max) {
        let beginning = redact_url(argument).chars().take(BEGINNING_CHARS).collect();
        return Err(TooLarge::Argument { beginning, bytes: argument.len(), bytes_max });
    }
    let bytes = arguments.iter().map(|argument| ExecLimits::cost(argument.len())).sum();
    let bytes_max = limits.total_bytes_max.saturating_sub(ENVIRONMENT_BYTES);
    if bytes > bytes_max { Err(TooLarge::All { bytes, bytes_max }) } else { Ok(()) }
}

#[cfg(test)]
mod tests;
