//! `$NAME` in parameters, as Argo CD's native support replaces it: Go's `os.Expand` with the names of its build environment.
//!
//! Argo CD substitutes a plugin's `env` and not its parameters, so the plugin does it itself, with the same names: nothing else of the
//! environment can be reached.

use std::collections::BTreeMap;
use std::fmt;

use tiphys_params::{BUILD_VARIABLES, PLUGIN_ENV_PREFIX, expand};

/// What names stand for. Names that are not in it stand for nothing.
#[derive(Clone, Default, PartialEq, Eq)]
pub(crate) struct BuildEnvironment(BTreeMap<String, String>);

/// What they stand for may be secret.
impl fmt::Debug for BuildEnvironment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

impl BuildEnvironment {
    /// Chooses from a process's variables.
    pub(crate) fn new<'a>(variables: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        let is_one = |name: &str| BUILD_VARIABLES.contains(&name) || name.starts_with(PLUGIN_ENV_PREFIX);
        let chosen = variables.into_iter().filter(|(name, _)| is_one(name));
        Self(chosen.map(|(name, value)| (name.to_owned(), value.to_owned())).collect())
    }

    /// A text with `$NAME` and `${NAME}` replaced; a name that is not known becomes nothing, `$$` is a dollar sign.
    pub(crate) fn substitute(&self, text: &str) -> String {
        expand(text, |name| self.0.get(name).map(String::as_str))
    }
}

#[cfg(test)]
mod tests;
