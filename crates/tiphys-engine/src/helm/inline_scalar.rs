//! The types of strings that users write into the inline values of a chart.

use serde_json::{Number, Value};
use tiphys_helm_values::{Value as HelmValue, typed_scalar};
use tiphys_model::params::{Announcement, ItemType, JsonType, Types, is_number};

/// Returns a string that a user gives for a value of a chart as the value to write: of the announced type, which need not be one that `--set`
/// can express. Without a type, it is what `--set` makes of it, unless that changes its text. A string that fits no type stays one.
pub fn inline_scalar(text: &str, announcement: Option<&Announcement>) -> Value {
    let as_set = || match typed_scalar(text.to_owned()) {
        HelmValue::Text(text) => Value::String(text),
        typed if typed.to_json().eq_ignore_ascii_case(text) => typed.to_json_value(),
        _ => text.into(),
    };
    match announcement.and_then(|announcement| announcement.item_type.as_ref()) {
        None => as_set(),
        Some(ItemType::String(_)) => text.into(),
        Some(ItemType::Number) => number(text).unwrap_or_else(|| text.into()),
        Some(ItemType::Boolean) => boolean(text).unwrap_or_else(|| text.into()),
        Some(ItemType::OneOf(types)) => one_of(text, *types),
    }
}

/// Returns the value of the first fitting type. A number keeps its text if it may also be a string.
fn one_of(text: &str, types: Types) -> Value {
    let keeps_text = |number: &Value| {
        let written = number.to_string();
        written == text || !types.allow(JsonType::String)
    };
    let is_allowed =
        |number: &Value| types.allow(JsonType::Number) || types.allow(JsonType::Integer) && number.is_i64();
    let number = number(text).filter(|number| is_allowed(number) && keeps_text(number));
    let boolean = || boolean(text).filter(|_| types.allow(JsonType::Boolean));
    let null = || (types.allow(JsonType::Null) && text == JsonType::Null.word()).then_some(Value::Null);
    number.or_else(boolean).or_else(null).unwrap_or_else(|| text.into())
}

fn number(text: &str) -> Option<Value> {
    if !is_number(text) {
        return None;
    }
    let whole = || text.parse::<i64>().ok().map(Number::from);
    whole().or_else(|| Number::from_f64(text.parse().ok()?)).map(Value::Number)
}

fn boolean(text: &str) -> Option<Value> {
    let is = |word: &str| text.eq_ignore_ascii_case(word);
    (is("true") || is("false")).then(|| Value::Bool(is("true")))
}

#[cfg(test)]
mod tests;
