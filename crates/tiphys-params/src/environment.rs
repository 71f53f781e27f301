//! The environment variables that carry parameters to a plugin's commands.

use crate::Parameter;

/// One environment variable.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct EnvVar {
    /// Name.
    pub name: String,
    /// Value.
    pub value: String,
}

impl EnvVar {
    /// A variable.
    pub fn new(name: impl Into<String>, value: impl Into<String>) -> Self {
        Self { name: name.into(), value: value.into() }
    }
}

/// The value of `ARGOCD_APP_PARAMETERS`, byte for byte as Go's `json.Marshal` writes the list. `None` (a plugin block without
/// `parameters`) is `null`; whether the variable is set at all is the caller's business (`spec/cmp.md` 4.4).
pub fn app_parameters(parameters: Option<&[Parameter]>) -> String {
    todo!("{parameters:?}")
}

/// The `PARAM_*` variables in Argo CD's order: per parameter the text, then the map in the order of its keys' bytes, then the list.
/// A name may come twice; the last one wins (`spec/cmp.md` 4.4).
pub fn parameter_variables(parameters: &[Parameter]) -> Vec<EnvVar> {
    todo!("{parameters:?}")
}
