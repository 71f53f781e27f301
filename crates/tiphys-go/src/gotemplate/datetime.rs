//! Dates and durations: Go's `time.Time` and `time.Duration`.

mod layout;

use std::fmt;
use std::rc::Rc;

use jiff::Timestamp;
use jiff::tz::{TimeZone, TimeZoneDatabase};

pub(crate) use layout::parse;

use crate::gotemplate::value::{Named, Special, Value};
use crate::strconv::quote;

/// Nanoseconds of a second.
pub(crate) const SECOND: i64 = 1_000_000_000;

/// Seconds of a day.
const DAY_SECONDS: i64 = 86_400;

/// A moment, with the time zone in which it is written.
#[derive(Clone, Debug)]
pub(crate) struct DateTime {
    /// Seconds since 1970-01-01T00:00:00Z.
    seconds: i64,
    nanoseconds: u32,
    zone: Zone,
}

/// A time zone.
#[derive(Clone, Debug)]
pub(crate) enum Zone {
    Utc,
    /// A name, which may be empty, and an offset in seconds.
    Fixed(Rc<str>, i32),
    /// A zone of the database.
    Named(TimeZone),
}

impl Zone {
    /// Returns the zone of this name. The local zone is UTC.
    pub(crate) fn of(name: &str) -> Option<Self> {
        match name {
            "" | "UTC" | "Local" => Some(Self::Utc),
            name => TimeZoneDatabase::bundled().get(name).ok().map(Self::Named),
        }
    }
}

/// The fields of a date.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fields {
    pub(crate) year: i64,
    /// From 1.
    pub(crate) month: u8,
    /// From 1.
    pub(crate) day: u8,
    /// From 1.
    pub(crate) day_of_year: u16,
    /// From 0 for Sunday.
    pub(crate) weekday: u8,
    pub(crate) hour: u8,
    pub(crate) minute: u8,
    pub(crate) second: u8,
}

impl DateTime {
    pub(crate) fn from_unix(seconds: i64, nanoseconds: u32) -> Self {
        Self { seconds, nanoseconds, zone: Zone::Utc }
    }

    /// The zero date of Go: 0001-01-01T00:00:00Z.
    pub(crate) fn zero() -> Self {
        Self::from_unix(-62_135_596_800, 0)
    }

    pub(crate) fn is_zero(&self) -> bool {
        (self.seconds, self.nanoseconds) == (Self::zero().seconds, 0)
    }

    pub(crate) fn unix(&self) -> i64 {
        self.seconds
    }

    pub(crate) fn in_zone(&self, zone: Zone) -> Self {
        Self { zone, ..self.clone() }
    }

    /// Adds nanoseconds.
    pub(crate) fn plus(&self, duration: i64) -> Self {
        let sum = i64::from(self.nanoseconds) + duration.rem_euclid(SECOND);
        let seconds = self.seconds.saturating_add(duration.div_euclid(SECOND)).saturating_add(sum / SECOND);
        let nanoseconds = u32::try_from(sum % SECOND).unwrap_or(0);
        Self { seconds, nanoseconds, zone: self.zone.clone() }
    }

    /// Returns the nanoseconds from another date to this one, limited to what fits.
    pub(crate) fn since(&self, other: &Self) -> i64 {
        let seconds = i128::from(self.seconds) - i128::from(other.seconds);
        let nanoseconds = i128::from(self.nanoseconds) - i128::from(other.nanoseconds);
        let duration = seconds * i128::from(SECOND) + nanoseconds;
        let limit = if duration < 0 { i64::MIN } else { i64::MAX };
        i64::try_from(duration).unwrap_or(limit)
    }

    /// Returns the name of the time zone and its offset in seconds.
    fn offset(&self) -> (String, i32) {
        match &self.zone {
            Zone::Utc => ("UTC".to_owned(), 0),
            Zone::Fixed(name, offset) => (name.to_string(), *offset),
            Zone::Named(zone) => match Timestamp::from_second(self.seconds) {
                Ok(moment) => {
                    let info = zone.to_offset_info(moment);
                    (info.abbreviation().to_owned(), info.offset().seconds())
                }
                Err(_) => ("UTC".to_owned(), 0),
            },
        }
    }

    pub(crate) fn fields(&self) -> Fields {
        let local = self.seconds.saturating_add(self.offset().1.into());
        let (days, seconds) = (local.div_euclid(DAY_SECONDS), local.rem_euclid(DAY_SECONDS));
        let (year, month, day) = civil(days);
        let small = |value: i64| u8::try_from(value).unwrap_or(0);
        Fields {
            year,
            month,
            day,
            day_of_year: u16::try_from(days - days_of(year, 1, 1) + 1).unwrap_or(0),
            weekday: small((days + 4).rem_euclid(7)),
            hour: small(seconds / 3600),
            minute: small(seconds / 60 % 60),
            second: small(seconds % 60),
        }
    }

    /// Formats the date by a layout of Go.
    pub(crate) fn format(&self, layout: &[u8]) -> Vec<u8> {
        let (name, offset) = self.offset();
        layout::format(layout, &self.fields(), self.nanoseconds, &name, offset)
    }

    pub(crate) fn rfc3339(&self) -> String {
        String::from_utf8_lossy(&self.format(b"2006-01-02T15:04:05.999999999Z07:00")).into_owned()
    }

    /// Returns the moment of these fields in UTC. Fields out of range are carried over.
    fn of_fields(date: [i64; 3], clock: [i64; 3], nanoseconds: u32) -> Self {
        let [year, month, day] = date;
        let [hour, minute, second] = clock;
        let months = month - 1;
        let days = days_of(
            year.saturating_add(months.div_euclid(12)),
            u8::try_from(months.rem_euclid(12) + 1).unwrap_or(1),
            1,
        )
        .saturating_add(day - 1);
        let seconds = days.saturating_mul(DAY_SECONDS).saturating_add(hour * 3600 + minute * 60 + second);
        Self::from_unix(seconds, nanoseconds)
    }
}

impl fmt::Display for DateTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let written = self.format(b"2006-01-02 15:04:05.999999999 -0700 MST");
        f.write_str(&String::from_utf8_lossy(&written))
    }
}

/// Days since 1970-01-01 of a date in the Gregorian calendar.
fn days_of(year: i64, month: u8, day: u8) -> i64 {
    let year = year.clamp(-1_000_000_000, 1_000_000_000) - i64::from(month <= 2);
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let month = i64::from(month);
    let day_of_year = (153 * (month + if month > 2 { -3 } else { 9 }) + 2) / 5 + i64::from(day) - 1;
    era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468
}

/// The date of a number of days since 1970-01-01.
fn civil(days: i64) -> (i64, u8, u8) {
    let days = days.saturating_add(719_468);
    let (era, day_of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let month = shifted + if shifted < 10 { 3 } else { -9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    let small = |value: i64| u8::try_from(value).unwrap_or(0);
    (year, small(month), small(day_of_year - (153 * shifted + 2) / 5 + 1))
}

/// Calls a method of `time.Time`; see [`Named::method`].
pub(crate) fn method(date: &DateTime, name: &str, arguments: &[Value]) -> Option<Result<Value, usize>> {
    let fields = date.fields();
    let other = match arguments {
        [Value::Special(Special(Named::Date(other)))] => Some(other),
        _ => None,
    };
    let compared = |is: &dyn Fn(i64) -> Value| match other {
        Some(other) => Ok(is(date.since(other))),
        None => Err(1),
    };
    let value = match name {
        "Year" => Value::Int(fields.year),
        "Month" => Value::named(Named::Month(fields.month)),
        "Day" => Value::Int(fields.day.into()),
        "Hour" => Value::Int(fields.hour.into()),
        "Minute" => Value::Int(fields.minute.into()),
        "Second" => Value::Int(fields.second.into()),
        "Nanosecond" => Value::Int(date.nanoseconds.into()),
        "Weekday" => Value::named(Named::Weekday(fields.weekday)),
        "YearDay" => Value::Int(fields.day_of_year.into()),
        "Unix" => Value::Int64(date.seconds),
        "UnixMilli" => Value::Int64(sub_seconds(date, 1000)),
        "UnixMicro" => Value::Int64(sub_seconds(date, 1_000_000)),
        "UnixNano" => Value::Int64(sub_seconds(date, SECOND)),
        "UTC" | "Local" => Value::date(date.in_zone(Zone::Utc)),
        "String" => date.to_string().into(),
        "IsZero" => Value::Bool(date.is_zero()),
        "Sub" => return Some(compared(&|duration| Value::named(Named::Duration(duration)))),
        "After" => return Some(compared(&|duration| Value::Bool(duration > 0))),
        "Before" => return Some(compared(&|duration| Value::Bool(duration < 0))),
        "Equal" => return Some(compared(&|duration| Value::Bool(duration == 0))),
        "Compare" => return Some(compared(&|duration| Value::Int(duration.signum()))),
        "Format" => {
            return Some(match arguments {
                [Value::String(layout)] => Ok(date.format(layout).into()),
                _ => Err(1),
            });
        }
        "Add" => {
            return Some(match arguments {
                [duration] => duration.as_integer().map(|duration| Value::date(date.plus(duration))).ok_or(1),
                _ => Err(1),
            });
        }
        "AddDate" => {
            return Some(match arguments {
                [Value::Int(years), Value::Int(months), Value::Int(days)] => {
                    Ok(Value::date(moved(date, &fields, [*years, *months, *days])))
                }
                _ => Err(3),
            });
        }
        _ => return None,
    };
    Some(if arguments.is_empty() { Ok(value) } else { Err(0) })
}

fn sub_seconds(date: &DateTime, parts: i64) -> i64 {
    date.seconds.wrapping_mul(parts).wrapping_add(i64::from(date.nanoseconds) / (SECOND / parts))
}

fn moved(date: &DateTime, fields: &Fields, [years, months, days]: [i64; 3]) -> DateTime {
    let added = [
        fields.year.saturating_add(years),
        i64::from(fields.month).saturating_add(months),
        i64::from(fields.day).saturating_add(days),
    ];
    let clock = [fields.hour.into(), fields.minute.into(), fields.second.into()];
    let utc = DateTime::of_fields(added, clock, date.nanoseconds);
    let offset: i64 = date.in_zone(date.zone.clone()).offset().1.into();
    utc.plus(-offset * SECOND).in_zone(date.zone.clone())
}

/// Formats a duration in nanoseconds, such as `1h0m0.5s`.
pub(crate) fn duration_string(duration: i64) -> String {
    let sign = if duration < 0 { "-" } else { "" };
    let rest = duration.unsigned_abs();
    let fraction = |value: u64, digits: usize| {
        let unit = 10_u64.pow(u32::try_from(digits).unwrap_or(0));
        let written = format!("{}.{:0digits$}", value / unit, value % unit);
        written.trim_end_matches('0').trim_end_matches('.').to_owned()
    };
    match rest {
        0 => return "0s".to_owned(),
        1..1000 => return format!("{sign}{rest}ns"),
        1000..1_000_000 => return format!("{sign}{}µs", fraction(rest, 3)),
        1_000_000..1_000_000_000 => return format!("{sign}{}ms", fraction(rest, 6)),
        _ => {}
    }
    let minutes = rest / 60_000_000_000;
    let seconds = fraction(rest % 60_000_000_000, 9);
    let (hours, minutes) = (minutes / 60, minutes % 60);
    match (hours, minutes) {
        (0, 0) => format!("{sign}{seconds}s"),
        (0, minutes) => format!("{sign}{minutes}m{seconds}s"),
        (hours, minutes) => format!("{sign}{hours}h{minutes}m{seconds}s"),
    }
}

/// Whether `time.Parse` accepts a string as RFC 3339: `2024-01-02T03:04:05`, any fraction, `Z` or an offset.
pub fn is_rfc3339(text: &str) -> bool {
    parse(b"2006-01-02T15:04:05Z07:00", text.as_bytes()).is_ok()
}

/// Parses a duration such as `1h30m` or `-1.5h` into nanoseconds; `Err` is Go's message.
#[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, reason = "as Go's ParseDuration")]
#[expect(clippy::cast_sign_loss, reason = "as Go's ParseDuration")]
pub fn parse_duration(text: &str) -> Result<i64, String> {
    let quoted = || quote(text);
    let invalid = || format!("time: invalid duration {}", quoted());
    let is_negative = text.starts_with('-');
    let mut rest = text.strip_prefix(['-', '+']).unwrap_or(text);
    if rest == "0" {
        return Ok(0);
    }
    if rest.is_empty() {
        return Err(invalid());
    }
    let mut total = 0_u64;
    while !rest.is_empty() {
        let digits = |text: &str| text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
        let (whole, after) = rest.split_at(digits(rest));
        let (fraction, after) = match after.strip_prefix('.') {
            Some(after) => after.split_at(digits(after)),
            None => ("", after),
        };
        if whole.is_empty() && fraction.is_empty() {
            return Err(invalid());
        }
        let (unit, after) =
            after.split_at(after.find(|c: char| c == '.' || c.is_ascii_digit()).unwrap_or(after.len()));
        let nanoseconds: u64 = match unit {
            "" => return Err(format!("time: missing unit in duration {}", quoted())),
            "ns" => 1,
            "us" | "µs" | "μs" => 1000,
            "ms" => 1_000_000,
            "s" => 1_000_000_000,
            "m" => 60_000_000_000,
            "h" => 3_600_000_000_000,
            unit => {
                let unit = quote(unit);
                return Err(format!("time: unknown unit {unit} in duration {}", quoted()));
            }
        };
        let whole: u64 = if whole.is_empty() { 0 } else { whole.parse().map_err(|_| invalid())? };
        let mut value = whole.checked_mul(nanoseconds).ok_or_else(invalid)?;
        let fraction = &fraction[..fraction.len().min(18)];
        if !fraction.is_empty() {
            let digits: u64 = fraction.parse().map_err(|_| invalid())?;
            let scale = 10_f64.powi(i32::try_from(fraction.len()).unwrap_or(0));
            value = value.saturating_add((digits as f64 * (nanoseconds as f64 / scale)) as u64);
        }
        total = total.checked_add(value).filter(|total| *total <= 1 << 63).ok_or_else(invalid)?;
        rest = after;
    }
    if is_negative {
        return 0_i64.checked_sub_unsigned(total).ok_or_else(invalid);
    }
    i64::try_from(total).map_err(|_| invalid())
}

#[cfg(test)]
mod tests;
