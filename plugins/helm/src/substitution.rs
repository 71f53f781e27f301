//! `$NAME` in parameters, as in Argo CD's native support: Go's `os.Expand` with the names of its build environment.
//!
//! Argo CD expands variables in a plugin's `env`, not in its parameters. So the plugin does it, with the same names only.

use std::collections::BTreeMap;
use std::fmt;

use tiphys_model::params::{BUILD_VARIABLES, PLUGIN_ENV_PREFIX, expand};

/// Variables and their values. Unknown ones are empty.
#[derive(Clone, Default, PartialEq, Eq)]
pub(crate) struct BuildEnvironment(BTreeMap<String, String>);

/// Values may be secret.
impl fmt::Debug for BuildEnvironment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

impl BuildEnvironment {
    /// Selects variables of the build environment.
    pub(crate) fn new<'a>(variables: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        let is_one = |name: &str| BUILD_VARIABLES.contains(&name) || name.starts_with(PLUGIN_ENV_PREFIX);
        let chosen = variables.into_iter().filter(|(name, _)| is_one(name));
        Self(chosen.map(|(name, value)| (name.to_owned(), value.to_owned())).collect())
    }

    /// Replaces `$NAME` and `${NAME}`; unknown names become empty, and `$$` is a dollar sign.
    pub(crate) fn substitute(&self, text: &str) -> String {
        expand(text, |name| self.0.get(name).map(String::as_str))
    }
}

#[cfg(test)]
mod tests;
