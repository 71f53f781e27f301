//! Values as kubectl prints them.

use serde_json::Value;
use tiphys_yaml::write_go_json;

/// Formats a value as `kubectl get -o jsonpath` prints it: a scalar as Go's `fmt` does, a map or list as compact JSON.
pub fn printed(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Number(number) if !number.is_i64() => number.as_f64().map_or_else(String::new, float),
        _ => write_go_json(value),
    }
}

/// Formats a float with the fewest digits that parse to it, and with an exponent below -4 and from 6.
fn float(value: f64) -> String {
    let shortest = format!("{value:e}");
    let (mantissa, exponent) = shortest.split_once('e').unwrap_or((&shortest, "0"));
    match exponent.parse::<i32>() {
        Ok(exponent) if !(-4..6).contains(&exponent) => {
            let sign = if exponent < 0 { '-' } else { '+' };
            format!("{mantissa}e{sign}{:02}", exponent.abs())
        }
        _ => format!("{value}"),
    }
}
