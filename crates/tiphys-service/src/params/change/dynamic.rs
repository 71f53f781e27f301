//! Changes between static and dynamic parameters: one replaces the other.

use tiphys_engine::DynamicEdit;
use tiphys_model::params::{
    Announcement, ApplyError, Assignment, Edited, InEffect, Parameter, ParameterChange, ParameterValue, Part,
    Target, suggest,
};
use tiphys_model::resources::{DYNAMIC_PARAMETERS_ANNOTATION, ResourceReference};

use super::ParameterSource;
use crate::error::ServiceError;

/// Dynamic parameters that assignments replace or unset.
#[derive(Debug, Default)]
pub(super) struct Replaced {
    /// The part that gets a value, and the reference before.
    set: Vec<(Target, InEffect)>,
    /// The changes of those that are unset.
    unset: Vec<ParameterChange>,
}

impl Replaced {
    /// Adds the references to the changes.
    pub(super) fn complete(self, changes: &mut Vec<ParameterChange>) {
        for (target, before) in self.set {
            if let Some(change) = changes.iter_mut().find(|change| change.target == target) {
                change.before = before;
            }
        }
        changes.extend(self.unset);
    }
}

impl ParameterSource {
    /// Removes the dynamic parameters that assignments replace or unset. Assignments that are complete with that are removed, too.
    pub(super) fn replaced(
        &self,
        dynamic: &mut DynamicEdit,
        assignments: &mut Vec<Assignment<ParameterValue>>,
        edited: &Edited<'_>,
    ) -> Result<Replaced, ServiceError> {
        let mut replaced = Replaced::default();
        let mut rest = Vec::with_capacity(assignments.len());
        for assignment in assignments.drain(..) {
            let Assignment { target, value } = &assignment;
            self.require_no_annotation(dynamic, &target.name)?;
            let Some(reference) = dynamic.get(&target.name) else {
                rest.push(assignment);
                continue;
            };
            if target.part != Part::Whole {
                return Err(ServiceError::invalid_input(format!(
                    "{}: parameter {:?} is dynamic ({reference}): a part of it cannot be changed; unset it first",
                    self.stored.full_name(),
                    target.name
                )));
            }
            let before = InEffect::Dynamic(reference.to_string());
            dynamic.remove(&target.name);
            let is_static = edited.parameters.iter().any(|parameter| parameter.name == target.name);
            if value.is_some() || is_static {
                replaced.set.push((target.clone(), before));
                rest.push(assignment);
            } else {
                let after = default_of(edited.announcements, &target.name);
                replaced.unset.push(ParameterChange { target: target.clone(), before, after });
            }
        }
        *assignments = rest;
        Ok(replaced)
    }

    /// Makes a parameter dynamic and removes the value that is set.
    pub(super) fn set_reference(
        &self,
        dynamic: &mut DynamicEdit,
        parameters: &mut Vec<Parameter>,
        edited: &Edited<'_>,
        (name, reference): &(String, ResourceReference),
    ) -> Result<ParameterChange, ServiceError> {
        self.require_no_annotation(dynamic, name)?;
        let set = parameters.iter().rev().find(|parameter| dynamic.is_same_value(&parameter.name, name));
        let is_known = set.is_some()
            || dynamic.get(name).is_some()
            || edited.names_are_free
            || edited.announcements.iter().any(|announcement| announcement.name == *name);
        if !is_known && !edited.accepts(name) {
            let known = edited.announcements.iter().map(|announcement| announcement.name.as_str());
            let suggestions = suggest(name, known).into_iter().map(str::to_owned).collect();
            return Err(self.refused(&ApplyError::Unknown { name: name.clone(), suggestions }));
        }
        let before = match (dynamic.get(name), set.and_then(value_of)) {
            (Some(reference), _) => InEffect::Dynamic(reference.to_string()),
            (None, Some(value)) => InEffect::Set(value),
            (None, None) => default_of(edited.announcements, name),
        };
        *parameters = dynamic.without(parameters, name);
        dynamic
            .set(name, reference.clone())
            .map_err(|error| ServiceError::invalid_input(self.stored.full_name()).because(error))?;
        let after = InEffect::Dynamic(reference.to_string());
        Ok(ParameterChange { target: Target::whole(name), before, after })
    }

    /// Refuses a parameter that the Application's annotation sets: its value is a string of YAML.
    fn require_no_annotation(&self, dynamic: &DynamicEdit, name: &str) -> Result<(), ServiceError> {
        if !dynamic.is_annotated(name) {
            return Ok(());
        }
        Err(ServiceError::invalid_input(format!(
            "{}: parameter {name:?} is in the annotation {DYNAMIC_PARAMETERS_ANNOTATION}; change the annotation",
            self.stored.full_name()
        )))
    }
}

/// Returns the announced default of a parameter.
fn default_of(announcements: &[Announcement], name: &str) -> InEffect {
    let announcement = announcements.iter().find(|announcement| announcement.name == name);
    let default = announcement.and_then(Announcement::default_value);
    default.map_or(InEffect::Nothing, |value| InEffect::Default(value.into()))
}

fn value_of(Parameter { string, array, map, .. }: &Parameter) -> Option<ParameterValue> {
    let string = string.clone().map(ParameterValue::String);
    string.or(array.clone().map(ParameterValue::Array)).or(map.clone().map(ParameterValue::Map))
}
