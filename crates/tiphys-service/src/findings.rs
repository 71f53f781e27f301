//! Warnings and errors of an Application, with their places in its document.

use tiphys_engine::TranslateError;
use tiphys_render::{RenderError, SourceFailure};
use tiphys_store::{Place, StoredApplication};
use tiphys_yaml::Position;

/// Returns the warnings about an Application's document: ignored fields, and parameters that are probably mistakes.
pub(crate) fn warnings(stored: &StoredApplication) -> Vec<String> {
    let name = stored.full_name();
    let at = |position: Option<Position>| Place {
        position: position.or(stored.place.position),
        ..stored.place.clone()
    };
    let unknown = stored.findings.unknown.iter().map(|unknown| {
        let place = at(Some(unknown.position));
        format!("{place}: application {name}: {} is not known and ignored", unknown.path)
    });
    let warnings = stored
        .findings
        .warnings
        .iter()
        .map(|warning| format!("{}: application {name}: {}", at(warning.position), warning.message));
    unknown.chain(warnings).collect()
}

/// Returns the position of a parameter in an Application's document. Sources count from 1, parameters from 0.
fn parameter_position(stored: &StoredApplication, source: usize, index: usize) -> Option<Position> {
    let (source, index) = (source.checked_sub(1)?.to_string(), index.to_string());
    let node = &stored.node;
    let place = node.at(["spec", "sources", &source]).or_else(|| node.at(["spec", "source"]))?;
    // The parameters of a kustomize block are its fields.
    let found = place.at(["plugin", "parameters", &index]).or_else(|| place.get("kustomize"))?;
    Some(found.position)
}

/// Returns the place of an error in an Application's document, or that of the document.
pub(crate) fn error_place(stored: &StoredApplication, error: &RenderError) -> Place {
    let position = match error {
        RenderError::Source(error) => match &*error.failure {
            SourceFailure::Translate(TranslateError::Parameter(nameless)) => {
                parameter_position(stored, error.position, nameless.index)
            }
            _ => None,
        },
        _ => None,
    };
    Place { position: position.or(stored.place.position), ..stored.place.clone() }
}
