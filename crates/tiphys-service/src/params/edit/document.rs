//! Changes of the Application's own document.

use tiphys_engine::parameter_changes;
use tiphys_store::{Store as Resources, StoreInput};
use tiphys_yaml::Step;

use super::{Plan, edit_error};
use crate::context::host::Host;
use crate::error::ServiceError;
use crate::params::change::{ParameterRequest, ParameterSource, ValuePlace};

/// Plans a change of the document.
pub(super) fn plan(
    subject: &ParameterSource,
    request: &ParameterRequest,
    place: ValuePlace,
    host: &Host,
) -> Result<Plan, ServiceError> {
    let change = subject.change_document(request, place, host)?;
    let changes = parameter_changes(&source_path(subject), &change.before, &change.after);
    if changes.is_empty() {
        return Ok(Plan { change, edit: None });
    }
    let edit = subject.stored.edit(&changes).map_err(edit_error)?;
    // The text has the intended change. Whether it decodes to it depends on keys that differ only in letter case, or occur twice.
    let written = reread(subject, edit.after());
    if written.as_ref() != Some(&change.after) {
        return Err(ServiceError::invalid_input(format!(
            "{}: the change would not be read back as it is meant: a key of the source is written in another letter case, or twice; \
             write `plugin`, `parameters`, `name`, `string`, `array` and `map` once and in lower case",
            subject.stored.place
        )));
    }
    Ok(Plan { change, edit: Some(edit) })
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
fn reread(subject: &ParameterSource, text: &[u8]) -> Option<tiphys_model::resources::ApplicationSource> {
    let stored = &subject.stored;
    let resources = Resources::load(&[StoreInput::StandardInput(text.to_vec())]).ok()?;
    let same = resources.applications().iter().find(|other| {
        other.place.position == stored.place.position
            && other.application.metadata.name == stored.application.metadata.name
    })?;
    same.application.spec.effective_sources().get(subject.position - 1).cloned()
}
