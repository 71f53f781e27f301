//! `merge` and its relatives: the rules of the Go library mergo.

use super::{Call, Failure, Function, Outcome, Type};
use crate::gotemplate::limits::{Budget, LimitError};
use crate::gotemplate::value::{Map, Value};

pub(super) const FUNCTIONS: &[Function] = &[
    Function::any("merge", &[Type::Map], |call| merge(call, Precedence::First)).and(Type::Map).changing(),
    Function::any("mustMerge", &[Type::Map], |call| merge(call, Precedence::First)).and(Type::Map).changing(),
    Function::any("mergeOverwrite", &[Type::Map], |call| merge(call, Precedence::Last))
        .and(Type::Map)
        .changing(),
    Function::any("mustMergeOverwrite", &[Type::Map], |call| merge(call, Precedence::Last))
        .and(Type::Map)
        .changing(),
];

/// Which of two values that are not empty is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Precedence {
    First,
    Last,
}

fn merge(call: &mut Call<'_>, precedence: Precedence) -> Outcome {
    let mut target = call.map(0);
    for index in 1..call.arguments.len() {
        let source = call.map(index);
        if target.is_nil() && !source.is_nil() {
            target = Map::new(std::collections::BTreeMap::new());
        }
        let mut changed = Vec::new();
        let result = merge_maps(call.budget(), &target, &source, precedence, &mut changed, 0);
        call.context.changed.append(&mut changed);
        result.map_err(Failure::Limit)?;
    }
    Ok(Value::Map(target))
}

/// Merges the source into the target.
fn merge_maps(
    budget: &mut Budget,
    target: &Map,
    source: &Map,
    precedence: Precedence,
    changed: &mut Vec<Map>,
    level: usize,
) -> Result<(), LimitError> {
    budget.check_depth(level)?;
    if target.is_nil() || target.is_same(source) {
        return Ok(());
    }
    changed.push(target.clone());
    for (key, value) in source.entries() {
        budget.take(1)?;
        let own = target.get(&key);
        let mut is_done = false;
        match &value {
            Value::Nil => {
                if precedence == Precedence::Last {
                    target.insert(key, Value::Nil);
                }
                continue;
            }
            Value::Map(source) => {
                if let Some(Value::Map(own)) = &own
                    && !own.holds_strings()
                {
                    merge_maps(budget, own, source, precedence, changed, level + 1)?;
                    is_done = own.len() > 0;
                }
            }
            _ => {}
        }
        let is_empty = own.as_ref().is_none_or(super::defaults::is_empty);
        if !is_done && (precedence == Precedence::Last || is_empty) {
            target.insert(key, value);
        }
    }
    Ok(())
}
