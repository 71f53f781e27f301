//! Types with methods.

use std::fmt;
use std::rc::Rc;

use crate::versions::Version;

use super::chart::{Files, Struct};
use super::{Str, Value};
use crate::gotemplate::datetime::{self, DateTime};

pub(crate) const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

pub(crate) const WEEKDAYS: [&str; 7] =
    ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];

/// A value of a type with methods.
#[derive(Clone, Debug)]
pub(crate) enum Named {
    /// `time.Time`
    Date(DateTime),
    /// `time.Duration`, in nanoseconds
    Duration(i64),
    /// `time.Month`, from 1
    Month(u8),
    /// `time.Weekday`, from 0 for Sunday
    Weekday(u8),
    /// `*semver.Version`
    Version(Rc<Version>),
    /// `semver.Version`
    VersionValue(Rc<Version>),
    /// A struct of Helm.
    Struct(Rc<Struct>),
    /// `.Files` of a chart
    Files(Rc<Files>),
    /// `[]uint8`: the content of a file
    Bytes(Str),
}

impl Named {
    pub(crate) fn type_name(&self) -> &'static str {
        match self {
            Self::Date(_) => "time.Time",
            Self::Duration(_) => "time.Duration",
            Self::Month(_) => "time.Month",
            Self::Weekday(_) => "time.Weekday",
            Self::Version(_) => "*semver.Version",
            Self::VersionValue(_) => "semver.Version",
            Self::Struct(of) => of.type_name,
            Self::Files(_) => "engine.files",
            Self::Bytes(_) => "[]uint8",
        }
    }

    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Self::Struct(of) if of.type_name.starts_with('*') => "ptr",
            Self::Date(_) | Self::VersionValue(_) | Self::Struct(_) => "struct",
            Self::Duration(_) => "int64",
            Self::Month(_) | Self::Weekday(_) => "int",
            Self::Version(_) => "ptr",
            Self::Files(_) => "map",
            Self::Bytes(_) => "slice",
        }
    }

    /// Returns the number of a type that is an integer.
    pub(crate) fn integer(&self) -> Option<i64> {
        match self {
            Self::Duration(value) => Some(*value),
            Self::Month(value) | Self::Weekday(value) => Some((*value).into()),
            Self::Date(_)
            | Self::Version(_)
            | Self::VersionValue(_)
            | Self::Struct(_)
            | Self::Files(_)
            | Self::Bytes(_) => None,
        }
    }

    /// Returns whether a container is empty.
    pub(crate) fn is_empty(&self) -> bool {
        match self {
            Self::Files(files) => files.0.is_empty(),
            Self::Bytes(bytes) => bytes.is_empty(),
            named => named.integer() == Some(0),
        }
    }

    /// Returns whether the Go type has a field of this name, which templates cannot read.
    pub(crate) fn has_hidden_field(&self, name: &str) -> bool {
        match self {
            Self::Date(_) => ["wall", "ext", "loc"].contains(&name),
            Self::Version(_) | Self::VersionValue(_) => {
                ["major", "minor", "patch", "pre", "metadata", "original"].contains(&name)
            }
            Self::Struct(of) => of.hidden.contains(&name),
            Self::Duration(_) | Self::Month(_) | Self::Weekday(_) | Self::Files(_) | Self::Bytes(_) => false,
        }
    }

    /// Calls a method, or returns a field. `None` if there is none of this name, `Err` with the number of expected arguments if the number is wrong.
    pub(crate) fn method(&self, name: &str, arguments: &[Value]) -> Option<Result<Value, usize>> {
        let value = match self {
            Self::Date(date) => return datetime::method(date, name, arguments),
            Self::Duration(value) => duration_method(*value, name)?,
            Self::Month(_) | Self::Weekday(_) => (name == "String").then(|| self.to_string().into())?,
            Self::Version(version) | Self::VersionValue(version) => {
                return version_method(version, name, arguments);
            }
            Self::Struct(of) => of.member(name)?,
            Self::Files(files) => return Some(Ok(files.method(name, arguments))),
            Self::Bytes(_) => return None,
        };
        Some(if arguments.is_empty() { Ok(value) } else { Err(0) })
    }
}

impl fmt::Display for Named {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Date(date) => f.write_str(&date.to_string()),
            Self::Duration(value) => f.write_str(&datetime::duration_string(*value)),
            Self::Month(value) => match MONTHS.get(usize::from(*value).wrapping_sub(1)) {
                Some(name) => f.write_str(name),
                None => write!(f, "%!Month({value})"),
            },
            Self::Weekday(value) => f.write_str(WEEKDAYS[usize::from(*value) % 7]),
            Self::Version(version) | Self::VersionValue(version) => write!(f, "{version}"),
            Self::Struct(of) => f.write_str(of.text.as_deref().unwrap_or_default()),
            Self::Files(files) => {
                let contents =
                    files.0.iter().map(|(path, bytes)| format!("{}:{}", path.lossy(), listed(bytes)));
                write!(f, "map[{}]", contents.collect::<Vec<_>>().join(" "))
            }
            Self::Bytes(bytes) => f.write_str(&listed(bytes)),
        }
    }
}

/// Writes bytes as Go prints a slice of them.
fn listed(bytes: &[u8]) -> String {
    let numbers: Vec<String> = bytes.iter().map(u8::to_string).collect();
    format!("[{}]", numbers.join(" "))
}

#[expect(clippy::cast_precision_loss, reason = "Go's methods return floats too")]
fn duration_method(value: i64, name: &str) -> Option<Value> {
    const SECOND: i64 = 1_000_000_000;
    let fractional = |unit: i64| Value::Float((value / unit) as f64 + (value % unit) as f64 / unit as f64);
    Some(match name {
        "Hours" => fractional(3600 * SECOND),
        "Minutes" => fractional(60 * SECOND),
        "Seconds" => fractional(SECOND),
        "Milliseconds" => Value::Int64(value / 1_000_000),
        "Microseconds" => Value::Int64(value / 1000),
        "Nanoseconds" => Value::Int64(value),
        "Abs" => Value::named(Named::Duration(value.saturating_abs())),
        "String" => datetime::duration_string(value).into(),
        _ => return None,
    })
}

fn version_method(version: &Version, name: &str, arguments: &[Value]) -> Option<Result<Value, usize>> {
    let [major, minor, patch] = version.numbers();
    let raised = |text: String| {
        let parsed = Version::parse(&text).ok()?;
        Some(Value::named(Named::VersionValue(Rc::new(parsed))))
    };
    let compared = |is: fn(std::cmp::Ordering) -> Value| match arguments {
        [Value::Special(super::Special(Named::Version(other)))] => Ok(is(version.precedence(other))),
        _ => Err(1),
    };
    let value = match name {
        "Major" => Value::Unsigned(major),
        "Minor" => Value::Unsigned(minor),
        "Patch" => Value::Unsigned(patch),
        "Prerelease" => version.pre_release().into(),
        "Metadata" => version.metadata().into(),
        "Original" => version.text().into(),
        "String" => version.to_string().into(),
        "IncMajor" => raised(format!("{}.0.0", major.saturating_add(1)))?,
        "IncMinor" => raised(format!("{major}.{}.0", minor.saturating_add(1)))?,
        "IncPatch" if version.is_pre_release() => raised(format!("{major}.{minor}.{patch}"))?,
        "IncPatch" => raised(format!("{major}.{minor}.{}", patch.saturating_add(1)))?,
        "Compare" => return Some(compared(|ordering| Value::Int(ordering as i64))),
        "Equal" => return Some(compared(|ordering| Value::Bool(ordering.is_eq()))),
        "LessThan" => return Some(compared(|ordering| Value::Bool(ordering.is_lt()))),
        "LessThanEqual" => return Some(compared(|ordering| Value::Bool(ordering.is_le()))),
        "GreaterThan" => return Some(compared(|ordering| Value::Bool(ordering.is_gt()))),
        "GreaterThanEqual" => return Some(compared(|ordering| Value::Bool(ordering.is_ge()))),
        _ => return None,
    };
    Some(if arguments.is_empty() { Ok(value) } else { Err(0) })
}
