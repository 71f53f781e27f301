//! Formatting of errors with their causes.

use std::error::Error;

/// Formats an error with its causes, joined by colons. A repeated message is printed once.
pub fn chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        let more = inner.to_string();
        // Transparent variants and some libraries repeat their cause.
        if !text.ends_with(&more) {
            text.push_str(": ");
            text.push_str(&more);
        }
        cause = inner.source();
    }
    text
}
