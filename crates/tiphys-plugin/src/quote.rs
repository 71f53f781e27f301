//! Formats commands for logs and errors.

use tiphys_go::strconv::quote;

/// Formats a command: arguments joined by blanks. Arguments with white space are quoted like Go's `%q`, empty ones are `""`.
pub fn quote_command(argv: &[String]) -> String {
    let is_quoted = |argument: &str| argument.is_empty() || argument.contains(char::is_whitespace);
    let quoted = |argument: &String| if is_quoted(argument) { quote(argument) } else { argument.clone() };
    argv.iter().map(quoted).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests;
