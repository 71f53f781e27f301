//! A log line in the format of logrus.

use std::fmt::Write as _;
use std::time::{Duration, SystemTime};

use jiff::civil::DateTime;
use tiphys_go::strconv::quote;
use tiphys_process::escape_json;

/// The format of log lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LogFormat {
    /// `{"time":"…","level":"info","msg":"…",…}`.
    Json,
    /// `time="…" level=info msg="…" …`.
    Text,
}

/// The severity of a line, with the names of logrus.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub(crate) enum Severity {
    Trace,
    Debug,
    Info,
    Warning,
    Error,
    /// The process ends.
    Fatal,
}

impl Severity {
    fn as_str(self) -> &'static str {
        self.into()
    }
}

/// A field's value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Field {
    Bool(bool),
    Integer(i128),
    Number(f64),
    Text(String),
}

/// A line without its time.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct LogLine {
    pub(crate) severity: Severity,
    /// The message.
    pub(crate) message: String,
    /// Additional fields with unique names.
    pub(crate) fields: Vec<(&'static str, Field)>,
}

/// Names that every line has. A field with such a name becomes `fields.NAME`, as in logrus.
const RESERVED: [&str; 3] = ["time", "level", "msg"];

impl LogLine {
    /// Formats the line, including its newline.
    pub(crate) fn text(&self, format: LogFormat, time: SystemTime) -> String {
        let time = rfc3339(time);
        let mut line = match format {
            LogFormat::Json => self.json(&time),
            LogFormat::Text => self.logfmt(&time),
        };
        line.push('\n');
        line
    }

    fn names(&self) -> impl Iterator<Item = (String, &Field)> {
        self.fields.iter().map(|(name, value)| {
            let name = if RESERVED.contains(name) { format!("fields.{name}") } else { (*name).to_owned() };
            (name, value)
        })
    }

    fn json(&self, time: &str) -> String {
        let level = self.severity.as_str();
        let mut line = format!(r#"{{"time":"{time}","level":"{level}","msg":{}"#, json_text(&self.message));
        for (name, value) in self.names() {
            let value = match value {
                Field::Bool(value) => value.to_string(),
                Field::Integer(value) => value.to_string(),
                // JSON has no syntax for these numbers.
                Field::Number(value) if !value.is_finite() => json_text(&value.to_string()),
                Field::Number(value) => value.to_string(),
                Field::Text(value) => json_text(value),
            };
            // Writing to a string does not fail.
            let _ = write!(line, ",{}:{value}", json_text(&name));
        }
        line.push('}');
        line
    }

    fn logfmt(&self, time: &str) -> String {
        let message = logfmt_text(&self.message);
        let mut line = format!("time={} level={} msg={message}", logfmt_text(time), self.severity.as_str());
        let mut fields: Vec<_> = self.names().collect();
        fields.sort_by(|(one, _), (other, _)| one.cmp(other));
        for (name, value) in fields {
            let value = match value {
                Field::Bool(value) => value.to_string(),
                Field::Integer(value) => value.to_string(),
                Field::Number(value) => value.to_string(),
                Field::Text(value) => logfmt_text(value),
            };
            let _ = write!(line, " {name}={value}");
        }
        line
    }
}

fn json_text(text: &str) -> String {
    escape_json(&serde_json::Value::from(text).to_string())
}

/// Quotes a string if it contains characters that need quotes.
fn logfmt_text(text: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._/@^+".contains(&byte);
    if text.bytes().all(plain) { text.to_owned() } else { quote(text) }
}

/// Formats a time in UTC like RFC 3339, in seconds. Earlier times than 1970 become 1970.
pub(crate) fn rfc3339(time: SystemTime) -> String {
    let seconds = time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or(Duration::ZERO).as_secs();
    let epoch = DateTime::constant(1970, 1, 1, 0, 0, 0, 0);
    format!("{}Z", epoch.saturating_add(Duration::from_secs(seconds)))
}

#[cfg(test)]
mod tests;
