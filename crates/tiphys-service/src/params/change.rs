//! Changes of parameters: parsing a request, finding the source that it applies to, and applying it.

mod dynamic;
mod fit;
mod images;
mod pinned;
mod request;
mod structures;
mod value_files;

use std::collections::HashSet;
use std::sync::Arc;

use tiphys_engine::{
    DynamicEdit, Given, HELM_VALUE_PREFIXES, InlineValues, KUSTOMIZE_PLUGIN, SET_FILE_PREFIX, SET_PREFIX,
    SET_STRING_PREFIX, SourceType, ValueParameters, ValuePath, VariableNames, Variables, build_variables,
    has_plugin_values, helm_parameter_names, is_held_as_text, parameter_places, replaced_variables,
    with_parameters, written_parameters,
};
use tiphys_model::params::{
    Applied, ApplyError, Assignment, Edited, InEffect, ParameterChange, ParameterValue, apply,
};
use tiphys_model::resources::ApplicationSource;
use tiphys_plugin::PluginError;
use tiphys_render::{AnnouncedSource, AskedSource, ChartFolder, Inquiry, RenderError, SourceFailure};
use tiphys_store::StoredApplication;

use super::SourceChoice;
use super::inspect::show_names;
use crate::context::host::Host;
use crate::context::workspace::Workspace;
use crate::error::{Remedy, ServiceError, chain};
use crate::warning::Warning;
pub(super) use request::{Below, FROM_STANDARD_INPUT};
pub use request::{EditedValue, ParameterEdit, ParameterRequest};
use request::{RequestTarget, ValueAssignments};
use structures::Structured;

/// Where values of a chart are set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ValuePlace {
    /// In parameters. Lists, maps and their items are set in the inline values.
    Parameters,
    /// In the inline values.
    Inline,
    /// Each value where it is in effect: in the inline values if these set it, if they are the only place with values of the chart, or if a
    /// parameter cannot express it; else in parameters.
    Effective,
}

/// A source whose parameters are changed.
#[derive(Debug)]
pub(super) struct ParameterSource {
    /// The application.
    pub(super) stored: Arc<StoredApplication>,
    /// The source's position, from 1.
    pub(super) position: usize,
    /// The source type.
    pub(super) source_type: SourceType,
    /// The announced and set parameters. None if the plugin was not asked.
    pub(super) announced: Option<AnnouncedSource>,
    /// Warnings of its plugin.
    pub(super) warnings: Vec<Warning>,
}

/// A change of a source.
#[derive(Debug)]
pub(super) struct SourceChange {
    /// The source in the document that is changed.
    pub(super) before: ApplicationSource,
    /// The changed source.
    pub(super) after: ApplicationSource,
    /// The changed parameters.
    pub(super) changes: Vec<ParameterChange>,
    /// Warnings about the change.
    pub(super) warnings: Vec<Warning>,
}

impl ParameterSource {
    /// Finds the chosen source, or the only one with parameters. With `allow_unannounced` the plugin is not asked.
    pub(super) async fn find(
        workspace: &Workspace,
        stored: Arc<StoredApplication>,
        choice: &SourceChoice,
        allow_unannounced: bool,
    ) -> Result<Self, ServiceError> {
        choice.check(&stored)?;
        if allow_unannounced {
            return Self::unasked(&stored, choice);
        }
        let asking =
            workspace.renderer.announce_each(&stored.application, Inquiry::Origins, |position, source| {
                choice.includes(position, source)
            });
        let refused = |error: RenderError| {
            let is_of_a_file = matches!(&error, RenderError::Source(error) if matches!(*error.failure, SourceFailure::Override(_)));
            let is_of_input = error.is_of_the_document() || is_of_a_file;
            let failure = ServiceError::application(&stored, error);
            if is_of_input { failure } else { failure.with_remedy(Remedy::SkipAnnouncement) }
        };
        let (mut announced, mut warnings) = (Vec::new(), Vec::new());
        for AskedSource { mut source, failure } in
            workspace.drained(Box::pin(asking)).await.map_err(refused)?
        {
            show_names(&mut source);
            match failure {
                Some(error)
                    if source.source_type == SourceType::HELM && is_above_announcement_limit(&error) =>
                {
                    let message = format!(
                        "the types of the chart's values are unknown, so new values are set as helm's --set reads them: {}",
                        chain(&error)
                    );
                    warnings.push(Warning::of_application(&stored, message));
                }
                Some(error) => return Err(refused(error)),
                None => {}
            }
            announced.push(source);
        }
        let of_sources = announced.iter().flat_map(|source| &source.warnings);
        warnings.extend(Warning::all_of_application(&stored, of_sources));
        let mut found: Vec<AnnouncedSource> =
            announced.into_iter().filter(|source| source.plugin.is_some()).collect();
        match found.len() {
            1 => {
                let announced = found.remove(0);
                // The parameters of the plugin `kustomize` are fields of Argo CD's kustomize block, unless the Application has a plugin
                // block.
                let is_native = announced.plugin.as_deref() == Some(KUSTOMIZE_PLUGIN)
                    && announced.source.plugin.is_none();
                Ok(Self {
                    stored,
                    position: announced.position,
                    source_type: if is_native { SourceType::KUSTOMIZE } else { announced.source_type },
                    announced: Some(announced),
                    warnings,
                })
            }
            0 => Err(ServiceError::invalid_input(format!(
                "{} has no parameters: its manifests are plain files, not made by a plugin",
                stored.full_name()
            ))),
            _ => Err(several_sources(
                &stored,
                found.iter().map(|source| (source.position, source.name.as_str())),
            )),
        }
    }

    /// Finds the source by its document, without asking a plugin.
    fn unasked(stored: &Arc<StoredApplication>, choice: &SourceChoice) -> Result<Self, ServiceError> {
        let typed = |source: &ApplicationSource| match (&source.plugin, &source.kustomize, &source.helm) {
            (Some(_), _, _) => Some(SourceType::Plugin),
            (None, Some(_), _) => Some(SourceType::KUSTOMIZE),
            (None, None, Some(_)) => Some(SourceType::HELM),
            (None, None, None) => None,
        };
        let found: Vec<(usize, &str, SourceType)> = stored
            .application
            .spec
            .effective_sources()
            .iter()
            .zip(1..)
            .filter(|(source, position)| choice.includes(*position, source))
            .filter_map(|(source, position)| Some((position, source.name.as_str(), typed(source)?)))
            .collect();
        match found[..] {
            [(position, _, source_type)] => {
                let (stored, warnings) = (Arc::clone(stored), Vec::new());
                Ok(Self { stored, position, source_type, announced: None, warnings })
            }
            [] => Err(ServiceError::invalid_input(format!(
                "{} names no plugin, so the place of its parameters is unknown without asking",
                stored.full_name()
            ))
            .with_remedy(Remedy::AskPlugin)),
            _ => Err(several_sources(stored, found.iter().map(|(position, name, _)| (*position, *name)))),
        }
    }

    /// Returns the source in the Application's document.
    pub(super) fn source(&self) -> &ApplicationSource {
        &self.stored.application.spec.effective_sources()[self.position - 1]
    }

    /// Applies a request to the source in the Application's document. If an override file takes precedence, a warning names it, and no
    /// default is reported: the unset parameter may have a value there.
    pub(super) fn change_document(
        &self,
        request: &ParameterRequest,
        place: ValuePlace,
        host: &Host,
    ) -> Result<SourceChange, ServiceError> {
        let mut change = self.change(request, self.source(), None, place, host)?;
        if let Some(file) = self.preceding_file(&change) {
            let message = format!(
                "the override file {file} of the repository sets parameters too and wins over the Application"
            );
            let warning = Warning::of_application(&self.stored, message).with_remedy(Remedy::WriteOverride);
            change.warnings.push(warning);
            for value in change.changes.iter_mut().flat_map(|change| [&mut change.before, &mut change.after])
            {
                if let InEffect::Default(_) = value {
                    *value = InEffect::Nothing;
                }
            }
        }
        Ok(change)
    }

    /// Returns the override file that takes precedence over the Application for one of the changed parameters.
    fn preceding_file(&self, SourceChange { before, after, changes, .. }: &SourceChange) -> Option<&str> {
        let announced = self.announced.as_ref()?;
        let inline = |source: &ApplicationSource| {
            source.helm.as_ref().map(|block| (block.values.clone(), block.values_object.clone()))
        };
        let is_inline = inline(before).unwrap_or_default() != inline(after).unwrap_or_default();
        let names: Vec<&str> = changes.iter().map(|change| change.target.name.as_str()).collect();
        let file = announced.override_files.iter().rev().find(|file| {
            let places = parameter_places(&file.patch, announced.plugin.as_deref());
            // A list in an override file replaces the whole list of the Application.
            let is_value = |name: &&str| name.starts_with(SET_PREFIX) || name.starts_with(SET_STRING_PREFIX);
            let whole_list = file.patch.at(["plugin", "parameters"]).is_some()
                || file.patch.at(["helm", "parameters"]).is_some() && names.iter().any(is_value);
            let dynamic_list = || ["plugin", "helm"].map(|block| file.patch.at([block, "dynamicParameters"]));
            let is_dynamic = changes.iter().any(|change| {
                [&change.before, &change.after].iter().any(|value| matches!(value, InEffect::Dynamic(_)))
            });
            let whole_list = whole_list || is_dynamic && dynamic_list().iter().any(Option::is_some);
            let values =
                is_inline && ["values", "values-object"].iter().any(|name| places.contains_key(*name));
            let is_file = |name: &str| {
                let value = value_name(name);
                let path = value.as_deref().and_then(|name| name.strip_prefix(SET_PREFIX));
                path.is_some_and(|path| places.contains_key(&format!("{SET_FILE_PREFIX}{path}")))
            };
            whole_list || values || names.iter().any(|name| places.contains_key(*name) || is_file(name))
        })?;
        Some(&file.path)
    }

    /// Applies a request to the parameters of `source`: that of the document, or the one merged with its override files. With `below`, the
    /// values without the own override file, unsetting restores them.
    pub(super) fn change(
        &self,
        request: &ParameterRequest,
        source: &ApplicationSource,
        below: Option<&Below>,
        place: ValuePlace,
        host: &Host,
    ) -> Result<SourceChange, ServiceError> {
        let plugin = self.plugin();
        let before = written_parameters(source, self.source_type, plugin);
        let announcements =
            self.announced.as_ref().map(|source| source.announcements.as_slice()).unwrap_or_default();
        let in_effect =
            self.announced.as_ref().map(|source| source.parameters.as_slice()).unwrap_or_default();
        let mut dynamic = DynamicEdit::new(source, self.source_type);
        let dynamic_names: Vec<String> = dynamic.names().collect();
        let has_values = self.source_type == SourceType::HELM || has_plugin_values(source, plugin);
        // Values of a chart need not be announced.
        let free_prefixes: &[&str] = if has_values { &HELM_VALUE_PREFIXES } else { &[] };
        let announced_or_set: HashSet<&str> = announcements
            .iter()
            .map(|announcement| announcement.name.as_str())
            .chain(before.iter().chain(in_effect).map(|parameter| parameter.name.as_str()))
            .chain(dynamic_names.iter().map(String::as_str))
            .collect();
        let completed;
        let request = if has_values {
            let names = helm_parameter_names().chain(announced_or_set.iter().copied());
            completed = request.with_prefixes(&names.collect());
            &completed
        } else {
            request
        };
        let known = announced_or_set.into_iter().chain(request.names_with_prefix(free_prefixes)).collect();
        let refused = |error| ServiceError::invalid_input(self.stored.full_name()).because(error);
        // Values that cannot be parsed are reported when one of them is changed.
        let values = has_values.then(|| InlineValues::of(source, self.source_type, plugin).ok()).flatten();
        let empty = InlineValues::empty();
        let values = has_values.then_some(values.as_ref().unwrap_or(&empty));
        let target = RequestTarget {
            source,
            plugin,
            parameters: &ValueParameters::of(source, self.source_type, plugin),
            announcements,
            known: &known,
            before: &before,
            values,
            below,
            place,
        };
        let ValueAssignments { plain: mut assignments, structures, types } =
            request.assignments(&target, host)?;
        let names_are_free = announcements.is_empty();
        let edited =
            Edited { parameters: &before, announcements, names_are_free, free_prefixes, read_names: &[] };
        let names = assignments.iter().map(|assignment| assignment.target.name.as_str());
        let read_names = self.read_names(edited, names);
        let edited = Edited { read_names: &read_names, ..edited };
        self.complete_images(&mut assignments, &edited)?;
        let set = assignments.iter().filter(|one| one.value.is_some()).map(|one| one.target.name.as_str());
        let new = set.chain(request.reference.iter().map(|(name, _)| name.as_str()));
        self.require_parts(new, values, announcements, &before)?;
        let replaced = self.replaced(&mut dynamic, &mut assignments, &edited)?;
        let Applied { mut parameters, mut changes, warnings } =
            apply(edited, &assignments).map_err(|error| self.refused(&error))?;
        replaced.complete(&mut changes);
        self.require_value_files(&before, &parameters)?;
        if let Some(reference) = &request.reference {
            changes.push(self.set_reference(&mut dynamic, &mut parameters, &edited, reference)?);
        }
        let mut warnings: Vec<Warning> = Warning::all_of_application(&self.stored, warnings).collect();
        if has_values {
            let names = VariableNames::of(source);
            let of_variables = assignments.iter();
            warnings.extend(of_variables.filter_map(|assignment| {
                variable_warning(&self.stored, assignment, names, request.variables)
            }));
        }
        let names: Vec<&str> = assignments.iter().map(|assignment| assignment.target.name.as_str()).collect();
        let given =
            Given { plugin, announcements, names: &names, variables: request.variables, types: &types };
        let after = with_parameters(source, self.source_type, &parameters, given).map_err(refused)?;
        let set_dynamic: Vec<String> = dynamic.names().collect();
        let after = dynamic.applied_to(after).map_err(refused)?;
        self.require_winning(&after, &assignments)?;
        // A string and a variable with the same text are not a visible change; a warning reports which one is set.
        let has_become = |name: &str| {
            !replaced_variables(source, plugin, name).eq(replaced_variables(&after, plugin, name))
        };
        changes.retain(|change| change.before != change.after || !has_become(&change.target.name));
        for change in changes.iter_mut().filter(|change| change.before == change.after) {
            let is_text = |source| is_held_as_text(source, plugin, &change.target.name);
            let InEffect::Set(ParameterValue::String(text)) = &change.after else { continue };
            let quoted = InEffect::Json(text.as_str().into());
            match (is_text(source), is_text(&after)) {
                (false, true) => change.after = quoted,
                (true, false) => change.before = quoted,
                (true, true) | (false, false) => {}
            }
        }
        let structured = self.structured(after, structures, announcements, &set_dynamic)?;
        let Structured { source: after, changes: of_structures, warnings: of_values } = structured;
        changes.extend(of_structures);
        warnings.extend(Warning::all_of_application(&self.stored, of_values));
        warnings.extend(self.locate(&mut changes));
        Ok(SourceChange { before: source.clone(), after, changes, warnings })
    }

    /// Returns the plugin of the source if it was asked. A `plugin` block need not name it.
    pub(super) fn plugin(&self) -> Option<&str> {
        self.announced.as_ref()?.plugin.as_deref()
    }

    fn refused(&self, error: &ApplyError) -> ServiceError {
        let place = self.plugin().map(|plugin| format!(" (plugin {plugin})")).unwrap_or_default();
        let failure = ServiceError::invalid_input(format!("{}{place}: {error}", self.stored.full_name()));
        let failure = match error.remedy() {
            Some(remedy) => failure.with_hint(remedy),
            None => failure,
        };
        match error {
            // Charts accept values that they do not list.
            ApplyError::Unknown { name, .. } if value_name(name).is_some() => {
                failure.with_remedy(Remedy::SkipAnnouncement)
            }
            _ => failure,
        }
    }

    /// Returns those of the unannounced names that are values which the chart reads, although they are similar to announced ones.
    fn read_names<'n>(&self, edited: Edited<'_>, names: impl Iterator<Item = &'n str>) -> Vec<String> {
        let doubtful = names.filter(|name| !edited.accepts(name));
        let values: Vec<(&str, ValuePath)> = doubtful
            .filter_map(|name| Some((name, ValuePath::of_parameter(&value_name(name)?)?.ok()?.0)))
            .collect();
        let chart = self.announced.as_ref().and_then(|source| source.chart.as_ref());
        let Some(keys) = chart.filter(|_| !values.is_empty()).and_then(ChartFolder::keys) else {
            return Vec::new();
        };
        let read = values.into_iter().filter(|(_, path)| keys.can_read(path));
        read.map(|(name, _)| name.to_owned()).collect()
    }
}

/// Returns the name of a chart's value that a parameter sets, whatever its prefix.
fn value_name(parameter: &str) -> Option<String> {
    let path = HELM_VALUE_PREFIXES.iter().find_map(|prefix| parameter.strip_prefix(prefix))?;
    Some(format!("{SET_PREFIX}{path}"))
}

/// Returns whether the plugin announced nothing because of its own limit. The chart may render nevertheless.
fn is_above_announcement_limit(error: &RenderError) -> bool {
    let RenderError::Source(error) = error else { return false };
    error.failure.of_plugin().is_some_and(PluginError::is_above_announcement_limit)
}

/// Reports whether build variables in a value are replaced.
fn variable_warning(
    stored: &StoredApplication,
    assignment: &Assignment<ParameterValue>,
    names: VariableNames,
    variables: Variables,
) -> Option<Warning> {
    let name = &assignment.target.name;
    let Some(ParameterValue::String(text)) = &assignment.value else { return None };
    let found: Vec<&str> = build_variables(text, names).collect();
    if found.is_empty() || !HELM_VALUE_PREFIXES.iter().any(|prefix| name.starts_with(prefix)) {
        return None;
    }
    let found = found.join(", ");
    // Variables in the path of a file are always replaced.
    if variables == Variables::Replaced || name.starts_with(SET_FILE_PREFIX) {
        let message = format!("`{name}`: {found} is replaced when manifests are made");
        return Some(Warning::of_application(stored, message));
    }
    let warning = Warning::of_application(stored, format!("`{name}`: {found} is set as text"));
    Some(warning.with_remedy(Remedy::ReplaceVariables))
}

fn several_sources<'a>(
    stored: &StoredApplication,
    found: impl Iterator<Item = (usize, &'a str)>,
) -> ServiceError {
    let list: Vec<String> = found
        .map(
            |(position, name)| {
                if name.is_empty() { position.to_string() } else { format!("{position} ({name})") }
            },
        )
        .collect();
    ServiceError::invalid_input(format!(
        "{} has several sources with parameters: {}",
        stored.full_name(),
        list.join(", ")
    ))
    .with_remedy(Remedy::ChooseSource)
}
