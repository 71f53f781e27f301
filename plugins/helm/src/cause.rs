//! Causes of failures in one sentence: the chart, the template and its line, and helm's message without its command and its layers.

mod excerpt;
mod message;

use crate::builtin::BuiltinError;
use crate::chart::{Chart, file_name};
use crate::failure::chain;
use crate::generate::GenerateError;
use crate::request::Request;

use message::{Message, lines};

/// The first words of errors about dependencies. The cause has its own.
const DEPENDENCIES: &str = "error building helm chart dependencies: ";

/// Begins helm's message in its output.
const ERROR: &str = "Error: ";

/// Returns the cause of a failure of a chart, and an excerpt of the template that failed. `None` for other failures
/// before helm runs.
pub(crate) fn cause(error: &GenerateError, request: &Request) -> Option<(String, Option<String>)> {
    let name = chart_name(request);
    let in_chart = |text: &str| text.strip_prefix(&format!("{name}/")).unwrap_or(text).to_owned();
    let (text, excerpt) = match error {
        GenerateError::Template { stderr: Some(stderr), .. } => {
            let message = Message::parse(helm_message(stderr).filter(|text| !text.is_empty())?, &name);
            let template = message.template.as_ref();
            let excerpt = template.and_then(|place| excerpt::around(&request.app_path, place));
            (message.to_string(), excerpt)
        }
        GenerateError::Dependencies(error) => {
            let text = chain(error);
            let text = text.strip_prefix(DEPENDENCIES).unwrap_or(&text);
            (format!("dependencies: {}", lines(helm_message(text).unwrap_or(text))), None)
        }
        GenerateError::Chart(error) => (error.problem(), None),
        GenerateError::Builtin(BuiltinError::Declined(reason)) => (in_chart(reason), None),
        GenerateError::Builtin(BuiltinError::Limit { problem, remedy }) => {
            (format!("{}; {remedy}use --helm-engine program", in_chart(problem)), None)
        }
        GenerateError::OnlyHelm { reason, source } => {
            (format!("{}; {}", in_chart(reason), chain(source)), None)
        }
        GenerateError::Different(difference) => (difference.to_string(), None),
        _ => return None,
    };
    Some((format!("chart {name}: {text}"), excerpt))
}

/// Returns helm's message in its output: what follows the log.
fn helm_message(output: &str) -> Option<&str> {
    const ADVICE: &str = "Use --debug flag to render out invalid YAML";
    let text = &output[output.find(ERROR)? + ERROR.len()..];
    let text = text.trim_end();
    Some(text.strip_suffix(ADVICE).unwrap_or(text).trim())
}

/// Returns the name of the chart, or of its directory if the chart has none.
fn chart_name(request: &Request) -> String {
    let chart = Chart::read(&request.app_path, request.settings.chart_bounds).ok();
    let name = chart.map(|chart| chart.name).filter(|name| !name.is_empty());
    name.unwrap_or_else(|| file_name(&request.app_path))
}

#[cfg(test)]
mod tests;
