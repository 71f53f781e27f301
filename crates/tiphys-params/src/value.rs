//! Parameter values, as an Application sets them.

use std::collections::BTreeMap;

/// One entry of `spec.source.plugin.parameters`. Absent and empty are different values.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Parameter {
    /// Name; may be empty here, since what is sent to a plugin is decided by [`crate::app_parameters`] and the checks.
    pub name: String,
    /// The text, if it is set.
    pub string: Option<String>,
    /// The list, if it is set.
    pub array: Option<Vec<String>>,
    /// The map, if it is set.
    pub map: Option<BTreeMap<String, String>>,
}

/// Something that is taken as Argo CD takes it, but that a person should know of (no value, named twice, a key given twice).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// What, naming the parameter.
    pub message: String,
    /// Where, if the text is known.
    pub position: Option<tiphys_yaml::Position>,
}
