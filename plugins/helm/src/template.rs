//! The arguments of `helm template`, in the order of Argo CD's native support.

use std::cell::Cell;
use std::path::PathBuf;

use tiphys_helm_values::{self as values, Flag, HelmVersion, Inputs, LIMITS, assignment_text, merged};
use tiphys_model::access::redact_url;
use tiphys_process::ExecLimits;

use crate::exact_value::ExactValue;
use crate::options::{AssignmentKind, Step};
use crate::redaction::{INLINE_PLACEHOLDER, REDACTED, without_values};

/// Maximum bytes of joined API versions in one argument. Those of a cluster may exceed the system's limit of one argument, or of all
/// arguments if not joined.
const API_VERSIONS_BYTES_MAX: usize = 64 * 1024;

/// Bytes reserved for the environment of helm: a few short variables.
const ENVIRONMENT_BYTES: usize = 16 * 1024;

/// Characters of an oversized argument in messages.
const BEGINNING_CHARS: usize = 64;

/// Kind, name, and value with variables replaced, or path of the file.
pub(crate) type NamedValue = (AssignmentKind, String, String);

/// The resolved input of a call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Template {
    pub(crate) release_name: String,
    /// Its namespace, if not empty.
    pub(crate) namespace: String,
    /// The cluster's version.
    pub(crate) kube_version: Option<String>,
    pub(crate) assignments: Vec<NamedValue>,
    pub(crate) value_files: Vec<String>,
    /// The file of inline values.
    pub(crate) inline_values: Option<PathBuf>,
    /// The values file with lists and maps of exact values.
    pub(crate) exact_values: Option<PathBuf>,
    /// API versions of the cluster.
    pub(crate) api_versions: Vec<String>,
    /// The chart's directory `crds`.
    pub(crate) crds: Step,
    /// Validation of values against the schema.
    pub(crate) schema_validation: Step,
    /// Test hooks.
    pub(crate) tests: Step,
}

/// A command line, and its form in messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Call {
    pub(crate) arguments: Vec<String>,
    /// The command as Argo CD shows it, with the values of `--set` and similar options redacted.
    pub(crate) shown: String,
    /// Values that helm may quote in its messages. The command shows none of them.
    values: Vec<String>,
}

impl Call {
    /// Redacts the values of `--set` and `--set-string` in helm's output, and the exact values.
    pub(crate) fn without_values(&self, text: &str, exact: &[ExactValue]) -> String {
        without_values(text, &self.values, exact)
    }
}

/// Arguments above the system's limits.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum TooLarge {
    /// A value is too large.
    #[error(
        "parameter {parameter} has {bytes} bytes, more than {bytes_max}, the limit of one value; move it to the parameter values or to \
         a value file, or name a file with it in set-file.{name}"
    )]
    Value {
        parameter: String,
        name: String,
        /// Length of name and value.
        bytes: usize,
        bytes_max: usize,
    },
    /// Another argument is too large.
    #[error("an argument of helm has {bytes} bytes, more than {bytes_max}: {beginning}…")]
    Argument { beginning: String, bytes: usize, bytes_max: usize },
    /// All arguments are too large.
    #[error(
        "the parameters make {bytes} bytes of arguments for helm, more than {bytes_max}; move values from set.NAME to the parameter values \
         or to a value file"
    )]
    All { bytes: usize, bytes_max: usize },
}

impl Template {
    /// Returns the command line.
    pub(crate) fn call(&self, limits: &ExecLimits) -> Result<Call, TooLarge> {
        let inline = self.inline_values.as_ref().map(|path| path.to_string_lossy().into_owned());
        let arguments = self.arguments(inline.as_deref(), &joined(&self.api_versions), argument);
        self.check_values(limits)?;
        check_size(&arguments, limits)?;
        let inline = inline.as_ref().map(|_| INLINE_PLACEHOLDER);
        let shown = format!("helm {}", self.arguments(inline, &self.api_versions, redacted).join(" "));
        let values = self.assignments.iter().filter(|one| one.0 != AssignmentKind::File);
        // Helm also quotes parts: items of lists, and values that end at a comma.
        let parts = |value: &str| value.split([',', '{', '}', '=']).map(str::to_owned).collect::<Vec<_>>();
        let values =
            values.flat_map(|(_, _, value)| [vec![value.clone(), unescaped(value)], parts(value)].concat());
        // Values that the command shows anyway, such as the release name, are not secrets.
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
        let exact = self.exact_values.as_ref().map(|path| path.to_string_lossy());
        for file in self.value_files.iter().map(String::as_str).chain(inline).chain(exact.as_deref()) {
            option("--values", &csv_field(file));
        }
        for version in api_versions {
            option("--api-versions", version);
        }
        let flags = [
            (self.crds == Step::Run, "--include-crds"),
            (self.schema_validation == Step::Skip, "--skip-schema-validation"),
            (self.tests == Step::Skip, "--skip-tests"),
        ];
        all.extend(flags.into_iter().filter(|(is_set, _)| *is_set).map(|(_, name)| name.to_owned()));
        all
    }

    fn check_values(&self, limits: &ExecLimits) -> Result<(), TooLarge> {
        for (kind, name, value) in &self.assignments {
            let bytes = argument(*kind, name, value).len();
            if bytes >= limits.text_bytes_max {
                let (parameter, bytes_max) = (format!("{}{name}", kind.prefix()), limits.text_bytes_max - 1);
                return Err(TooLarge::Value { parameter, name: name.clone(), bytes, bytes_max });
            }
        }
        Ok(())
    }
}

/// Returns the argument of an option that sets one value.
pub(crate) fn argument(kind: AssignmentKind, name: &str, value: &str) -> String {
    match kind {
        AssignmentKind::Value | AssignmentKind::Text => assignment_text(name, value),
        AssignmentKind::File => file_assignment(name, value),
    }
}

/// Returns the argument for messages: any value may be a secret. A name may contain `=` and so a value.
fn redacted(_: AssignmentKind, name: &str, _: &str) -> String {
    format!("{}={REDACTED}", name.split('=').next().unwrap_or_default())
}

/// Returns a value as helm parses it, without escapes.
fn unescaped(value: &str) -> String {
    let mut chars = value.chars();
    std::iter::from_fn(|| chars.next().and_then(|char| if char == '\\' { chars.next() } else { Some(char) }))
        .collect()
}

/// Returns `name=path` with the path escaped: helm's grammar interprets backslashes and commas in paths, too.
fn file_assignment(name: &str, path: &str) -> String {
    format!("{name}={}", file_text(path))
}

/// Escapes a path or URL for such an assignment.
pub(crate) fn file_text(path: &str) -> String {
    path.replace('\\', "\\\\").replace(',', "\\,")
}

/// Whether `--set-file` with this name reads only this file. A name may contain a whole assignment with an unchecked file, so the argument
/// is parsed with helm's grammar before helm runs.
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
        // Helm rejects invalid input too, after it has read earlier files.
        let _refused = merged(&inputs);
        is_it.get()
    })
}

/// Quotes a string as a single CSV field: `--values` takes comma-separated values, so helm would read several files otherwise.
fn csv_field(text: &str) -> String {
    if text.contains(['"', ',', '\r', '\n']) { format!("\"{}\"", csv_text(text)) } else { text.to_owned() }
}

/// Escapes quotation marks in a CSV field.
pub(crate) fn csv_text(text: &str) -> String {
    text.replace('"', "\"\"")
}

/// Joins API versions with commas, which helm splits. A version that a list would change stays alone.
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
