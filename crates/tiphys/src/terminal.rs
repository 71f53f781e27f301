//! Escapes text, so that it contains no control sequences for a terminal and no commands for a CI system.

use std::fmt::{self, Write as _};
use std::sync::OnceLock;

use tiphys_process::{escape_text, is_control_character};
pub(crate) use tiphys_service::one_line;
use tracing::field::{Field, Visit};
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::fmt::FmtContext;
use tracing_subscriber::fmt::format::{FormatEvent, FormatFields, Writer};
use tracing_subscriber::registry::LookupSpan;

/// The colour of errors.
pub(crate) const ERROR_COLOUR: &str = "31";

/// The colour of hints.
pub(crate) const HINT_COLOUR: &str = "36";

/// Whether labels on standard error have colours.
static LABELS_ARE_STYLED: OnceLock<bool> = OnceLock::new();

/// Sets whether labels on standard error have colours. Only the first call counts.
pub(crate) fn style_labels(are_styled: bool) {
    LABELS_ARE_STYLED.get_or_init(|| are_styled);
}

/// Returns the word before a message on standard error, with the colour if standard error has colours.
pub(crate) fn label(word: &str, colour: &str) -> String {
    match LABELS_ARE_STYLED.get() {
        Some(true) => format!("\x1b[{colour}m{word}\x1b[0m"),
        _ => word.to_owned(),
    }
}

/// Escapes a message. Further lines are indented, so that untrusted text does not look like a message of this program.
pub(crate) fn message(text: &str) -> String {
    let text = escape_text(text);
    let mut lines = text.trim_end().lines();
    let first = lines.next().unwrap_or_default().to_owned();
    lines.fold(first, |shown, line| if line.is_empty() { shown + "\n" } else { shown + "\n  " + line })
}

/// Formats text as one line of words separated by single blanks. Control characters are escaped.
pub(crate) fn prose(text: &str) -> String {
    escape_text(text).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Replaces control characters by blanks, for columns and hints, which have no space for escapes.
pub(crate) fn without_controls(text: &str) -> String {
    text.chars().map(|c| if is_control_character(c) { ' ' } else { c }).collect()
}

/// Formats log events like the program's errors: `warning: message (field=value)`.
#[derive(Debug)]
pub(crate) struct Lines;

impl<S, N> FormatEvent<S, N> for Lines
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
{
    fn format_event(
        &self,
        _: &FmtContext<'_, S, N>,
        mut writer: Writer<'_>,
        event: &Event<'_>,
    ) -> fmt::Result {
        let (word, colour) = match *event.metadata().level() {
            Level::ERROR => ("error", ERROR_COLOUR),
            Level::WARN => ("warning", "33"),
            Level::INFO => ("info", "32"),
            Level::DEBUG => ("debug", "34"),
            Level::TRACE => ("trace", "35"),
        };
        let mut text = Text::default();
        event.record(&mut text);
        if writer.has_ansi_escapes() {
            write!(writer, "\x1b[{colour}m{word}:\x1b[0m ")?;
        } else {
            write!(writer, "{word}: ")?;
        }
        if !text.fields.is_empty() {
            write!(text.message, " ({})", text.fields)?;
        }
        writeln!(writer, "{}", message(&text.message))
    }
}

/// An event's message, and its other fields.
#[derive(Default)]
struct Text {
    message: String,
    fields: String,
}

impl Visit for Text {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        // Writing to a string does not fail.
        let _ = if field.name() == "message" {
            write!(self.message, "{value:?}")
        } else {
            let comma = if self.fields.is_empty() { "" } else { ", " };
            write!(self.fields, "{comma}{}={value:?}", field.name())
        };
    }
}

#[cfg(test)]
mod tests;
