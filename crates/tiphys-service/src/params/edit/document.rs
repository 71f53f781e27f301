//! Changes of the Application's own document.

use tiphys_engine::{SET_PREFIX, SET_STRING_PREFIX, parameter_changes};
use tiphys_store::{Store as Resources, StoreInput};
use tiphys_yaml::Step;

use super::{Plan, edit_error};
use crate::error::{Remedy, ServiceError};
use crate::host::Host;
use crate::params::change::{ParameterRequest, ParameterSource, SourceChange};
use crate::warning::Warning;

/// Plans a change of the document.
pub(super) fn plan(
    subject: &ParameterSource,
    request: &ParameterRequest,
    host: &Host,
) -> Result<Plan, ServiceError> {
    let change = subject.change(request, subject.source(), host)?;
    let changes = parameter_changes(&source_path(subject), &change.before, &change.after);
    if changes.is_empty() {
        return Ok(Plan { change, edit: None, warnings: Vec::new() });
    }
    let edit = subject.stored.edit(&changes).map_err(|error| edit_error(&error))?;
    // The text has the intended change. Whether it decodes to it depends on keys that differ only in letter case, or occur twice.
    let written = reread(subject, edit.after());
    if written.as_ref() != Some(&change.after) {
        return Err(ServiceError::invalid_input(format!(
            "{}: the change would not be read back as it is meant: a key of the source is written in another letter case, or twice; \
             write `plugin`, `parameters`, `name`, `string`, `array` and `map` once and in lower case",
            subject.stored.place
        )));
    }
    let warnings = override_warning(subject, &change).into_iter().collect();
    Ok(Plan { change, edit: Some(edit), warnings })
}

/// Returns the path of the source in the Application.
fn source_path(subject: &ParameterSource) -> Vec<Step> {
    let key = |text: &str| Step::Key(text.to_owned());
    if subject.stored.application.spec.sources.is_empty() {
        vec![key("spec"), key("source")]
    } else {
        vec![key("spec"), key("sources"), Step::Index(subject.position - 1)]
    }
}

/// Decodes the source from the changed text.
fn reread(subject: &ParameterSource, text: &[u8]) -> Option<tiphys_api::ApplicationSource> {
    let stored = &subject.stored;
    let resources = Resources::load(&[StoreInput::StandardInput(text.to_vec())]).ok()?;
    let same = resources.applications().iter().find(|other| {
        other.place.position == stored.place.position
            && other.application.metadata.name == stored.application.metadata.name
    })?;
    same.application.spec.effective_sources().get(subject.position - 1).cloned()
}

/// Returns a warning if an override file sets a changed parameter: the file takes precedence.
fn override_warning(subject: &ParameterSource, change: &SourceChange) -> Option<Warning> {
    let announced = subject.announced.as_ref()?;
    let names: Vec<&str> = change.applied.changes.iter().map(|change| change.target.name.as_str()).collect();
    let file = announced.override_files.iter().rev().find(|file| {
        let places = tiphys_engine::parameter_places(&file.patch, announced.plugin.as_deref());
        // A list in an override file replaces the whole list of the Application.
        let is_value = |name: &&str| name.starts_with(SET_PREFIX) || name.starts_with(SET_STRING_PREFIX);
        let whole_list = file.patch.at(["plugin", "parameters"]).is_some()
            || file.patch.at(["helm", "parameters"]).is_some() && names.iter().any(is_value);
        whole_list || names.iter().any(|name| places.contains_key(*name))
    })?;
    let message = format!(
        "the override file {} of the repository sets parameters too and wins over the Application",
        file.path
    );
    Some(Warning::of_application(&subject.stored, message).with_remedy(Remedy::WriteOverride))
}
