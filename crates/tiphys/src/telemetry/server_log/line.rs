//! A log line in the format of logrus.

use std::fmt::Write as _;
use std::time::{Duration, SystemTime};

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

/// Seconds of a day.
const DAY: u64 = 86_400;

/// Formats a time in UTC like RFC 3339, in seconds. Earlier times than 1970 become 1970.
pub(crate) fn rfc3339(time: SystemTime) -> String {
    let seconds = time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or(Duration::ZERO).as_secs();
    let (year, month, day) = civil(seconds / DAY);
    let of_day = seconds % DAY;
    let (hour, minute, second) = (of_day / 3_600, of_day / 60 % 60, of_day % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

/// Converts a day since 1970-01-01 to year, month and day of the Gregorian calendar. Years start in March here, so that a leap day is the
/// last day of its year.
fn civil(day: u64) -> (u64, u64, u64) {
    /// Days from 0000-03-01 to 1970-01-01.
    const EPOCH: u64 = 719_468;
    /// Days of 400 years, after which the calendar repeats.
    const ERA: u64 = 146_097;
    let (era, of_era) = ((day + EPOCH) / ERA, (day + EPOCH) % ERA);
    let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / (ERA - 1)) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let march = (5 * of_year + 2) / 153;
    let day = of_year - (153 * march + 2) / 5 + 1;
    let month = if march < 10 { march + 3 } else { march - 9 };
    (400 * era + year + u64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests;
