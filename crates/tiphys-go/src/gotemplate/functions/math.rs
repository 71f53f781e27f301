//! Numbers.

use super::decimal::Decimal;
use super::{Call, Failure, Function, Outcome, Type, fail};
use crate::gotemplate::number::{self, parse_float, parse_signed};
use crate::gotemplate::value::{List, ListType, Value};

pub(super) const FUNCTIONS: &[Function] = &[
    Function::new("atoi", &[Type::String], |call| {
        let text = call.text(0);
        let is_signed = text.len() > 1 || !text.starts_with(['+', '-']);
        Ok(Value::Int(if is_signed { decimal_integer(&text) } else { 0 }))
    }),
    Function::new("int", &[Type::Any], |call| Ok(Value::Int(to_integer(&call.value(0))))),
    Function::new("int64", &[Type::Any], |call| Ok(Value::Int64(to_integer(&call.value(0))))),
    Function::new("float64", &[Type::Any], |call| Ok(Value::Float(to_float(&call.value(0))))),
    Function::new("toDecimal", &[Type::Any], to_decimal),
    Function::new("add1", &[Type::Any], |call| Ok(Value::Int64(to_integer(&call.value(0)).wrapping_add(1)))),
    Function::new("add", &[], |call| integers(call, Some(0), i64::wrapping_add)).and(Type::Any),
    Function::new("sub", &[Type::Any, Type::Any], |call| integers(call, None, i64::wrapping_sub)),
    Function::new("mul", &[Type::Any], |call| integers(call, None, i64::wrapping_mul)).and(Type::Any),
    Function::new("div", &[Type::Any, Type::Any], |call| divide(call, i64::wrapping_div)),
    Function::new("mod", &[Type::Any, Type::Any], |call| divide(call, i64::wrapping_rem)),
    Function::new("max", &[Type::Any], |call| integers(call, None, i64::max)).and(Type::Any),
    Function::new("biggest", &[Type::Any], |call| integers(call, None, i64::max)).and(Type::Any),
    Function::new("min", &[Type::Any], |call| integers(call, None, i64::min)).and(Type::Any),
    Function::new("maxf", &[Type::Any], |call| Ok(floats(call, greater))).and(Type::Any),
    Function::new("minf", &[Type::Any], |call| Ok(floats(call, |a, b| -greater(-a, -b)))).and(Type::Any),
    Function::new("ceil", &[Type::Any], |call| Ok(Value::Float(to_float(&call.value(0)).ceil()))),
    Function::new("floor", &[Type::Any], |call| Ok(Value::Float(to_float(&call.value(0)).floor()))),
    Function::new("round", &[Type::Any, Type::Int], round).and(Type::Float),
    Function::new("add1f", &[Type::Any], |call| {
        let sum = Decimal::new(to_float(&call.value(0)))?.plus(&Decimal::new(1.0)?);
        Ok(Value::Float(sum.to_float()))
    }),
    Function::new("addf", &[], |call| {
        let mut numbers = vec![Value::Float(0.0)];
        numbers.extend(call.values(0));
        decimals(call, &numbers, |a, b| Ok(a.plus(b)))
    })
    .and(Type::Any),
    Function::new("subf", &[Type::Any], |call| {
        let numbers = call.values(0);
        decimals(call, &numbers, |a, b| Ok(a.minus(b)))
    })
    .and(Type::Any),
    Function::new("mulf", &[Type::Any], |call| {
        let numbers = call.values(0);
        decimals(call, &numbers, |a, b| Ok(a.times(b)))
    })
    .and(Type::Any),
    Function::new("divf", &[Type::Any], |call| {
        let numbers = call.values(0);
        decimals(call, &numbers, Decimal::divided_by)
    })
    .and(Type::Any),
    Function::new("until", &[Type::Int], |call| {
        let count = call.integer(0);
        Ok(ints(&steps(call, 0, count, if count < 0 { -1 } else { 1 })?))
    }),
    Function::new("untilStep", &[Type::Int, Type::Int, Type::Int], |call| {
        let (start, stop, step) = (call.integer(0), call.integer(1), call.integer(2));
        Ok(ints(&steps(call, start, stop, step)?))
    }),
    Function::new("seq", &[], sequence).and(Type::Int),
];

/// Parses a decimal integer. A number that does not fit becomes the nearest one that does; anything else is 0.
pub(super) fn decimal_integer(text: &str) -> i64 {
    match text.parse::<i64>() {
        Ok(number) => number,
        Err(error) => match error.kind() {
            std::num::IntErrorKind::PosOverflow => i64::MAX,
            std::num::IntErrorKind::NegOverflow => i64::MIN,
            _ => 0,
        },
    }
}

/// Converts any value to an integer; what is none is 0.
pub(super) fn to_integer(value: &Value) -> i64 {
    match value {
        Value::Bool(value) => i64::from(*value),
        Value::Float(value) => number::to_integer(*value),
        Value::String(string) => parse_signed(without_zero_decimals(&string.lossy())).unwrap_or(0),
        // A duration is not converted.
        Value::Special(special) if special.0.type_name() == "time.Duration" => 0,
        value => value.as_integer().or_else(|| value.as_unsigned().map(u64::cast_signed)).unwrap_or(0),
    }
}

/// Removes a fraction of zeros: `8.0`, `8.`.
fn without_zero_decimals(text: &str) -> &str {
    let trimmed = text.trim_end_matches('0');
    if trimmed.len() < text.len() { trimmed.strip_suffix('.').unwrap_or(text) } else { text }
}

/// Converts any value to a float; what is none is 0.
#[expect(clippy::cast_precision_loss, reason = "as in Go")]
fn to_float(value: &Value) -> f64 {
    match value {
        Value::Bool(value) => f64::from(u8::from(*value)),
        Value::Float(value) => *value,
        Value::String(string) => parse_float(&string.lossy()).unwrap_or(0.0),
        Value::Special(special) if special.0.type_name() == "time.Duration" => 0.0,
        value => match (value.as_integer(), value.as_unsigned()) {
            (Some(integer), _) => integer as f64,
            (None, Some(unsigned)) => unsigned as f64,
            (None, None) => 0.0,
        },
    }
}

fn to_decimal(call: &mut Call<'_>) -> Outcome {
    let value = call.value(0);
    let text = call.written(&value)?.lossy().into_owned();
    let is_plain = !text.trim_start_matches(['+', '-']).is_empty();
    Ok(Value::Int64(if is_plain { i64::from_str_radix(&text, 8).unwrap_or(0) } else { 0 }))
}

fn integers(call: &mut Call<'_>, first: Option<i64>, operation: fn(i64, i64) -> i64) -> Outcome {
    let numbers = call.values(0);
    let mut numbers = first.into_iter().chain(numbers.iter().map(to_integer));
    let first = numbers.next().unwrap_or(0);
    Ok(Value::Int64(numbers.fold(first, operation)))
}

fn divide(call: &mut Call<'_>, operation: fn(i64, i64) -> i64) -> Outcome {
    let (dividend, divisor) = (to_integer(&call.value(0)), to_integer(&call.value(1)));
    if divisor == 0 {
        return fail("runtime error: integer divide by zero");
    }
    Ok(Value::Int64(operation(dividend, divisor)))
}

fn floats(call: &mut Call<'_>, operation: fn(f64, f64) -> f64) -> Value {
    let numbers = call.values(0);
    let mut numbers = numbers.iter().map(to_float);
    let first = numbers.next().unwrap_or(0.0);
    Value::Float(numbers.fold(first, operation))
}

/// `math.Max`: not a number wins, and 0 is greater than -0.
fn greater(a: f64, b: f64) -> f64 {
    if a.is_nan() || b.is_nan() {
        return if a == f64::INFINITY || b == f64::INFINITY { f64::INFINITY } else { f64::NAN };
    }
    if a == 0.0 && b == 0.0 {
        return if a.is_sign_negative() { b } else { a };
    }
    a.max(b)
}

fn decimals(
    call: &mut Call<'_>,
    numbers: &[Value],
    operation: fn(&Decimal, &Decimal) -> Result<Decimal, Failure>,
) -> Outcome {
    let mut result = Decimal::new(numbers.first().map_or(0.0, to_float))?;
    for number in numbers.iter().skip(1) {
        result = operation(&result, &Decimal::new(to_float(number))?)?;
        let bytes = result.bytes();
        call.budget().take_bytes(bytes)?;
    }
    Ok(Value::Float(result.to_float()))
}

/// Rounds to a number of decimals. A fraction of at least the third argument, 0.5 by default, is rounded up.
fn round(call: &mut Call<'_>) -> Outcome {
    let (value, places) = (to_float(&call.value(0)), call.integer(1));
    let threshold = call.float(2).unwrap_or(0.5);
    let power = power_of_ten(places);
    let digits = power * value;
    let rounded = if digits.fract() >= threshold { digits.ceil() } else { digits.floor() };
    Ok(Value::Float(rounded / power))
}

/// `math.Pow(10, places)`, with its steps and so its rounding.
fn power_of_ten(places: i64) -> f64 {
    let (mut result, mut exponent) = (1.0_f64, 0_i64);
    // 10 is 0.625 times 2⁴.
    let (mut factor, mut factor_exponent) = (0.625_f64, 4_i64);
    let mut rest = places.unsigned_abs().min(1 << 12);
    while rest > 0 {
        if rest & 1 == 1 {
            result *= factor;
            exponent += factor_exponent;
        }
        factor *= factor;
        factor_exponent <<= 1;
        if factor < 0.5 {
            factor += factor;
            factor_exponent -= 1;
        }
        rest >>= 1;
    }
    if places < 0 {
        result = 1.0 / result;
        exponent = -exponent;
    }
    // In two steps, so that neither power of two is out of range.
    let half = i32::try_from(exponent / 2).unwrap_or(0);
    let other = i32::try_from(exponent).unwrap_or(0) - half;
    result * 2_f64.powi(half) * 2_f64.powi(other)
}

fn ints(numbers: &[i64]) -> Value {
    Value::List(List::of(ListType::Ints, numbers.iter().map(|number| Value::Int(*number)).collect()))
}

/// Returns the numbers from `start` to before `stop`.
fn steps(call: &mut Call<'_>, start: i64, stop: i64, step: i64) -> Result<Vec<i64>, Failure> {
    let is_down = stop < start;
    if (is_down && step >= 0) || (!is_down && step <= 0) {
        return Ok(Vec::new());
    }
    let count = stop.abs_diff(start).div_ceil(step.unsigned_abs());
    call.budget().take(usize::try_from(count).unwrap_or(usize::MAX))?;
    let mut numbers = Vec::new();
    let mut next = Some(start);
    while let Some(number) = next.filter(|number| if is_down { *number > stop } else { *number < stop }) {
        numbers.push(number);
        next = number.checked_add(step);
    }
    Ok(numbers)
}

fn sequence(call: &mut Call<'_>) -> Outcome {
    let parameters: Vec<i64> = (0..call.arguments.len()).map(|index| call.integer(index)).collect();
    let (start, step, end) = match parameters[..] {
        [end] => (1, None, end),
        [start, end] => (start, None, end),
        [start, step, end] => (start, Some(step), end),
        _ => return Ok("".into()),
    };
    let direction = if end < start { -1 } else { 1 };
    if direction < 0 && step.is_some_and(|step| step > 0) {
        return Ok("".into());
    }
    let numbers = steps(call, start, end.saturating_add(direction), step.unwrap_or(direction))?;
    let written: Vec<String> = numbers.iter().map(ToString::to_string).collect();
    Ok(written.join(" ").into())
}
