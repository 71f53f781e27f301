//! Log lines of the plugin server in the two formats of Argo CD's servers, which are those of the Go library logrus.

mod line;

use std::fmt;
use std::io::Write;
use std::time::{Duration, SystemTime};

use tracing::field::Visit;
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::layer::{Context, Layer};
use tracing_subscriber::registry::{LookupSpan, Scope};

use crate::settings::now;

pub(crate) use line::{Field, LogFormat, LogLine, Severity, rfc3339};

/// Writes each event as one line, with the fields of the spans around it.
#[derive(Debug)]
pub(super) struct ServerLog<W> {
    format: LogFormat,
    writer: W,
}

impl<W, O: Write> ServerLog<W>
where
    W: Fn() -> O,
{
    /// Writes each line at once to the writer that `writer` opens.
    pub(super) fn new(format: LogFormat, writer: W) -> Self {
        Self { format, writer }
    }
}

/// The fields of a span.
struct SpanFields(Vec<(&'static str, Field)>);

impl<S, W, O> Layer<S> for ServerLog<W>
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    W: Fn() -> O + 'static,
    O: Write,
{
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let Some(span) = context.span(id) else { return };
        let mut fields = Fields::default();
        attributes.record(&mut fields);
        span.extensions_mut().insert(SpanFields(fields.others));
    }

    fn on_record(&self, id: &Id, values: &Record<'_>, context: Context<'_, S>) {
        let Some(span) = context.span(id) else { return };
        let mut fields = Fields::default();
        values.record(&mut fields);
        if let Some(SpanFields(known)) = span.extensions_mut().get_mut::<SpanFields>() {
            for (name, value) in fields.others {
                set(known, name, value);
            }
        }
    }

    fn on_event(&self, event: &Event<'_>, context: Context<'_, S>) {
        let mut all = Vec::new();
        for span in context.event_scope(event).into_iter().flat_map(Scope::from_root) {
            if let Some(SpanFields(fields)) = span.extensions().get::<SpanFields>() {
                for (name, value) in fields {
                    set(&mut all, name, value.clone());
                }
            }
        }
        let mut fields = Fields::default();
        event.record(&mut fields);
        for (name, value) in fields.others {
            set(&mut all, name, value);
        }
        let line =
            LogLine { severity: severity(*event.metadata().level()), message: fields.message, fields: all };
        line.write(self.format, now(), (self.writer)());
    }
}

/// Formats the time after this duration, as log lines do.
pub(crate) fn time_in(from_now: Duration) -> String {
    let now = now();
    line::rfc3339(now.checked_add(from_now).unwrap_or(now))
}

impl LogLine {
    /// Writes the complete line. Errors are ignored.
    fn write(&self, format: LogFormat, time: SystemTime, mut out: impl Write) {
        drop(out.write_all(self.text(format, time).as_bytes()));
    }

    /// Writes a line that is not an event: before logs are set up, or with a severity that events do not have.
    pub(crate) fn print(&self, format: LogFormat) {
        self.write(format, now(), std::io::stderr());
    }
}

fn severity(level: Level) -> Severity {
    match level {
        Level::ERROR => Severity::Error,
        Level::WARN => Severity::Warning,
        Level::INFO => Severity::Info,
        Level::DEBUG => Severity::Debug,
        Level::TRACE => Severity::Trace,
    }
}

/// Sets a field. Of several fields with one name, the innermost is used.
fn set(fields: &mut Vec<(&'static str, Field)>, name: &'static str, value: Field) {
    match fields.iter_mut().find(|(known, _)| *known == name) {
        Some((_, old)) => *old = value,
        None => fields.push((name, value)),
    }
}

/// The fields of an event or a span.
#[derive(Default)]
struct Fields {
    message: String,
    others: Vec<(&'static str, Field)>,
}

impl Fields {
    fn add(&mut self, field: &tracing::field::Field, value: Field) {
        self.others.push((field.name(), value));
    }
}

impl Visit for Fields {
    fn record_f64(&mut self, field: &tracing::field::Field, value: f64) {
        self.add(field, Field::Number(value));
    }

    fn record_i64(&mut self, field: &tracing::field::Field, value: i64) {
        self.add(field, Field::Integer(value.into()));
    }

    fn record_u64(&mut self, field: &tracing::field::Field, value: u64) {
        self.add(field, Field::Integer(value.into()));
    }

    fn record_bool(&mut self, field: &tracing::field::Field, value: bool) {
        self.add(field, Field::Bool(value));
    }

    fn record_str(&mut self, field: &tracing::field::Field, value: &str) {
        if field.name() == "message" {
            value.clone_into(&mut self.message);
        } else {
            self.add(field, Field::Text(value.to_owned()));
        }
    }

    fn record_debug(&mut self, field: &tracing::field::Field, value: &dyn fmt::Debug) {
        if field.name() == "message" {
            self.message = format!("{value:?}");
        } else {
            self.add(field, Field::Text(format!("{value:?}")));
        }
    }
}

#[cfg(test)]
pub(super) mod tests;
