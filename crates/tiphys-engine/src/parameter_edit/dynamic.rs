//! The dynamic parameters of a source's block, by the names of the parameters that they set.

use tiphys_model::params::Parameter;
use tiphys_model::resources::{ApplicationSource, DynamicParameter, ResourceReference};

use super::NoPlaceError;
use crate::helm::{SET_PREFIX, helm_value_path};
use crate::translate::{TranslateError, translate};
use crate::{BuildEnvironment, HELM_PLUGIN, SourceType};

/// The dynamic parameters of a source's block while they are changed.
#[derive(Clone, Debug)]
pub struct DynamicEdit {
    list: Vec<DynamicParameter>,
    annotated: Vec<DynamicParameter>,
    source_type: SourceType,
    is_for_helm: bool,
}

impl DynamicEdit {
    /// Creates an edit of a source of this type.
    pub fn new(source: &ApplicationSource, source_type: SourceType) -> Self {
        let names_helm = source.plugin.as_ref().is_some_and(|block| block.name == HELM_PLUGIN);
        Self {
            list: source.dynamic_parameters().to_vec(),
            annotated: source.annotated_parameters.clone(),
            source_type,
            is_for_helm: source_type == SourceType::HELM || names_helm,
        }
    }

    /// Returns the names of the parameters that the entries set.
    pub fn names(&self) -> impl Iterator<Item = String> {
        let prefix = if self.is_for_helm { SET_PREFIX } else { "" };
        self.list.iter().map(move |entry| format!("{prefix}{}", entry.name))
    }

    /// Returns the reference of the block that sets the same value as a parameter.
    pub fn get(&self, name: &str) -> Option<&ResourceReference> {
        let name = self.entry_name(name)?;
        self.list.iter().find(|entry| entry.name == name).map(|entry| &entry.resource_ref)
    }

    /// Whether the Application's annotation sets the same value as a parameter.
    pub fn is_annotated(&self, name: &str) -> bool {
        self.entry_name(name).is_some_and(|name| self.annotated.iter().any(|entry| entry.name == name))
    }

    /// Whether two parameters set the same value.
    pub fn is_same_value(&self, one: &str, other: &str) -> bool {
        self.entry_name(one).is_some_and(|name| self.entry_name(other) == Some(name))
    }

    /// Removes the entry that sets the same value as a parameter.
    pub fn remove(&mut self, name: &str) {
        if let Some(name) = self.entry_name(name).map(str::to_owned) {
            self.list.retain(|entry| entry.name != name);
        }
    }

    /// Sets the reference of an entry, which keeps its other fields, or appends one.
    pub fn set(&mut self, name: &str, reference: ResourceReference) -> Result<(), NoPlaceError> {
        let of_chart = || name.strip_prefix(SET_PREFIX).ok_or_else(|| NoPlaceError::Dynamic(name.to_owned()));
        let name = if self.is_for_helm { of_chart()? } else { name };
        match self.list.iter_mut().find(|entry| entry.name == name) {
            Some(entry) => entry.resource_ref = reference,
            None => self.list.push(DynamicParameter {
                name: name.to_owned(),
                resource_ref: reference,
                ..DynamicParameter::default()
            }),
        }
        Ok(())
    }

    /// Returns the source with these entries. The entries must be valid, and set no value twice.
    pub fn applied_to(self, mut source: ApplicationSource) -> Result<ApplicationSource, NoPlaceError> {
        if self.list != source.dynamic_parameters() {
            let list = match self.source_type {
                SourceType::Plugin => Some(&mut source.plugin.get_or_insert_default().dynamic_parameters),
                SourceType::Native(native) => (native.dynamic_parameters)(&mut source),
                SourceType::Directory => None,
            };
            *list.ok_or(NoPlaceError::DynamicType(self.source_type))? = self.list;
        }
        match translate(&source, self.source_type, &BuildEnvironment::default()) {
            Err(TranslateError::Dynamic(error)) => Err(NoPlaceError::InvalidDynamic(error)),
            // Other errors are not of the change.
            Ok(_) | Err(_) => Ok(source),
        }
    }

    /// Returns the parameters without those that set the same value as `name`.
    pub fn without(&self, parameters: &[Parameter], name: &str) -> Vec<Parameter> {
        parameters.iter().filter(|one| !self.is_same_value(&one.name, name)).cloned().collect()
    }

    /// Returns the name of the entry for a parameter. None for a parameter of the Helm plugin that is not a value of the chart.
    fn entry_name<'a>(&self, name: &'a str) -> Option<&'a str> {
        if self.is_for_helm { helm_value_path(name) } else { Some(name) }
    }
}

#[cfg(test)]
mod tests;
