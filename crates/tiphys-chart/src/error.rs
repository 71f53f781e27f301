//! Why a chart cannot be rendered, in Helm's words.

use tiphys_go::gotemplate::{ExecuteError, FunctionError, LimitError, ParseError};
use tiphys_helm_values::CoalesceError;

/// A chart cannot be rendered.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum RenderError {
    /// Helm reports this error, too.
    #[error("{0}")]
    Refused(String),
    /// Listed dependencies are not in `charts`. Helm reports this error, too.
    #[error(
        "an error occurred while checking for chart dependencies. You may need to run 'helm dependency build' to fetch missing dependencies: \
         found in Chart.yaml, but missing in charts/ directory: {}",
        .0.join(", ")
    )]
    MissingDependencies(Vec<String>),
    /// The values do not fit the chart's.
    #[error(transparent)]
    Values(#[from] CoalesceError),
    /// Values do not match `values.schema.json`: the problems of each chart, in lines. The problems are not in Helm's words.
    #[error("values don't meet the specifications of the schema(s) in the following chart(s):\n{0}")]
    Schema(String),
    /// A limit of this program is exceeded, which Helm does not have.
    #[error("{place}: {limit}")]
    Limit {
        /// The template, and the line if it is known.
        place: String,
        /// The limit.
        limit: LimitError,
    },
    /// Only the `helm` program can decide this.
    #[error("{0}; use the helm program")]
    Unsupported(String),
}

impl From<ParseError> for RenderError {
    fn from(error: ParseError) -> Self {
        let place = format!("{}:{}", error.name, error.line);
        if let Some(limit) = error.limit {
            return Self::Limit { place, limit };
        }
        // Helm prints what follows the last colon.
        let last = error.message.rsplit(": ").next().unwrap_or_default();
        let imaginary = last.strip_prefix('"').and_then(|number| number.strip_suffix("i\""));
        if imaginary.is_some_and(|number| number.parse::<f64>().is_ok()) {
            return Self::Unsupported(format!("{place}: complex numbers are not supported"));
        }
        Self::Refused(format!("parse error at ({place}): {last}"))
    }
}

impl From<ExecuteError> for RenderError {
    fn from(error: ExecuteError) -> Self {
        let place = place(&error);
        match (&error.cause, error.limit) {
            (_, Some(limit)) => Self::Limit { place, limit },
            (Some(FunctionError::Unsupported), None) => {
                // The rest may contain the text of a value that is executed as a template.
                let message = error.message.rsplit("error calling ").next().unwrap_or_default();
                let message = message.trim_start_matches(": ");
                Self::Unsupported(match innermost_place(&error.message) {
                    Some(inner) => format!("{inner}: {message}, included at {place}"),
                    None => format!("{place}: {message}"),
                })
            }
            (Some(FunctionError::Deliberate(message)), None) => {
                Self::Refused(format!("execution error at ({place}): {message}"))
            }
            // Helm formats the errors of templates within each other, unless another error is below them.
            _ => Self::Refused(blocks(&error).unwrap_or_else(|| error.to_string())),
        }
    }
}

/// Returns the place in the last template that a message names, unless it is the text of a value.
fn innermost_place(message: &str) -> Option<&str> {
    let (place, _) = message.rsplit_once("template: ")?.1.split_once(": executing ")?;
    (!place.starts_with("gotpl:") && !place.contains(char::is_whitespace)).then_some(place)
}

fn place(error: &ExecuteError) -> String {
    format!("{}:{}:{}", error.name, error.line, error.column)
}

/// Formats an error with those that cause it, each in a block of lines; `None` if a function's own error is the cause.
fn blocks(error: &ExecuteError) -> Option<String> {
    let ExecuteError { executing, context, message, .. } = error;
    // The message ends where that of the next error begins.
    let own = message.split(" template:").next().unwrap_or_default();
    let block = format!("{}\n  executing \"{executing}\" at <{context}>:\n    {own}\n", place(error));
    match &error.cause {
        None => Some(block.trim_end().to_owned()),
        Some(FunctionError::Template(cause)) => Some(block + &blocks(cause)?),
        Some(FunctionError::UnknownTemplate(message)) => Some(block + message),
        Some(FunctionError::Own | FunctionError::Unsupported | FunctionError::Deliberate(_)) => None,
    }
}
