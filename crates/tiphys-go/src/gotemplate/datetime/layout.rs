//! Layouts of dates: the reference date `Mon Jan 2 15:04:05 MST 2006` in the desired form.

use std::rc::Rc;

use super::{DateTime, Fields, SECOND, Zone, days_of};
use crate::gotemplate::value::{MONTHS, WEEKDAYS};
use crate::strconv::quote;

/// An element of a layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Element {
    LongMonth,
    Month,
    NumberMonth,
    ZeroMonth,
    LongWeekday,
    Weekday,
    Day,
    UnderDay,
    ZeroDay,
    UnderYearDay,
    ZeroYearDay,
    Hour,
    Hour12,
    ZeroHour12,
    Minute,
    ZeroMinute,
    Second,
    ZeroSecond,
    LongYear,
    Year,
    UpperNoon,
    LowerNoon,
    ZoneName,
    Offset(Offset),
    /// The separator, and the number of digits.
    Fraction0(u8, usize),
    /// The same, without trailing zeros.
    Fraction9(u8, usize),
}

/// The form of an offset from UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Offset {
    /// UTC is written `Z`.
    has_z: bool,
    has_colon: bool,
    /// The fields: hours, minutes, seconds.
    fields: u8,
}

/// All elements but fractions, the longer ones before those that they begin with.
const ELEMENTS: [(&str, Element); 34] = {
    const fn offset(has_z: bool, has_colon: bool, fields: u8) -> Element {
        Element::Offset(Offset { has_z, has_colon, fields })
    }
    [
        ("January", Element::LongMonth),
        ("Jan", Element::Month),
        ("Monday", Element::LongWeekday),
        ("Mon", Element::Weekday),
        ("MST", Element::ZoneName),
        ("01", Element::ZeroMonth),
        ("002", Element::ZeroYearDay),
        ("02", Element::ZeroDay),
        ("03", Element::ZeroHour12),
        ("04", Element::ZeroMinute),
        ("05", Element::ZeroSecond),
        ("06", Element::Year),
        ("15", Element::Hour),
        ("1", Element::NumberMonth),
        ("2006", Element::LongYear),
        ("2", Element::Day),
        ("_2006", Element::LongYear),
        ("_2", Element::UnderDay),
        ("__2", Element::UnderYearDay),
        ("3", Element::Hour12),
        ("4", Element::Minute),
        ("5", Element::Second),
        ("PM", Element::UpperNoon),
        ("pm", Element::LowerNoon),
        ("-070000", offset(false, false, 3)),
        ("-07:00:00", offset(false, true, 3)),
        ("-0700", offset(false, false, 2)),
        ("-07:00", offset(false, true, 2)),
        ("-07", offset(false, false, 1)),
        ("Z070000", offset(true, false, 3)),
        ("Z07:00:00", offset(true, true, 3)),
        ("Z0700", offset(true, false, 2)),
        ("Z07:00", offset(true, true, 2)),
        ("Z07", offset(true, false, 1)),
    ]
};

/// The bytes before the first element of a layout, the element with its bytes, and the rest.
type Split<'a> = (&'a [u8], Option<(Element, &'a [u8])>, &'a [u8]);

/// Splits a layout into what precedes its first element, the element with its bytes, and the rest.
fn next(layout: &[u8]) -> Split<'_> {
    for start in 0..layout.len() {
        let rest = &layout[start..];
        if let Some((element, length)) = fraction(rest) {
            return (&layout[..start], Some((element, &rest[..length])), &rest[length..]);
        }
        for (text, element) in ELEMENTS {
            if !rest.starts_with(text.as_bytes()) {
                continue;
            }
            let after = &rest[text.len()..];
            let is_word = matches!(element, Element::Month | Element::Weekday)
                && after.first().is_some_and(u8::is_ascii_lowercase);
            if is_word {
                continue;
            }
            // `_2006` is a literal `_` before the year.
            let skipped = usize::from(text == "_2006");
            let before = &layout[..start + skipped];
            return (before, Some((element, &rest[skipped..text.len()])), after);
        }
    }
    (layout, None, &[])
}

fn fraction(rest: &[u8]) -> Option<(Element, usize)> {
    let [separator @ (b'.' | b','), digit @ (b'0' | b'9'), ..] = rest else { return None };
    let digits = rest[1..].iter().take_while(|byte| *byte == digit).count();
    if rest.get(1 + digits).is_some_and(u8::is_ascii_digit) {
        return None;
    }
    let element = if *digit == b'0' {
        Element::Fraction0(*separator, digits)
    } else {
        Element::Fraction9(*separator, digits)
    };
    Some((element, 1 + digits))
}

/// Formats a date.
pub(super) fn format(
    mut layout: &[u8],
    fields: &Fields,
    nanoseconds: u32,
    zone: &str,
    offset: i32,
) -> Vec<u8> {
    let mut out = Vec::new();
    loop {
        let (before, found, after) = next(layout);
        out.extend_from_slice(before);
        let Some((element, _)) = found else { return out };
        layout = after;
        out.extend_from_slice(written(element, fields, nanoseconds, zone, offset).as_bytes());
    }
}

fn written(element: Element, fields: &Fields, nanoseconds: u32, zone: &str, offset: i32) -> String {
    let Fields { year, month, day, day_of_year, weekday, hour, minute, second } = *fields;
    let month_name = MONTHS[usize::from(month.max(1) - 1) % 12];
    let weekday_name = WEEKDAYS[usize::from(weekday) % 7];
    let hour12 = if hour % 12 == 0 { 12 } else { hour % 12 };
    match element {
        Element::LongMonth => month_name.to_owned(),
        Element::Month => month_name[..3].to_owned(),
        Element::NumberMonth => month.to_string(),
        Element::ZeroMonth => format!("{month:02}"),
        Element::LongWeekday => weekday_name.to_owned(),
        Element::Weekday => weekday_name[..3].to_owned(),
        Element::Day => day.to_string(),
        Element::UnderDay => format!("{day:2}"),
        Element::ZeroDay => format!("{day:02}"),
        Element::UnderYearDay => format!("{day_of_year:3}"),
        Element::ZeroYearDay => format!("{day_of_year:03}"),
        Element::Hour => format!("{hour:02}"),
        Element::Hour12 => hour12.to_string(),
        Element::ZeroHour12 => format!("{hour12:02}"),
        Element::Minute => minute.to_string(),
        Element::ZeroMinute => format!("{minute:02}"),
        Element::Second => second.to_string(),
        Element::ZeroSecond => format!("{second:02}"),
        Element::LongYear if year < 0 => format!("-{:04}", year.unsigned_abs()),
        Element::LongYear => format!("{year:04}"),
        Element::Year => format!("{:02}", year.unsigned_abs() % 100),
        Element::UpperNoon => if hour >= 12 { "PM" } else { "AM" }.to_owned(),
        Element::LowerNoon => if hour >= 12 { "pm" } else { "am" }.to_owned(),
        Element::ZoneName if zone.is_empty() => {
            offset_string(Offset { has_z: false, has_colon: false, fields: 2 }, offset)
        }
        Element::ZoneName => zone.to_owned(),
        Element::Offset(form) => offset_string(form, offset),
        Element::Fraction0(separator, digits) => fraction_string(separator, digits, nanoseconds),
        Element::Fraction9(separator, digits) => {
            let written = fraction_string(separator, digits, nanoseconds);
            written.trim_end_matches('0').trim_end_matches(char::from(separator)).to_owned()
        }
    }
}

fn offset_string(form: Offset, offset: i32) -> String {
    if form.has_z && offset == 0 {
        return "Z".to_owned();
    }
    let minutes = offset / 60;
    let sign = if minutes < 0 { '-' } else { '+' };
    let (minutes, seconds) = (minutes.abs(), offset.abs() % 60);
    let colon = if form.has_colon { ":" } else { "" };
    match form.fields {
        1 => format!("{sign}{:02}", minutes / 60),
        2 => format!("{sign}{:02}{colon}{:02}", minutes / 60, minutes % 60),
        _ => format!("{sign}{:02}{colon}{:02}{colon}{seconds:02}", minutes / 60, minutes % 60),
    }
}

fn fraction_string(separator: u8, digits: usize, nanoseconds: u32) -> String {
    let written = format!("{nanoseconds:09}");
    format!("{}{}", char::from(separator), &written[..digits.min(9)])
}

/// A string does not match its layout. The messages are those of `time.ParseError`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ParseError {
    #[error("parsing time {value} as {layout}: cannot parse {rest} as {element}")]
    Element { value: String, layout: String, rest: String, element: String },
    #[error("parsing time {value}: {problem}")]
    Value { value: String, problem: String },
}

/// Problem of an element.
enum Problem {
    /// It does not match.
    Bad,
    /// It is out of range.
    Range(&'static str),
}

#[derive(Debug)]
struct Parsed {
    year: i64,
    month: Option<i64>,
    day: Option<i64>,
    day_of_year: Option<i64>,
    hour: i64,
    minute: i64,
    second: i64,
    nanoseconds: u32,
    is_afternoon: Option<bool>,
    is_utc: bool,
    offset: Option<i32>,
    zone: String,
}

/// Parses a date. Without a zone it is in UTC.
pub(crate) fn parse(layout: &[u8], value: &[u8]) -> Result<DateTime, ParseError> {
    let quoted = |bytes: &[u8]| quote(bytes);
    let of_value = |problem: String| ParseError::Value { value: quoted(value), problem };
    let of_element = |rest: &[u8], element: &[u8]| ParseError::Element {
        value: quoted(value),
        layout: quoted(layout),
        rest: quoted(rest),
        element: quoted(element),
    };
    let mut parsed = Parsed {
        year: 0,
        month: None,
        day: None,
        day_of_year: None,
        hour: 0,
        minute: 0,
        second: 0,
        nanoseconds: 0,
        is_afternoon: None,
        is_utc: false,
        offset: None,
        zone: String::new(),
    };
    let (mut layout, mut rest) = (layout, value);
    loop {
        let (before, found, after) = next(layout);
        rest = match skip(rest, before) {
            Ok(rest) => rest,
            Err(at) => return Err(of_element(at, before)),
        };
        let Some((element, text)) = found else { break };
        layout = after;
        let hold = rest;
        rest = match parsed.take(element, rest, layout) {
            Ok(rest) => rest,
            Err(Problem::Bad) => return Err(of_element(hold, text)),
            Err(Problem::Range(name)) => return Err(of_value(format!("{name} out of range"))),
        };
    }
    if !rest.is_empty() {
        return Err(of_value(format!("extra text: {}", quoted(rest))));
    }
    parsed.date().map_err(|problem| of_value(problem.to_owned()))
}

/// Removes the literal part of a layout. A blank matches any number of blanks.
fn skip<'a>(mut value: &'a [u8], mut prefix: &[u8]) -> Result<&'a [u8], &'a [u8]> {
    let trimmed = |bytes: &[u8]| bytes.iter().take_while(|byte| **byte == b' ').count();
    while let Some((&first, after)) = prefix.split_first() {
        if first == b' ' {
            if value.first().is_some_and(|byte| *byte != b' ') {
                return Err(value);
            }
            prefix = &prefix[trimmed(prefix)..];
            value = &value[trimmed(value)..];
            continue;
        }
        if value.first() != Some(&first) {
            return Err(value);
        }
        (prefix, value) = (after, &value[1..]);
    }
    Ok(value)
}

/// Takes one or two digits, or exactly two.
fn number(value: &[u8], is_fixed: bool) -> Result<(i64, &[u8]), Problem> {
    let digit = |index: usize| {
        value.get(index).filter(|byte| byte.is_ascii_digit()).map(|byte| i64::from(byte - b'0'))
    };
    match (digit(0), digit(1)) {
        (Some(tens), Some(ones)) => Ok((tens * 10 + ones, &value[2..])),
        (Some(ones), None) if !is_fixed => Ok((ones, &value[1..])),
        _ => Err(Problem::Bad),
    }
}

/// Takes the name that begins the value, in any case.
fn name<'a>(names: &[&str], length: Option<usize>, value: &'a [u8]) -> Result<(i64, &'a [u8]), Problem> {
    for (index, name) in (0..).zip(names) {
        let name = &name[..length.unwrap_or(name.len())];
        if value.len() >= name.len() && value[..name.len()].eq_ignore_ascii_case(name.as_bytes()) {
            return Ok((index, &value[name.len()..]));
        }
    }
    Err(Problem::Bad)
}

fn within(value: i64, range: std::ops::Range<i64>, name: &'static str) -> Result<i64, Problem> {
    if range.contains(&value) { Ok(value) } else { Err(Problem::Range(name)) }
}

fn all_digits(value: &[u8]) -> Result<i64, Problem> {
    std::str::from_utf8(value).ok().and_then(|digits| digits.parse().ok()).ok_or(Problem::Bad)
}

impl Parsed {
    /// Takes an element from the value and returns the rest. `layout` is the rest of the layout.
    fn take<'a>(&mut self, element: Element, value: &'a [u8], layout: &[u8]) -> Result<&'a [u8], Problem> {
        let (result, rest) = match element {
            Element::Year => {
                let year = all_digits(value.get(..2).ok_or(Problem::Bad)?)?;
                self.year = year + if year >= 69 { 1900 } else { 2000 };
                return Ok(&value[2..]);
            }
            Element::LongYear => {
                let digits =
                    value.get(..4).filter(|digits| digits[0].is_ascii_digit()).ok_or(Problem::Bad)?;
                self.year = all_digits(digits)?;
                return Ok(&value[4..]);
            }
            Element::Month | Element::LongMonth => {
                let (month, rest) = name(&MONTHS, (element == Element::Month).then_some(3), value)?;
                self.month = Some(month + 1);
                return Ok(rest);
            }
            Element::Weekday | Element::LongWeekday => {
                return Ok(name(&WEEKDAYS, (element == Element::Weekday).then_some(3), value)?.1);
            }
            Element::UnderYearDay | Element::ZeroYearDay => return self.take_day_of_year(element, value),
            Element::UpperNoon | Element::LowerNoon => {
                let (am, pm) = if element == Element::UpperNoon { (b"AM", b"PM") } else { (b"am", b"pm") };
                let found = value.get(..2).ok_or(Problem::Bad)?;
                self.is_afternoon = match found {
                    found if found == pm => Some(true),
                    found if found == am => Some(false),
                    _ => return Err(Problem::Bad),
                };
                return Ok(&value[2..]);
            }
            Element::ZoneName => return self.take_zone(value),
            Element::Offset(form) => return self.take_offset(form, value),
            Element::Fraction0(_, digits) => return self.take_fraction(value, digits),
            Element::Fraction9(..) => {
                let digits = value.iter().skip(1).take_while(|byte| byte.is_ascii_digit()).count();
                let is_present = matches!(value.first(), Some(b'.' | b',')) && digits > 0;
                return if is_present { self.take_fraction(value, digits) } else { Ok(value) };
            }
            Element::NumberMonth => number(value, false)?,
            Element::Hour | Element::Hour12 | Element::Minute | Element::Second | Element::Day => {
                number(value, false)?
            }
            Element::UnderDay => number(value.strip_prefix(b" ").unwrap_or(value), false)?,
            Element::ZeroMonth
            | Element::ZeroDay
            | Element::ZeroHour12
            | Element::ZeroMinute
            | Element::ZeroSecond => number(value, true)?,
        };
        match element {
            Element::NumberMonth | Element::ZeroMonth => self.month = Some(within(result, 1..13, "month")?),
            Element::Hour => self.hour = within(result, 0..24, "hour")?,
            Element::Hour12 | Element::ZeroHour12 => self.hour = within(result, 0..13, "hour")?,
            Element::Minute | Element::ZeroMinute => self.minute = within(result, 0..60, "minute")?,
            Element::Second | Element::ZeroSecond => {
                self.second = within(result, 0..60, "second")?;
                // A fraction may follow although the layout has none.
                let digits = rest.iter().skip(1).take_while(|byte| byte.is_ascii_digit()).count();
                let is_fraction = matches!(rest.first(), Some(b'.' | b',')) && digits > 0;
                let is_expected =
                    matches!(next(layout).1, Some((Element::Fraction0(..) | Element::Fraction9(..), _)));
                if is_fraction && !is_expected {
                    return self.take_fraction(rest, digits);
                }
            }
            _ => self.day = Some(result),
        }
        Ok(rest)
    }

    fn take_day_of_year<'a>(&mut self, element: Element, mut value: &'a [u8]) -> Result<&'a [u8], Problem> {
        if element == Element::UnderYearDay {
            for _ in 0..2 {
                value = value.strip_prefix(b" ").unwrap_or(value);
            }
        }
        let digits = value.iter().take(3).take_while(|byte| byte.is_ascii_digit()).count();
        if digits == 0 || (element == Element::ZeroYearDay && digits != 3) {
            return Err(Problem::Bad);
        }
        self.day_of_year = Some(all_digits(&value[..digits])?);
        Ok(&value[digits..])
    }

    fn take_fraction<'a>(&mut self, value: &'a [u8], digits: usize) -> Result<&'a [u8], Problem> {
        let fraction = value.get(1..=digits).ok_or(Problem::Bad)?;
        if !matches!(value[0], b'.' | b',') || !fraction.iter().all(u8::is_ascii_digit) {
            return Err(Problem::Bad);
        }
        let used = &fraction[..digits.min(9)];
        let scale = 10_i64.pow(u32::try_from(9 - used.len()).unwrap_or(0));
        self.nanoseconds = u32::try_from(all_digits(used)? * scale).map_err(|_| Problem::Bad)?;
        Ok(&value[1 + digits..])
    }

    fn take_offset<'a>(&mut self, form: Offset, value: &'a [u8]) -> Result<&'a [u8], Problem> {
        if form.has_z
            && let Some(rest) = value.strip_prefix(b"Z")
        {
            self.is_utc = true;
            return Ok(rest);
        }
        let fields = usize::from(form.fields);
        let step = if form.has_colon { 3 } else { 2 };
        let length = 1 + 2 + (fields - 1) * step;
        let text = value.get(..length).ok_or(Problem::Bad)?;
        let mut numbers = [0; 3];
        for (index, slot) in numbers.iter_mut().enumerate().take(fields) {
            let start = 1 + index * step;
            if form.has_colon && index > 0 && text[start - 1] != b':' {
                return Err(Problem::Bad);
            }
            *slot = number(&text[start..start + 2], true)?.0;
        }
        let hours = within(numbers[0], 0..25, "time zone offset hour")?;
        let minutes = within(numbers[1], 0..61, "time zone offset minute")?;
        let seconds = within(numbers[2], 0..61, "time zone offset second")?;
        let offset = i32::try_from((hours * 60 + minutes) * 60 + seconds).map_err(|_| Problem::Bad)?;
        self.offset = Some(match text[0] {
            b'+' => offset,
            b'-' => -offset,
            _ => return Err(Problem::Bad),
        });
        Ok(&value[length..])
    }

    fn take_zone<'a>(&mut self, value: &'a [u8]) -> Result<&'a [u8], Problem> {
        if let Some(rest) = value.strip_prefix(b"UTC") {
            self.is_utc = true;
            return Ok(rest);
        }
        let length = zone_length(value).ok_or(Problem::Bad)?;
        self.zone = String::from_utf8_lossy(&value[..length]).into_owned();
        Ok(&value[length..])
    }

    fn date(mut self) -> Result<DateTime, &'static str> {
        match self.is_afternoon {
            Some(true) if self.hour < 12 => self.hour += 12,
            Some(false) if self.hour == 12 => self.hour = 0,
            _ => {}
        }
        if let Some(day_of_year) = self.day_of_year {
            let year_days = days_of(self.year + 1, 1, 1) - days_of(self.year, 1, 1);
            if !(1..=year_days).contains(&day_of_year) {
                return Err("day-of-year out of range");
            }
            let (_, month, day) = super::civil(days_of(self.year, 1, 1) + day_of_year - 1);
            if self.month.is_some_and(|given| given != i64::from(month)) {
                return Err("day-of-year does not match month");
            }
            if self.day.is_some_and(|given| given != i64::from(day)) {
                return Err("day-of-year does not match day");
            }
            (self.month, self.day) = (Some(month.into()), Some(day.into()));
        }
        let (month, day) = (self.month.unwrap_or(1), self.day.unwrap_or(1));
        let number = u8::try_from(month).map_err(|_| "month out of range")?;
        let (next_year, next_month) = if month == 12 { (self.year + 1, 1) } else { (self.year, number + 1) };
        if day < 1 || day > days_of(next_year, next_month, 1) - days_of(self.year, number, 1) {
            return Err("day out of range");
        }
        let utc = DateTime::of_fields(
            [self.year, month, day],
            [self.hour, self.minute, self.second],
            self.nanoseconds,
        );
        if self.is_utc {
            return Ok(utc);
        }
        let fixed =
            |offset: i32, moment: DateTime, zone: &str| moment.in_zone(Zone::Fixed(Rc::from(zone), offset));
        if let Some(offset) = self.offset {
            let moment = utc.plus(-i64::from(offset) * SECOND);
            return Ok(if offset == 0 && self.zone.is_empty() {
                moment
            } else {
                fixed(offset, moment, &self.zone)
            });
        }
        if self.zone.is_empty() {
            return Ok(utc);
        }
        // As in Go, the offset is written, but it does not change the moment.
        let hours: i32 = self.zone.strip_prefix("GMT").and_then(|hours| hours.parse().ok()).unwrap_or(0);
        Ok(fixed(hours * 3600, utc, &self.zone))
    }
}

/// Returns the length of the abbreviation of a time zone.
fn zone_length(value: &[u8]) -> Option<usize> {
    let signed = |value: &[u8]| {
        let digits = value.iter().skip(1).take_while(|byte| byte.is_ascii_digit()).count();
        let is_signed = matches!(value.first(), Some(b'+' | b'-')) && digits > 0;
        (is_signed && all_digits(&value[1..=digits]).is_ok_and(|hours| hours <= 23)).then_some(1 + digits)
    };
    if value.len() < 3 {
        return None;
    }
    if value.starts_with(b"ChST") || value.starts_with(b"MeST") {
        return Some(4);
    }
    if value.starts_with(b"GMT") {
        return Some(3 + signed(&value[3..]).unwrap_or(0));
    }
    if matches!(value[0], b'+' | b'-') {
        return signed(value);
    }
    match value.iter().take(6).take_while(|byte| byte.is_ascii_uppercase()).count() {
        5 if value[4] == b'T' => Some(5),
        4 if value[3] == b'T' || value.starts_with(b"WITA") => Some(4),
        3 => Some(3),
        _ => None,
    }
}
