//! Types with methods.

use std::fmt;
use std::rc::Rc;

use crate::versions::Version;

use super::Value;
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
        }
    }

    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Self::Date(_) | Self::VersionValue(_) => "struct",
            Self::Duration(_) => "int64",
            Self::Month(_) | Self::Weekday(_) => "int",
            Self::Version(_) => "ptr",
        }
    }

    /// Returns the number of a type that is an integer.
    pub(crate) fn integer(&self) -> Option<i64> {
        match self {
            Self::Duration(value) => Some(*value),
            Self::Month(value) | Self::Weekday(value) => Some((*value).into()),
            Self::Date(_) | Self::Version(_) | Self::VersionValue(_) => None,
        }
    }

    /// Returns whether the Go type has a field of this name, which templates cannot read.
    pub(crate) fn has_hidden_field(&self, name: &str) -> bool {
        match self {
            Self::Date(_) => ["wall", "ext", "loc"].contains(&name),
            Self::Version(_) | Self::VersionValue(_) => {
                ["major", "minor", "patch", "pre", "metadata", "original"].contains(&name)
            }
            Self::Duration(_) | Self::Month(_) | Self::Weekday(_) => false,
        }
    }

    /// Calls a method. `None` if there is none of this name, `Err` with the number of expected arguments if the number is wrong.
    pub(crate) fn method(&self, name: &str, arguments: &[Value]) -> Option<Result<Value, usize>> {
        let value = match self {
            Self::Date(date) => return datetime::method(date, name, arguments),
            Self::Duration(value) => duration_method(*value, name)?,
            Self::Month(_) | Self::Weekday(_) => (name == "String").then(|| self.to_string().into())?,
            Self::Version(version) | Self::VersionValue(version) => {
                return version_method(version, name, arguments);
            }
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
        }
    }
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
