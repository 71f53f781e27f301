//! Combination of parameter sets by `matrix` and `merge`.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};
use tiphys_go::gotemplate::go_string;
use tiphys_yaml::write_go_json;

use crate::appset::{ParameterSet, TemplateMode};

/// Parameter sets cannot be combined, in Argo CD's words.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CombineError {
    /// Both sets of a matrix have a parameter, with different values. Only with fasttemplate.
    #[error(
        "failed to combine string maps with merging params for the matrix generator: found duplicate key {key} with different value, \
         a: {first} ,b: {second}"
    )]
    Conflict {
        /// Name of the parameter.
        key: String,
        /// Value of the first generator.
        first: String,
        /// Value of the second generator.
        second: String,
    },
    /// A merge has no keys.
    #[error(
        "error getting param sets by merge key: no merge keys were specified, Merge requires at least one"
    )]
    NoMergeKeys,
    /// Two sets of one generator have the same values of the merge keys.
    #[error(
        "error getting param sets by merge key: the parameters from a generator were not unique by the given mergeKeys, Merge requires \
         all param sets to be unique. Duplicate key was {key}"
    )]
    NotUnique {
        /// The values as JSON.
        key: String,
    },
}

/// Returns the product of one set of each generator of a matrix. With Go templates, objects are merged, and the first generator wins. With
/// fasttemplate, all values become strings, and different ones for one name are an error.
pub fn combine_matrix(
    mode: TemplateMode,
    first: &ParameterSet,
    second: &ParameterSet,
) -> Result<ParameterSet, CombineError> {
    match mode {
        TemplateMode::Go => {
            let mut product = second.clone();
            override_with(&mut product, first);
            Ok(product)
        }
        TemplateMode::Fast => {
            let strings = |set: &ParameterSet| -> BTreeMap<String, String> {
                set.values.iter().map(|(key, value)| (key.clone(), go_string(value))).collect()
            };
            let mut product = strings(first);
            for (key, second) in strings(second) {
                match product.get(&key) {
                    Some(first) if *first != second => {
                        return Err(CombineError::Conflict { first: first.clone(), key, second });
                    }
                    _ => product.insert(key, second),
                };
            }
            let values = product.into_iter().map(|(key, value)| (key, Value::from(value))).collect();
            Ok(ParameterSet { values, string_maps: BTreeSet::new() })
        }
    }
}

/// Merges the sets of several generators: sets of later ones override the set of the first one that has the same values of the keys. A
/// missing key counts as `null`. Sets without a partner in the first generator are dropped. The result has the order of the first generator;
/// Argo CD's order is random. Without generators, the result is empty.
pub fn combine_merge(
    mode: TemplateMode,
    keys: &[String],
    generators: Vec<Vec<ParameterSet>>,
) -> Result<Vec<ParameterSet>, CombineError> {
    if keys.is_empty() {
        return Err(CombineError::NoMergeKeys);
    }
    let mut generators = generators.into_iter();
    let mut base = generators.next().unwrap_or_default();
    let positions = by_key(keys, &base)?;
    for sets in generators {
        for (key, index) in by_key(keys, &sets)? {
            let (Some(base), Some(set)) =
                (positions.get(&key).and_then(|at| base.get_mut(*at)), sets.get(index))
            else {
                continue;
            };
            match mode {
                TemplateMode::Go => override_with(base, set),
                TemplateMode::Fast => base.values.extend(set.values.clone()),
            }
        }
    }
    Ok(base)
}

/// Returns the index of each set by the JSON of its merge keys.
fn by_key(keys: &[String], sets: &[ParameterSet]) -> Result<BTreeMap<String, usize>, CombineError> {
    let mut found = BTreeMap::new();
    for (index, set) in sets.iter().enumerate() {
        let value = |key: &String| set.values.get(key).cloned().unwrap_or_default();
        let key = write_go_json(&keys.iter().map(|key| (key.clone(), value(key))).collect());
        if found.contains_key(&key) {
            return Err(CombineError::NotUnique { key });
        }
        found.insert(key, index);
    }
    Ok(found)
}

/// Merges another set over this one. An object is a map of strings afterwards if it is one in each set that has it.
fn override_with(set: &mut ParameterSet, over: &ParameterSet) {
    let is_uniform = |path: &&String| {
        [&*set, over].iter().all(|side| side.string_maps.contains(*path) || side.object_at(path).is_none())
    };
    let paths: BTreeSet<String> =
        set.string_maps.union(&over.string_maps).filter(is_uniform).cloned().collect();
    merge_objects(&mut set.values, &over.values);
    set.string_maps = paths.into_iter().filter(|path| set.object_at(path).is_some()).collect();
}

/// Merges objects recursively. Everything else of `over` replaces, including `null`, empty values and lists.
fn merge_objects(base: &mut Map<String, Value>, over: &Map<String, Value>) {
    for (key, value) in over {
        match (base.get_mut(key), value) {
            (Some(Value::Object(base)), Value::Object(over)) => merge_objects(base, over),
            _ => {
                base.insert(key.clone(), value.clone());
            }
        }
    }
}

#[cfg(test)]
mod tests;
