//! Sources that other sources refer to by `ref`, and the references in the parameters of a plugin.

use std::collections::BTreeMap;

use tiphys_model::params::Parameter;
use tiphys_model::resources::ApplicationSource;

/// An invalid `ref`. The messages start with Argo CD's words.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReferenceError {
    /// A name with characters other than letters, digits, `_` and `-`.
    #[error("sources.ref {name} cannot contain any special characters except '_' and '-'")]
    Name {
        /// The name.
        name: String,
    },
    /// A name that two sources have.
    #[error("invalid sources: multiple sources had the same `ref` key; `{name}` is given twice")]
    Twice {
        /// The name.
        name: String,
    },
}

/// Returns the sources with a `ref`, by that name. The only source of an Application cannot be referred to.
pub fn references(
    sources: &[ApplicationSource],
) -> Result<BTreeMap<&str, &ApplicationSource>, ReferenceError> {
    let mut found = BTreeMap::new();
    if sources.len() < 2 {
        return Ok(found);
    }
    for source in sources.iter().filter(|source| !source.reference.is_empty()) {
        let name = source.reference.as_str();
        if !name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')) {
            return Err(ReferenceError::Name { name: name.to_owned() });
        }
        if found.insert(name, source).is_some() {
            return Err(ReferenceError::Twice { name: name.to_owned() });
        }
    }
    Ok(found)
}

/// Returns the names that a plugin's parameters may refer to, in order of first occurrence. The name is the part between `$` and the first
/// `/` of a value, list item or map value that begins with `$`. Only the plugin knows whether it is a reference. Sources that are not
/// mentioned need not be fetched.
pub fn mentioned(parameters: &[Parameter]) -> Vec<&str> {
    let mut names = Vec::new();
    for parameter in parameters {
        let lists = parameter.array.iter().flatten();
        let maps = parameter.map.iter().flat_map(BTreeMap::values);
        for value in parameter.string.iter().chain(lists).chain(maps) {
            let name = value.strip_prefix('$').map(|rest| rest.split('/').next().unwrap_or_default());
            names.extend(name.filter(|name| !names.contains(name)));
        }
    }
    names
}

#[cfg(test)]
mod tests;
