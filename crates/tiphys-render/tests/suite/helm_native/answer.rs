//! Answers of cases, compared with recorded ones.

use std::path::Path;

use serde_json::Value;
use tiphys_plugin::{PluginError, chain};
use tiphys_render::{RenderError, RenderedApplication, SourceFailure};
use tiphys_testkit::oracle::Difference;

use crate::helm_native::case;

/// The commit of a directory that is not a git repository: the requested revision.
const REVISION: &str = "HEAD";

/// Placeholders in recorded strings for values that differ from run to run.
const PLACEHOLDERS: [(&str, &str); 4] = [
    ("<revision>", REVISION),
    ("<revision7>", REVISION),
    ("<revision8>", REVISION),
    ("<repo>", case::REPOSITORY),
];

/// The same in error messages. The file of inline values has another name there, since its path means nothing to a reader.
///
/// An unpacked chart is a tree like others.
const ERROR_PLACEHOLDERS: [(&str, &str); 3] = [
    ("<tmp>/remote", "<path to cached source>"),
    ("<tmp>", "<temp file with values from source.helm.values/valuesObject>"),
    ("<ref:values>", "https://git.example.org/refs/values.git"),
];

/// The answer of a case.
#[derive(Clone, Debug)]
pub(crate) enum Answer {
    /// The objects, in their order.
    Objects(Vec<Value>),
    /// Why there are none: what the plugin wrote to standard error after the cause, else the error with its causes.
    Failed(String),
}

impl Answer {
    /// `folder` of the run has another name in each run.
    pub(crate) fn of(rendered: Result<RenderedApplication, RenderError>, folder: &Path) -> Self {
        match rendered {
            Ok(rendered) => Self::Objects(
                rendered.manifests.into_iter().map(tiphys_engine::Manifest::into_value).collect(),
            ),
            Err(error) => Self::Failed(text_of(&error).replace(&folder.display().to_string(), "<folder>")),
        }
    }

    /// Whether the objects are those that were recorded, or both fail.
    pub(crate) fn check_output(&self, case: &Value) -> Result<(), Difference> {
        let is_random = case["nondeterministic"] == true;
        match (self, case["output"].get("manifests")) {
            (Self::Failed(why), Some(_)) if !may_fail(case) => {
                Err(Difference::new(format!("fails: {why}"), "objects"))
            }
            (Self::Failed(_), _) => Ok(()),
            (Self::Objects(_), None) if may_succeed(case) => Ok(()),
            (Self::Objects(found), None) => Err(Difference::new(shown(found), &case["output"]["error"])),
            (Self::Objects(found), Some(expected)) => {
                let expected = replaced(expected);
                let expected = expected.as_array().expect("a list of objects");
                if found == expected || is_random && names(found) == names(expected) {
                    return Ok(());
                }
                Err(Difference::new(shown(found), shown(expected)))
            }
        }
    }

    /// Whether a failure says what was recorded; `None` if nothing fails here or there.
    pub(crate) fn check_error(&self, case: &Value) -> Option<Result<(), Difference>> {
        let (Self::Failed(found), Some(expected)) = (self, case["output"]["error"].as_str()) else {
            return None;
        };
        let expected = without_set_values(&replaced_text(expected, &ERROR_PLACEHOLDERS));
        let is_said = found.contains(expected.trim_end());
        let of_random = case["nondeterministic"] == true;
        Some(if is_said || of_random { Ok(()) } else { Err(Difference::new(found, expected)) })
    }
}

/// Whether one of the recorded runs of a case failed, or did not.
fn may_fail(case: &Value) -> bool {
    alternatives(case).any(|output| output.get("error").is_some())
}

fn may_succeed(case: &Value) -> bool {
    alternatives(case).any(|output| output.get("manifests").is_some())
}

/// Whole outputs of other runs, where success itself is random.
fn alternatives(case: &Value) -> impl Iterator<Item = &Value> {
    case.get("output_alternatives").and_then(Value::as_array).into_iter().flatten()
}

fn text_of(error: &RenderError) -> String {
    if let RenderError::Source(source) = error
        && let SourceFailure::Plugin { source: PluginError::Command { stderr, .. }, .. } = &*source.failure
    {
        let details = stderr.split_once("\n\ndetails:\n").map(|(_, details)| details);
        return details.unwrap_or(stderr).to_owned();
    }
    chain(error)
}

fn replaced(value: &Value) -> Value {
    match value {
        Value::String(text) => Value::String(
            PLACEHOLDERS
                .iter()
                .fold(text.clone(), |text, (placeholder, value)| text.replace(placeholder, value)),
        ),
        Value::Array(items) => Value::Array(items.iter().map(replaced).collect()),
        Value::Object(fields) => {
            Value::Object(fields.iter().map(|(key, value)| (key.clone(), replaced(value))).collect())
        }
        // A float that is written as a whole number.
        Value::Number(number) if number.as_i64().is_none() => Value::from(number.as_f64()),
        other => other.clone(),
    }
}

fn replaced_text(text: &str, placeholders: &[(&str, &str)]) -> String {
    placeholders.iter().fold(text.to_owned(), |text, (placeholder, value)| text.replace(placeholder, value))
}

/// A recorded message with the values of `--set` and its relatives redacted in helm's command, as our messages show it. This decision is
/// the same for all cases; the head of `decisions.tsv` has it.
fn without_set_values(text: &str) -> String {
    let Some((command, said)) = text.split_once("` failed") else { return text.to_owned() };
    let mut options = command.split(" --");
    let mut out = options.next().unwrap_or_default().to_owned();
    for option in options {
        let is_set = option.starts_with("set");
        let (option, api_versions) = option.split_once(" <api versions").unwrap_or((option, ""));
        let key = option.split('=').next().filter(|_| is_set);
        out.extend([" --", &key.map_or_else(|| option.to_owned(), |key| format!("{key}=******"))]);
        if !api_versions.is_empty() {
            out.extend([" <api versions", api_versions]);
        }
    }
    out + "` failed" + said
}

fn names(objects: &[Value]) -> Vec<(&Value, &Value)> {
    objects.iter().map(|object| (&object["kind"], &object["metadata"]["name"])).collect()
}

fn shown(objects: &[Value]) -> String {
    Value::from(objects.to_vec()).to_string()
}
