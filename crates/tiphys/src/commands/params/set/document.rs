//! Writing into the Application's own document.

use tiphys_engine::{SET_PREFIX, SET_STRING_PREFIX, parameter_changes};
use tiphys_store::{Store as Resources, StoreInput};
use tiphys_yaml::Step;

use super::{Planned, not_edited};
use crate::commands::params::change::{Subject, Wanted};
use crate::failure::Failure;
use crate::settings::Host;

/// What is to be written into the document.
pub(super) fn plan(subject: &Subject, wanted: &Wanted, host: &Host) -> Result<Planned, Failure> {
    let change = subject.change(wanted, subject.source(), host)?;
    let changes = parameter_changes(&source_path(subject), &change.before, &change.after);
    if changes.is_empty() {
        return Ok(Planned { change, edit: None, warnings: Vec::new() });
    }
    let edit = subject.stored.edit(&changes).map_err(|error| not_edited(&error))?;
    // The document was changed as it was meant; whether it also reads as it was meant depends on keys that only look like others.
    let written = reread(subject, edit.after());
    if written.as_ref() != Some(&change.after) {
        return Err(Failure::bad_input(format!(
            "{}: the change would not be read back as it is meant: a key of the source is written in another letter case, or twice; \
             write `plugin`, `parameters`, `name`, `string`, `array` and `map` once and in lower case",
            subject.stored.place
        )));
    }
    let warnings = hidden(subject, &change).into_iter().collect();
    Ok(Planned { change, edit: Some(edit), warnings })
}

/// Where the source stands in the Application.
fn source_path(subject: &Subject) -> Vec<Step> {
    let key = |text: &str| Step::Key(text.to_owned());
    if subject.stored.application.spec.sources.is_empty() {
        vec![key("spec"), key("source")]
    } else {
        vec![key("spec"), key("sources"), Step::Index(subject.position - 1)]
    }
}

/// The source as it is read from the changed text.
fn reread(subject: &Subject, text: &[u8]) -> Option<tiphys_api::ApplicationSource> {
    let stored = &subject.stored;
    let resources = Resources::load(&[StoreInput::StandardInput(text.to_vec())]).ok()?;
    let same = resources.applications().iter().find(|other| {
        other.place.position == stored.place.position
            && other.application.metadata.name == stored.application.metadata.name
    })?;
    same.application.spec.effective_sources().get(subject.position - 1).cloned()
}

/// A warning if an override file sets what was changed, too: then the file wins.
fn hidden(subject: &Subject, change: &crate::commands::params::change::Change) -> Option<String> {
    let announced = subject.announced.as_ref()?;
    let names: Vec<&str> = change.applied.changes.iter().map(|change| change.target.name.as_str()).collect();
    let file = announced.override_files.iter().rev().find(|file| {
        let places = tiphys_engine::parameter_places(&file.patch, announced.plugin.as_deref());
        // A list in an override file takes the place of the whole list of the Application.
        let is_value = |name: &&str| name.starts_with(SET_PREFIX) || name.starts_with(SET_STRING_PREFIX);
        let whole_list = file.patch.at(["plugin", "parameters"]).is_some()
            || file.patch.at(["helm", "parameters"]).is_some() && names.iter().any(is_value);
        whole_list || names.iter().any(|name| places.contains_key(*name))
    })?;
    Some(format!(
        "the override file {} of the repository sets parameters too and wins over the Application; --write-to override changes it there",
        file.path
    ))
}
