//! Lists.

use super::reflection::are_equal;
use super::{Call, Failure, Function, Outcome, Type, fail};
use crate::gotemplate::value::{List, ListType, Str, Value};

pub(super) const FUNCTIONS: &[Function] = &[
    Function::new("list", &[], list).and(Type::Any),
    Function::new("tuple", &[], list).and(Type::Any),
    Function::new("append", &[Type::Any, Type::Any], append),
    Function::new("push", &[Type::Any, Type::Any], append),
    Function::new("mustAppend", &[Type::Any, Type::Any], append),
    Function::new("mustPush", &[Type::Any, Type::Any], append),
    Function::new("prepend", &[Type::Any, Type::Any], prepend),
    Function::new("mustPrepend", &[Type::Any, Type::Any], prepend),
    Function::new("chunk", &[Type::Int, Type::Any], chunk),
    Function::new("mustChunk", &[Type::Int, Type::Any], chunk),
    Function::any("first", &[Type::Any], first),
    Function::any("mustFirst", &[Type::Any], first),
    Function::any("last", &[Type::Any], last),
    Function::any("mustLast", &[Type::Any], last),
    Function::new("rest", &[Type::Any], rest),
    Function::new("mustRest", &[Type::Any], rest),
    Function::new("initial", &[Type::Any], initial),
    Function::new("mustInitial", &[Type::Any], initial),
    Function::new("reverse", &[Type::Any], reverse),
    Function::new("mustReverse", &[Type::Any], reverse),
    Function::new("compact", &[Type::Any], compact),
    Function::new("mustCompact", &[Type::Any], compact),
    Function::new("uniq", &[Type::Any], uniq),
    Function::new("mustUniq", &[Type::Any], uniq),
    Function::new("without", &[Type::Any], without).and(Type::Any),
    Function::new("mustWithout", &[Type::Any], without).and(Type::Any),
    Function::new("has", &[Type::Any, Type::Any], has),
    Function::new("mustHas", &[Type::Any, Type::Any], has),
    Function::any("slice", &[Type::Any], slice).and(Type::Any),
    Function::any("mustSlice", &[Type::Any], slice).and(Type::Any),
    Function::any("concat", &[], concat).and(Type::Any),
    Function::new("join", &[Type::String, Type::Any], join),
    Function::new("sortAlpha", &[Type::Any], sort_alpha).changing(),
    Function::new("toStrings", &[Type::Any], |call| {
        let value = call.value(0);
        Ok(Value::List(List::strings(strings(call, &value)?)))
    }),
];

fn list(call: &mut Call<'_>) -> Outcome {
    // A call without arguments passes no list in Go either.
    let items = call.values(0);
    Ok(any(items))
}

fn any(items: Vec<Value>) -> Value {
    Value::List(List::new(items))
}

fn append(call: &mut Call<'_>) -> Outcome {
    let mut items = call.list(0, "push on type")?.items();
    items.push(call.value(1));
    Ok(any(items))
}

fn prepend(call: &mut Call<'_>) -> Outcome {
    let mut items = call.list(0, "prepend on type")?.items();
    items.insert(0, call.value(1));
    Ok(any(items))
}

fn chunk(call: &mut Call<'_>) -> Outcome {
    let items = call.list(1, "chunk type")?.items();
    let size = call.integer(0);
    let Ok(size @ 1..) = usize::try_from(size) else {
        // With a negative size sprig computes no chunk for few elements, and fails for others.
        let is_empty =
            size < 0 && (2..=size.unsigned_abs().saturating_add(1)).contains(&(items.len() as u64));
        if is_empty {
            return Ok(Value::List(List::of(ListType::Lists, Vec::new())));
        }
        return fail("runtime error: makeslice: len out of range");
    };
    let chunks = items.chunks(size).map(|chunk| any(chunk.to_vec())).collect();
    Ok(Value::List(List::of(ListType::Lists, chunks)))
}

fn first(call: &mut Call<'_>) -> Outcome {
    Ok(call.list(0, "find first on type")?.get(0).unwrap_or(Value::Nil))
}

fn last(call: &mut Call<'_>) -> Outcome {
    let list = call.list(0, "find last on type")?;
    Ok(list.len().checked_sub(1).and_then(|index| list.get(index)).unwrap_or(Value::Nil))
}

/// Returns a list of some elements, or a nil list of none.
fn part(items: Vec<Value>, kept: impl FnOnce(Vec<Value>) -> Vec<Value>) -> Value {
    if items.is_empty() { Value::List(List::nil(ListType::Any)) } else { any(kept(items)) }
}

fn rest(call: &mut Call<'_>) -> Outcome {
    Ok(part(call.list(0, "find rest on type")?.items(), |items| items[1..].to_vec()))
}

fn initial(call: &mut Call<'_>) -> Outcome {
    Ok(part(call.list(0, "find initial on type")?.items(), |items| items[..items.len() - 1].to_vec()))
}

fn reverse(call: &mut Call<'_>) -> Outcome {
    let mut items = call.list(0, "find reverse on type")?.items();
    items.reverse();
    Ok(any(items))
}

fn compact(call: &mut Call<'_>) -> Outcome {
    let items = call.list(0, "compact on type")?.items();
    Ok(any(items.into_iter().filter(|item| !super::defaults::is_empty(item)).collect()))
}

fn contains(call: &mut Call<'_>, items: &[Value], wanted: &Value) -> Result<bool, Failure> {
    for item in items {
        if are_equal(call.budget(), wanted, item, 0)? {
            return Ok(true);
        }
    }
    Ok(false)
}

fn uniq(call: &mut Call<'_>) -> Outcome {
    let mut unique = Vec::new();
    for item in call.list(0, "find uniq on type")?.items() {
        if !contains(call, &unique, &item)? {
            unique.push(item);
        }
    }
    Ok(any(unique))
}

fn without(call: &mut Call<'_>) -> Outcome {
    let (omitted, mut kept) = (call.values(1), Vec::new());
    for item in call.list(0, "find without on type")?.items() {
        if !contains(call, &omitted, &item)? {
            kept.push(item);
        }
    }
    Ok(any(kept))
}

fn has(call: &mut Call<'_>) -> Outcome {
    if matches!(call.value(1), Value::Nil) {
        return Ok(Value::Bool(false));
    }
    let (wanted, items) = (call.value(0), call.list(1, "find has on type")?.items());
    Ok(Value::Bool(contains(call, &items, &wanted)?))
}

fn slice(call: &mut Call<'_>) -> Outcome {
    let list = match call.value(0) {
        Value::List(list) => list,
        Value::Nil => return fail("runtime error: invalid memory address or nil pointer dereference"),
        other => return fail(format!("list should be type of slice or array but {}", other.kind())),
    };
    let length = list.len();
    call.budget().take_items(length)?;
    if length == 0 {
        return Ok(Value::Nil);
    }
    let indices = call.values(1);
    let start = indices.first().map_or(0, super::math::to_integer);
    let end = indices.get(1).map_or(i64::try_from(length).unwrap_or(i64::MAX), super::math::to_integer);
    match (usize::try_from(start), usize::try_from(end)) {
        (Ok(start), Ok(end)) if start <= end && end <= length => {
            Ok(Value::List(List::of(list.list_type(), list.items()[start..end].to_vec())))
        }
        _ => fail("reflect.Value.Slice: slice index out of bounds"),
    }
}

fn concat(call: &mut Call<'_>) -> Outcome {
    let mut items = Vec::new();
    for value in call.values(0) {
        match value {
            Value::List(list) => {
                call.budget().take_items(list.len())?;
                items.extend(list.items());
            }
            Value::Nil => return fail("runtime error: invalid memory address or nil pointer dereference"),
            other => return fail(format!("Cannot concat type {} as list", other.kind())),
        }
    }
    Ok(if items.is_empty() { Value::List(List::nil(ListType::Any)) } else { any(items) })
}

/// Returns the elements as strings, without nil.
pub(super) fn strings(call: &mut Call<'_>, value: &Value) -> Result<Vec<Str>, Failure> {
    let items = match value {
        Value::Nil => return Ok(Vec::new()),
        Value::List(list) => {
            call.budget().take(list.len())?;
            list.items()
        }
        other => vec![other.clone()],
    };
    let present = items.iter().filter(|item| !matches!(item, Value::Nil));
    present.map(|item| call.written(item)).collect()
}

fn join(call: &mut Call<'_>) -> Outcome {
    let (separator, value) = (call.string(0), call.value(1));
    let strings = strings(call, &value)?;
    let bytes = strings.iter().map(|string| string.len() + separator.len()).sum();
    call.budget().take_bytes(bytes)?;
    Ok(joined(&strings, &separator).into())
}

fn sort_alpha(call: &mut Call<'_>) -> Outcome {
    let value = call.value(0);
    match &value {
        // A list of strings is sorted in place, as in sprig.
        Value::List(list) if list.list_type() == ListType::Strings => {
            call.budget().take(list.len())?;
            list.sort();
            Ok(value)
        }
        Value::List(_) => {
            let mut sorted = strings(call, &value)?;
            sorted.sort();
            Ok(Value::List(List::strings(sorted)))
        }
        other => Ok(Value::List(List::strings([call.written(other)?]))),
    }
}

fn joined(strings: &[Str], separator: &[u8]) -> Vec<u8> {
    let parts: Vec<&[u8]> = strings.iter().map(|string| &**string).collect();
    parts.join(separator)
}
