//! Dates and durations. The local time zone is UTC.

use super::{Call, Function, Outcome, Type, fail};
use crate::gotemplate::datetime::{DateTime, SECOND, Zone, duration_string, parse, parse_duration};
use crate::gotemplate::value::{Named, Special, Value};

const DAY: &[u8] = b"2006-01-02";

pub(super) const FUNCTIONS: &[Function] = &[
    Function::new("now", &[], |call| Ok(Value::date(call.context.now()))).volatile(),
    Function::new("date", &[Type::String, Type::Any], |call| {
        let layout = call.string(0);
        written(call, &layout, 1, "Local")
    }),
    Function::new("dateInZone", &[Type::String, Type::Any, Type::String], date_in_zone),
    Function::new("date_in_zone", &[Type::String, Type::Any, Type::String], date_in_zone),
    Function::new("htmlDate", &[Type::Any], |call| written(call, DAY, 0, "Local")),
    Function::new("htmlDateInZone", &[Type::Any, Type::String], |call| {
        let zone = call.text(1);
        written(call, DAY, 0, &zone)
    }),
    Function::new("dateModify", &[Type::String, Type::Date], modify),
    Function::new("date_modify", &[Type::String, Type::Date], modify),
    Function::new("mustDateModify", &[Type::String, Type::Date], must_modify),
    Function::new("must_date_modify", &[Type::String, Type::Date], must_modify),
    Function::new("toDate", &[Type::String, Type::String], |call| {
        let date = parse(&call.string(0), &call.string(1));
        Ok(Value::date(date.unwrap_or_else(|_| DateTime::zero())))
    }),
    Function::new("mustToDate", &[Type::String, Type::String], |call| {
        match parse(&call.string(0), &call.string(1)) {
            Ok(date) => Ok(Value::date(date)),
            Err(error) => fail(error.to_string()),
        }
    }),
    Function::new("unixEpoch", &[Type::Date], |call| Ok(call.date(0).unix().to_string().into())),
    Function::new("ago", &[Type::Any], ago).volatile(),
    Function::new("duration", &[Type::Any], |call| {
        let seconds = match call.value(0) {
            Value::String(text) => super::math::decimal_integer(&text.lossy()),
            Value::Int64(seconds) => seconds,
            _ => 0,
        };
        Ok(duration_string(seconds.wrapping_mul(SECOND)).into())
    }),
    Function::new("durationRound", &[Type::Any], duration_round),
];

fn date_in_zone(call: &mut Call<'_>) -> Outcome {
    let (layout, zone) = (call.string(0), call.text(2));
    written(call, &layout, 1, &zone)
}

/// Returns the date that an argument stands for: a date, or seconds since 1970. `None` means now.
fn given(value: &Value) -> Option<DateTime> {
    match value {
        Value::Special(Special(Named::Date(date))) => Some(date.clone()),
        Value::Int(seconds) | Value::Int64(seconds) => Some(DateTime::from_unix(*seconds, 0)),
        _ => None,
    }
}

/// Returns the date that an argument stands for. If that is now, the call is reported as volatile.
fn date_or_now(call: &mut Call<'_>, index: usize) -> DateTime {
    given(&call.value(index)).unwrap_or_else(|| {
        call.context.volatile.insert("now");
        call.context.now()
    })
}

fn written(call: &mut Call<'_>, layout: &[u8], index: usize, zone: &str) -> Outcome {
    let date = date_or_now(call, index).in_zone(Zone::of(zone).unwrap_or(Zone::Utc));
    Ok(date.format(layout).into())
}

fn modify(call: &mut Call<'_>) -> Outcome {
    let date = call.date(1);
    Ok(Value::date(match parse_duration(&call.text(0)) {
        Ok(duration) => date.plus(duration),
        Err(_) => date,
    }))
}

fn must_modify(call: &mut Call<'_>) -> Outcome {
    match parse_duration(&call.text(0)) {
        Ok(duration) => Ok(Value::date(call.date(1).plus(duration))),
        Err(message) => fail(message),
    }
}

/// Returns the duration since a date, in whole seconds.
fn ago(call: &mut Call<'_>) -> Outcome {
    let date = date_or_now(call, 0);
    let duration = call.context.now().since(&date);
    let rest = duration % SECOND;
    let rounded = match rest.abs() * 2 {
        double if double < SECOND => duration - rest,
        _ => (duration - rest).saturating_add(SECOND * duration.signum()),
    };
    Ok(duration_string(rounded).into())
}

/// Returns the largest unit of a duration that it exceeds.
fn duration_round(call: &mut Call<'_>) -> Outcome {
    let duration = match call.value(0) {
        Value::String(text) => parse_duration(&text.lossy()).unwrap_or(0),
        Value::Int64(duration) => duration,
        Value::Special(Special(Named::Date(date))) => {
            call.context.volatile.insert("now");
            call.context.now().since(&date)
        }
        _ => 0,
    };
    let seconds = |unit: u64| unit * SECOND.unsigned_abs();
    let hour = 3600;
    let units = [
        (seconds(hour * 24 * 365), "y"),
        (seconds(hour * 24 * 30), "mo"),
        (seconds(hour * 24), "d"),
        (seconds(hour), "h"),
        (seconds(60), "m"),
        (seconds(1), "s"),
    ];
    let magnitude = duration.unsigned_abs();
    let found = units.into_iter().find(|(unit, _)| magnitude > *unit);
    Ok(found.map_or_else(|| "0s".to_owned(), |(unit, name)| format!("{}{name}", magnitude / unit)).into())
}
