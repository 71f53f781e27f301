//! Requests to change parameters, and their assignments.

use std::collections::HashSet;

use tiphys_engine::{
    HELM_VALUE_PREFIXES, InlineValues, SET_PREFIX, SET_STRING_PREFIX, SourceType, VALUE_PREFIX,
    ValueParameters, Variables, assigned_value_name, shown_name, written_parameters,
};
use tiphys_model::params::{
    Announcement, Assignment, Form, JsonType, Operand, OperandOrigin, Parameter, ParameterValue, Part,
    Target, read_values,
};
use tiphys_model::resources::{ApplicationSource, ResourceReference};

use super::ValuePlace;
use super::structures::StructureAssignment;
use crate::context::assignments;
use crate::context::host::Host;
use crate::error::{Input, Remedy, ServiceError};
use crate::params::ParameterValues;

/// The end of an assignment of what standard input has.
pub(in crate::params) const FROM_STANDARD_INPUT: &str = "=@-";

/// A new value of a parameter that is named as a whole. No file is read for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParameterEdit {
    /// The name.
    pub name: String,
    /// The value, as after `=` or `:=` in an assignment. `None` removes the parameter.
    pub value: Option<EditedValue>,
}

/// The new value of a parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EditedValue {
    /// A string.
    Text(String),
    /// JSON.
    Json(serde_json::Value),
}

/// A requested change of parameters. Assignments are parsed when it is applied, since that requires the known names.
#[derive(Clone, Debug)]
pub struct ParameterRequest {
    set: Vec<String>,
    edits: Vec<(String, EditedValue)>,
    files: Vec<Vec<(String, ParameterValue)>>,
    unset: Vec<String>,
    /// How variables in values of a chart are treated.
    pub(super) variables: Variables,
    /// A parameter whose value will be read from a cluster.
    pub(super) reference: Option<(String, ResourceReference)>,
}

impl ParameterRequest {
    /// Creates a request from values and from names to unset. Reads the files of values.
    pub fn new(values: &ParameterValues, unset: &[String], host: &Host) -> Result<Self, ServiceError> {
        let mut files = Vec::new();
        for file in &values.files {
            let failed = || ServiceError::invalid_input(file).of_input(Input::Values);
            let bytes = assignments::read_bytes(host, file).map_err(|error| failed().because(error))?;
            files.push(read_values(&bytes).map_err(|error| failed().because(error))?);
        }
        if values.assignments.is_empty() && values.files.is_empty() && unset.is_empty() {
            return Err(ServiceError::invalid_input("nothing to set").with_remedy(Remedy::GiveValues));
        }
        let variables = if values.variables { Variables::Replaced } else { Variables::Literal };
        Ok(Self {
            set: values.assignments.clone(),
            edits: Vec::new(),
            files,
            unset: unset.to_vec(),
            variables,
            reference: None,
        })
    }

    /// Creates a request to read one parameter from a cluster. The only value is the parameter's name.
    pub fn from_cluster(
        values: &ParameterValues,
        reference: ResourceReference,
    ) -> Result<Self, ServiceError> {
        match (values.assignments.as_slice(), values.files.as_slice(), values.variables) {
            ([name], [], false) if !name.contains('=') => Ok(Self {
                set: Vec::new(),
                edits: Vec::new(),
                files: Vec::new(),
                unset: Vec::new(),
                variables: Variables::default(),
                reference: Some((name.clone(), reference)),
            }),
            _ => Err(ServiceError::invalid_input(
                "a parameter that is read from a cluster is given as one NAME, without a value, files and variables",
            )),
        }
    }

    /// Creates a request that only unsets names.
    pub fn unset(names: &[String]) -> Result<Self, ServiceError> {
        if names.is_empty() {
            return Err(ServiceError::invalid_input(
                "nothing to unset: name a parameter, an entry `NAME[KEY]` of a map or an item `NAME[0]` of a list",
            ));
        }
        Ok(Self {
            set: Vec::new(),
            edits: Vec::new(),
            files: Vec::new(),
            unset: names.to_vec(),
            variables: Variables::default(),
            reference: None,
        })
    }

    /// Creates a request from new values of whole parameters, as a form has them.
    pub fn of_edits(edits: Vec<ParameterEdit>) -> Self {
        let (mut set, mut unset) = (Vec::new(), Vec::new());
        for ParameterEdit { name, value } in edits {
            match value {
                Some(value) => set.push((name, value)),
                None => unset.push(name),
            }
        }
        Self {
            set: Vec::new(),
            edits: set,
            files: Vec::new(),
            unset,
            variables: Variables::default(),
            reference: None,
        }
    }

    /// Returns whether the value of an assignment is read from standard input.
    pub(in crate::params) fn reads_standard_input(&self) -> bool {
        self.set.iter().any(|text| text.ends_with(FROM_STANDARD_INPUT))
    }

    /// Returns the request with the prefix `set.` before names of chart values that lack it: all but `known` ones.
    pub(super) fn with_prefixes(&self, known: &HashSet<&str>) -> Self {
        let is_value = |name: &str| !known.contains(name) && !has_value_prefix(name);
        let completed = |text: &String, parsed: Option<Target>| match parsed {
            Some(target) if is_value(&target.name) => format!("{SET_PREFIX}{text}"),
            _ => text.clone(),
        };
        let of_set =
            |text: &String| completed(text, Assignment::parse(text, known).ok().map(|one| one.target));
        let of_unset = |text: &String| completed(text, Target::parse(text, known).ok());
        let of_name = |name: &String| completed(name, Some(Target::whole(name)));
        let of_file = |values: &Vec<(String, ParameterValue)>| {
            values.iter().map(|(name, value)| (of_name(name), value.clone())).collect()
        };
        Self {
            set: self.set.iter().map(of_set).collect(),
            edits: self.edits.iter().map(|(name, value)| (of_name(name), value.clone())).collect(),
            files: self.files.iter().map(of_file).collect(),
            unset: self.unset.iter().map(of_unset).collect(),
            variables: self.variables,
            reference: self.reference.as_ref().map(|(name, reference)| (of_name(name), reference.clone())),
        }
    }

    /// Refuses what cannot be in the inline values of a chart.
    fn require_values(&self, target: &RequestTarget<'_>) -> Result<(), ServiceError> {
        if target.values.is_none() {
            return Err(ServiceError::invalid_input(
                "the source has no inline values: only charts have them",
            ));
        }
        let of_files = self.files.iter().flatten().map(|(name, _)| name.as_str());
        let of_set = self.set.iter().filter_map(|text| assigned_value_name(text));
        let of_edits = self.edits.iter().map(|(name, _)| name.as_str());
        let names = of_files.chain(of_set).chain(of_edits).chain(self.unset.iter().map(String::as_str));
        let dynamic = self.reference.iter().map(|(name, _)| name.as_str());
        let is_value = |name: &str| name.starts_with(SET_PREFIX);
        match names.filter(|name| !is_value(name)).chain(dynamic).next() {
            Some(name) => Err(ServiceError::invalid_input(format!(
                "{name}: only strings and JSON of a value of the chart ({SET_PREFIX}PATH) can be written into the inline values"
            ))),
            None => Ok(()),
        }
    }

    /// Returns the names with one of these prefixes. Brackets in them are a part of the name.
    pub(super) fn names_with_prefix<'a>(&'a self, prefixes: &'a [&str]) -> impl Iterator<Item = &'a str> {
        let of_set = |text: &'a String| assigned_value_name(text);
        let of_edits = self.edits.iter().map(|(name, _)| name.as_str());
        let of_unset = self.unset.iter().map(String::as_str);
        let names = self.set.iter().filter_map(of_set).chain(of_edits).chain(of_unset);
        names.filter(|name| prefixes.iter().any(|prefix| name.starts_with(prefix)))
    }

    /// Returns the assignments. Files come first, so that the others can change single items.
    pub(super) fn assignments(
        &self,
        target: &RequestTarget<'_>,
        host: &Host,
    ) -> Result<ValueAssignments, ServiceError> {
        let mut assignments = ValueAssignments::default();
        if target.place == ValuePlace::Inline {
            self.require_values(target)?;
        }
        for values in &self.files {
            if target.place == ValuePlace::Inline {
                for (name, value) in values {
                    assignments.add_given(name, value, target)?;
                }
                continue;
            }
            assignments.plain.extend(
                values.iter().map(|(name, value)| Assignment {
                    target: Target::whole(name),
                    value: Some(value.clone()),
                }),
            );
        }
        let is_value = |name: &str| target.values.is_some() && name.starts_with(SET_PREFIX);
        let parsed = self.set.iter().map(|text| assignments::parse(text, target.known));
        let of_edits = self.edits.iter().map(|(name, value)| Ok(value.assigned_to(name)));
        for assignment in parsed.chain(of_edits) {
            let assignment = assignment?;
            if is_value(&assignment.target.name) {
                assignments.add_value(assignment, target, host)?;
            } else {
                assignments.add(assignment, target.announcements, host)?;
            }
        }
        for name in assignments.names() {
            *name = target.changed_entry(name);
        }
        for text in &self.unset {
            let unset = Target::parse(text, target.known).map_err(ServiceError::invalid_input_from)?;
            let name = unset.name.as_str();
            let shown = shown_name(target.source, target.plugin, name);
            let is_parameter = || target.before.iter().any(|parameter| parameter.name == shown);
            let is_structure = match target.values {
                Some(values) if is_value(name) && !is_parameter() => {
                    let below = target.below.and_then(|below| below.values.as_ref());
                    assignments.remove_value(name, values, below, target.announcements)
                }
                _ => false,
            };
            if !is_structure && target.place == ValuePlace::Inline {
                return Err(ServiceError::invalid_input(format!("{name} is not set in the inline values")));
            }
            if !is_structure {
                assignments.plain.extend(target.removals(&unset, &shown));
            }
        }
        Ok(assignments)
    }
}

impl EditedValue {
    fn assigned_to(&self, name: &str) -> Assignment<Operand> {
        let (form, text) = match self {
            Self::Text(text) => (Form::Text, text.clone()),
            Self::Json(value) => (Form::Json, value.to_string()),
        };
        let operand = Operand { form, origin: OperandOrigin::Inline(text) };
        Assignment { target: Target::whole(name), value: Some(operand) }
    }
}

/// Whether a name is that of a value of a chart.
pub(super) fn has_value_prefix(name: &str) -> bool {
    HELM_VALUE_PREFIXES.iter().chain([&VALUE_PREFIX]).any(|prefix| name.starts_with(prefix))
}

/// The target of a request.
pub(super) struct RequestTarget<'a> {
    pub(super) source: &'a ApplicationSource,
    pub(super) plugin: Option<&'a str>,
    /// The parameters that set values of a chart.
    pub(super) parameters: &'a ValueParameters,
    pub(super) announcements: &'a [Announcement],
    /// The announced and set names.
    pub(super) known: &'a HashSet<&'a str>,
    /// The set parameters.
    pub(super) before: &'a [Parameter],
    /// The inline values of a chart.
    pub(super) values: Option<&'a InlineValues>,
    /// The values without the changed override file. Unsetting restores them.
    pub(super) below: Option<&'a Below>,
    /// Where values of the chart are set.
    pub(super) place: ValuePlace,
}

impl RequestTarget<'_> {
    /// Returns the name of the entry that a new value of a parameter changes: of several for one value the one that wins. Those with a path
    /// or JSON do not count.
    fn changed_entry(&self, name: &str) -> String {
        let shown = shown_name(self.source, self.plugin, name);
        let is_text =
            |name: &&str| [SET_PREFIX, SET_STRING_PREFIX].iter().any(|prefix| name.starts_with(prefix));
        self.parameters.of_value(&shown).into_iter().rfind(is_text).map_or(shown.clone(), str::to_owned)
    }

    /// Returns the removals of a parameter, or of a part of it: of all entries of its value, since another one would take effect otherwise.
    /// With an override file, it is what the file changes, if that is any.
    fn removals(&self, unset: &Target, shown: &str) -> Vec<Assignment<ParameterValue>> {
        let names = self.parameters.of_value(shown);
        let names = if names.is_empty() { vec![shown] } else { names };
        let removal = |name: &str| {
            let target = Target { name: name.to_owned(), part: unset.part.clone() };
            let value = self.below.and_then(|below| below.restored(&target, self));
            Assignment { target, value }
        };
        let all: Vec<_> = names.into_iter().map(removal).collect();
        let is_changed = |one: &Assignment<ParameterValue>| match self.below {
            Some(below) => one.value.is_some() || !below.has(&one.target.name),
            None => true,
        };
        let changed: Vec<_> = all.iter().filter(|one| is_changed(one)).cloned().collect();
        if changed.is_empty() { all } else { changed }
    }
}

/// The values of a source without its own override file.
#[derive(Debug)]
pub(in crate::params) struct Below {
    parameters: Vec<Parameter>,
    values: Option<InlineValues>,
}

impl Below {
    /// Returns the values of this source.
    pub(in crate::params) fn of(
        source: &ApplicationSource,
        source_type: SourceType,
        plugin: Option<&str>,
    ) -> Self {
        Self {
            parameters: written_parameters(source, source_type, plugin),
            values: InlineValues::of(source, source_type, plugin).ok(),
        }
    }

    fn has(&self, name: &str) -> bool {
        self.parameters.iter().any(|parameter| parameter.name == name)
    }

    /// Returns the value to which a part of a parameter is restored. `None` if the file does not change it: then it is removed.
    fn restored(&self, part: &Target, target: &RequestTarget<'_>) -> Option<ParameterValue> {
        let of = |list: &[Parameter]| {
            let parameter = list.iter().rfind(|parameter| parameter.name == part.name)?;
            value_of(parameter, &part.part)
        };
        of(&self.parameters).filter(|value| of(target.before).as_ref() != Some(value))
    }
}

/// Returns a part of a parameter's value.
fn value_of(parameter: &Parameter, part: &Part) -> Option<ParameterValue> {
    let Parameter { string, array, map, .. } = parameter;
    let string = string.as_ref().map(|text| ParameterValue::String(text.clone()));
    match part {
        Part::Whole | Part::End => string
            .or_else(|| array.clone().map(ParameterValue::Array))
            .or_else(|| map.clone().map(ParameterValue::Map)),
        Part::Item(item) => {
            let of_list = || array.as_ref()?.get(item.parse::<usize>().ok()?);
            let of_map = || map.as_ref()?.get(item);
            of_list().or_else(of_map).map(|text| ParameterValue::String(text.clone()))
        }
    }
}

/// The assignments of a request, by what they change.
#[derive(Debug, Default)]
pub(super) struct ValueAssignments {
    /// Of parameters.
    pub(super) plain: Vec<Assignment<ParameterValue>>,
    /// Of lists and maps of a chart.
    pub(super) structures: Vec<StructureAssignment>,
    /// The types of the values of a chart that were given as JSON.
    pub(super) types: Vec<(String, JsonType)>,
}

impl ValueAssignments {
    /// Returns the names of parameters.
    fn names(&mut self) -> impl Iterator<Item = &mut String> {
        let of_plain = self.plain.iter_mut().map(|one| &mut one.target.name);
        of_plain.chain(self.types.iter_mut().map(|(name, _)| name))
    }

    /// Adds an assignment of a parameter other than a value of a chart. JSON `null` is the word if the parameter may be null.
    fn add(
        &mut self,
        Assignment { target, value }: Assignment<Operand>,
        announcements: &[Announcement],
        host: &Host,
    ) -> Result<(), ServiceError> {
        let Some(operand) = value else { return Ok(()) };
        let bytes = assignments::operand_bytes(&target, &operand, host)?;
        let null = JsonType::Null.word();
        let is_nullable = || {
            let announcement = announcements.iter().find(|announcement| announcement.name == target.name);
            announcement.is_some_and(Announcement::is_nullable)
        };
        let is_null = operand.form == Form::Json && bytes.trim_ascii() == null.as_bytes();
        let value = if is_null && is_nullable() {
            ParameterValue::String(null.to_owned())
        } else {
            assignments::value_of(&target, operand.form, &bytes)?
        };
        self.plain.push(Assignment { target, value: Some(value) });
        Ok(())
    }
}
