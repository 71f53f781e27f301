//! Errors of generated Applications, in Argo CD's words.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use tiphys_model::resources::ApplicationSet;

use super::{PlanSettings, destination, text};

/// Returns the message of the conditions of a set: the error of the last name, and the number of the others.
pub(super) fn summary(errors: &BTreeMap<&str, String>) -> Option<String> {
    let (_, last) = errors.last_key_value()?;
    Some(match errors.len() - 1 {
        0 => last.clone(),
        others => format!("{last} (and {others} more)"),
    })
}

/// Returns the errors by name. All Applications of a name have its error.
pub(super) fn errors<'a>(
    generated: &'a [Value],
    set: &ApplicationSet,
    settings: &PlanSettings,
) -> BTreeMap<&'a str, String> {
    let (mut errors, mut names) = (BTreeMap::new(), BTreeSet::new());
    for application in generated {
        let (name, set) = (text(application, "name"), &set.metadata.name);
        let project = application["spec"]["project"].as_str().unwrap_or_default();
        let is_missing = |projects: &BTreeSet<String>| !projects.contains(project);
        let error = if name.is_empty() {
            format!(
                "ApplicationSet {set} contains an application with no name; a name must be set in the template's metadata.name or via a \
                 templatePatch (generateName is not supported)"
            )
        } else if !names.insert(name) {
            format!("ApplicationSet {set} contains applications with duplicate name: {name}")
        } else if settings.projects.as_ref().is_some_and(is_missing) {
            format!("application references project {project} which does not exist")
        } else if let Err(error) = destination::check(&application["spec"]["destination"], settings) {
            format!("application destination spec is invalid: {error}")
        } else {
            continue;
        };
        errors.insert(name, error);
    }
    errors
}
