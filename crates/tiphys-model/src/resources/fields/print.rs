//! The canonical form of a value, and its JSON byte for byte as Go's `json.Marshal` prints it.

use serde_json::{Map, Value};
use tiphys_yaml::{write_go_json, write_go_string};

use super::{GoStruct, GoType, Presence};

/// Returns a value of the struct in canonical form. Fields that the struct does not have are dropped. The fields must have their types, as
/// after [`super::decode_fields`]; `null` is the zero value.
pub fn canonical(kind: &'static GoStruct, value: Value) -> Value {
    let mut object = match value {
        Value::Object(map) => map,
        _ => Map::new(),
    };
    // In place, because many Applications pass here several times.
    object.retain(|name, value| {
        let field = kind.fields.iter().find(|field| field.name == name);
        let printed = field.and_then(|field| printed(&field.kind, std::mem::take(value), field.presence));
        let is_printed = printed.is_some();
        *value = printed.unwrap_or_default();
        is_printed
    });
    for field in kind.fields {
        if !object.contains_key(field.name)
            && let Some(value) = printed(&field.kind, Value::Null, field.presence)
        {
            object.insert(field.name.to_owned(), value);
        }
    }
    Value::Object(object)
}

/// Returns compact JSON of a canonical value with the fields in Go's order.
pub fn print_go_json(kind: &'static GoStruct, value: &Value) -> String {
    let mut out = String::new();
    write_struct(&mut out, kind, value);
    out
}

/// Returns whether `omitempty` omits a value of a type other than a struct or pointer.
pub fn is_zero(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Bool(value) => !value,
        Value::Number(number) => number.as_i64() == Some(0),
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(map) => map.is_empty(),
    }
}

/// Returns a field's value as Go prints it; `None` if Go omits it.
fn printed(kind: &'static GoType, value: Value, presence: Presence) -> Option<Value> {
    match kind {
        GoType::Ignored(_) => None,
        GoType::Pointer(_) | GoType::Present(_) if value.is_null() => {
            (presence == Presence::Always).then_some(Value::Null)
        }
        GoType::Pointer(inner) | GoType::Present(inner) => Some(zeroed(inner, value)),
        kind => {
            let value = zeroed(kind, value);
            let is_printed = match presence {
                Presence::Always => true,
                Presence::OmitZero => !is_zero(&value),
                Presence::OmitEmpty => {
                    matches!(kind.base(), GoType::Struct(_) | GoType::IntOrString) || !is_zero(&value)
                }
            };
            is_printed.then_some(value)
        }
    }
}

/// Returns a value as Go prints it where it cannot be omitted.
fn zeroed(kind: &'static GoType, value: Value) -> Value {
    match (kind, value) {
        (GoType::Pointer(_), Value::Null) => Value::Null,
        (GoType::Named(_, inner) | GoType::Pointer(inner) | GoType::Present(inner), value) => {
            zeroed(inner, value)
        }
        (GoType::Struct(of), value) => canonical(of, value),
        (GoType::String, Value::Null) => Value::from(""),
        (GoType::Bool, Value::Null) => Value::from(false),
        (GoType::Int64 | GoType::IntOrString, Value::Null) => Value::from(0),
        (GoType::List(item), Value::Array(items)) => {
            items.into_iter().map(|value| zeroed(item, value)).collect()
        }
        (GoType::Map(inner), Value::Object(mut map)) => {
            for value in map.values_mut() {
                *value = zeroed(inner, std::mem::take(value));
            }
            Value::Object(map)
        }
        (_, value) => value,
    }
}

fn write_struct(out: &mut String, kind: &'static GoStruct, value: &Value) {
    out.push('{');
    let mut separator = "";
    for field in kind.fields {
        if let Some(value) = value.get(field.name) {
            out.push_str(separator);
            write_go_string(out, field.name);
            out.push(':');
            write_value(out, &field.kind, value);
            separator = ",";
        }
    }
    out.push('}');
}

fn write_value(out: &mut String, kind: &'static GoType, value: &Value) {
    match (kind.base(), value) {
        (GoType::Struct(of), Value::Object(_)) => write_struct(out, of, value),
        (GoType::List(item), Value::Array(items)) => {
            out.push('[');
            for (index, value) in items.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                write_value(out, item, value);
            }
            out.push(']');
        }
        // Maps of structs do not exist in the table.
        _ => out.push_str(&write_go_json(value)),
    }
}
