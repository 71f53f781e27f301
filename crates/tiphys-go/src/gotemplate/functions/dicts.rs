//! Dictionaries: maps with string keys.

use std::collections::BTreeMap;

use super::{Call, Failure, Function, Outcome, Type, fail};
use crate::gotemplate::value::{List, Map, Str, Value};

pub(super) const FUNCTIONS: &[Function] = &[
    Function::new("dict", &[], dict).and(Type::Any),
    Function::any("get", &[Type::Map, Type::String], |call| {
        Ok(call.map(0).get(&call.string(1)).unwrap_or_else(|| "".into()))
    }),
    Function::new("set", &[Type::Map, Type::String, Type::Any], set).changing(),
    Function::new("unset", &[Type::Map, Type::String], |call| {
        let map = call.map(0);
        map.remove(&call.string(1));
        Ok(Value::Map(map))
    })
    .changing(),
    Function::new("hasKey", &[Type::Map, Type::String], |call| {
        Ok(Value::Bool(call.map(0).get(&call.string(1)).is_some()))
    }),
    Function::new("pluck", &[Type::String], |call| {
        let key = call.string(0);
        let found = (1..call.arguments.len()).filter_map(|index| call.map(index).get(&key));
        Ok(Value::List(List::new(found.collect())))
    })
    .and(Type::Map),
    Function::new("keys", &[], |call| {
        let maps = (0..call.arguments.len()).map(|index| call.map(index));
        let keys = maps.flat_map(|map| map.entries()).map(|(key, _)| key);
        Ok(Value::List(List::strings(keys)))
    })
    .and(Type::Map),
    Function::new("values", &[Type::Map], |call| {
        let values = call.map(0).entries().into_iter().map(|(_, value)| value);
        Ok(Value::List(List::new(values.collect())))
    }),
    Function::new("pick", &[Type::Map], pick).and(Type::String),
    Function::new("omit", &[Type::Map], omit).and(Type::String),
    Function::any("dig", &[], dig).and(Type::Any),
    Function::any("deepCopy", &[Type::Any], deep_copy),
    Function::any("mustDeepCopy", &[Type::Any], deep_copy),
];

fn dict(call: &mut Call<'_>) -> Outcome {
    call.budget().take_map()?;
    let mut entries = BTreeMap::new();
    for pair in call.values(0).chunks(2) {
        let key = call.written(&pair[0])?;
        entries.insert(key, pair.get(1).cloned().unwrap_or_else(|| "".into()));
    }
    Ok(Value::Map(Map::new(entries)))
}

fn set(call: &mut Call<'_>) -> Outcome {
    let map = call.map(0);
    if map.is_nil() {
        return fail("assignment to entry in nil map");
    }
    map.insert(call.string(1), call.value(2));
    call.context.changed.push(map.clone());
    Ok(Value::Map(map))
}

fn pick(call: &mut Call<'_>) -> Outcome {
    let map = call.map(0);
    let keys = (1..call.arguments.len()).map(|index| call.string(index));
    let entries = keys.filter_map(|key| map.get(&key).map(|value| (key, value)));
    Ok(Value::Map(Map::new(entries.collect())))
}

fn omit(call: &mut Call<'_>) -> Outcome {
    let keys: Vec<Str> = (1..call.arguments.len()).map(|index| call.string(index)).collect();
    let map = call.map(0);
    call.budget().take(map.len())?;
    let entries = map.entries().into_iter().filter(|(key, _)| !keys.contains(key));
    Ok(Value::Map(Map::new(entries.collect())))
}

/// Returns the dictionary, as a type assertion in Go.
fn asserted(value: &Value) -> Result<Map, Failure> {
    match value {
        Value::Map(map) if !map.holds_strings() && !map.is_chart_values() => Ok(map.clone()),
        Value::Nil => fail("interface conversion: interface {} is nil, not map[string]interface {}"),
        other => fail(format!(
            "interface conversion: interface {{}} is {}, not map[string]interface {{}}",
            other.type_name()
        )),
    }
}

fn dig(call: &mut Call<'_>) -> Outcome {
    let values = call.values(0);
    let [keys @ .., default, last] = &values[..] else {
        return fail("dig needs at least three arguments");
    };
    if keys.is_empty() {
        return fail("dig needs at least three arguments");
    }
    let mut map = asserted(last)?;
    let mut names = Vec::new();
    for key in keys {
        match key {
            Value::String(key) => names.push(key),
            Value::Nil => return fail("interface conversion: interface {} is nil, not string"),
            other => {
                let found = other.type_name();
                return fail(format!("interface conversion: interface {{}} is {found}, not string"));
            }
        }
    }
    let (final_name, inner) = names.split_last().expect("one key at least");
    for name in inner {
        match map.get(name) {
            Some(value) => map = asserted(&value)?,
            None => return Ok(default.clone()),
        }
    }
    Ok(map.get(final_name).unwrap_or_else(|| default.clone()))
}

fn deep_copy(call: &mut Call<'_>) -> Outcome {
    let value = call.value(0);
    if matches!(value, Value::Nil) {
        return fail("reflect: call of reflect.Value.Type on zero Value");
    }
    Ok(value.copied(call.budget(), 0)?)
}
