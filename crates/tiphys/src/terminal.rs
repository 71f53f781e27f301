//! Text for people: nothing in it steers their terminal, or the CI system that reads it.

use std::fmt::{self, Write as _};

use tiphys_process::{escape_text, is_control_character};
pub(crate) use tiphys_service::one_line;
use tracing::field::{Field, Visit};
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::fmt::FmtContext;
use tracing_subscriber::fmt::format::{FormatEvent, FormatFields, Writer};
use tracing_subscriber::registry::LookupSpan;

/// A message, escaped. Further lines are indented, so that text of others does not look like a message of this program.
pub(crate) fn message(text: &str) -> String {
    let text = escape_text(text);
    let mut lines = text.trim_end().lines();
    let first = lines.next().unwrap_or_default().to_owned();
    lines.fold(first, |shown, line| if line.is_empty() { shown + "\n" } else { shown + "\n  " + line })
}

/// What people wrote, as one line of words with single blanks. Control characters are escapes here, too.
pub(crate) fn prose(text: &str) -> String {
    escape_text(text).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The text with a blank in the place of each control character, where there is no room for escapes: in columns and in hints.
pub(crate) fn without_controls(text: &str) -> String {
    text.chars().map(|c| if is_control_character(c) { ' ' } else { c }).collect()
}

/// Log events as lines in the form of the program's errors: `warning: message (field=value)`.
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
            Level::ERROR => ("error", "31"),
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
