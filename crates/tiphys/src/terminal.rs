//! Text for people on stderr: nothing in it steers their terminal.

use std::fmt::{self, Write as _};

use tracing::field::{Field, Visit};
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::fmt::FmtContext;
use tracing_subscriber::fmt::format::{FormatEvent, FormatFields, Writer};
use tracing_subscriber::registry::LookupSpan;

/// The text with control characters as escapes, since names and the output of plugins are somebody else's. Lines and tabs stay.
pub(crate) fn harmless(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_control() && !matches!(c, '\n' | '\t') {
            shown.extend(c.escape_unicode());
        } else {
            shown.push(c);
        }
    }
    shown
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
        writer.write_str(&harmless(&text.message))?;
        if !text.fields.is_empty() {
            write!(writer, " ({})", harmless(&text.fields))?;
        }
        writeln!(writer)
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
mod tests {
    use super::harmless;

    #[test]
    fn a_name_cannot_steer_the_terminal() {
        assert_eq!(harmless("a\x1b[2Jb\r\u{9b}c\n\tß🚢"), "a\\u{1b}[2Jb\\u{d}\\u{9b}c\n\tß🚢");
    }
}
