//! What a person should know of an Application, with the places in its document.

use tiphys_engine::TranslateError;
use tiphys_render::{RenderError, SourceFailure};
use tiphys_store::{Place, StoredApplication};
use tiphys_yaml::Position;

/// Warns of fields that are left out, and of parameters that are hardly meant so, each with its own place.
pub(crate) fn warn_of(stored: &StoredApplication) {
    let name = stored.full_name();
    let at = |position: Option<Position>| Place {
        position: position.or(stored.place.position),
        ..stored.place.clone()
    };
    for unknown in &stored.findings.unknown {
        let place = at(Some(unknown.position));
        tracing::warn!("{place}: application {name}: {} is not known and ignored", unknown.path);
    }
    for warning in &stored.findings.warnings {
        tracing::warn!("{}: application {name}: {}", at(warning.position), warning.message);
    }
}

/// Where an Application's document sets the parameter at this index of a source; sources count from 1, parameters from 0.
pub(crate) fn parameter_position(
    stored: &StoredApplication,
    source: usize,
    index: usize,
) -> Option<Position> {
    let (source, index) = (source.checked_sub(1)?.to_string(), index.to_string());
    let node = &stored.node;
    let place = node.at(["spec", "sources", &source]).or_else(|| node.at(["spec", "source"]))?;
    // What a kustomize block sets stands in the block, under names of its own.
    let found = place.at(["plugin", "parameters", &index]).or_else(|| place.get("kustomize"))?;
    Some(found.position)
}

/// Where in an Application's document an error is, as far as it can be told.
pub(crate) fn place_of(stored: &StoredApplication, error: &RenderError) -> Place {
    let position = match error {
        RenderError::Source(error) => match &*error.failure {
            SourceFailure::Translate(TranslateError::Parameter(nameless)) => {
                parameter_position(stored, error.position, nameless.index)
            }
            _ => None,
        },
        RenderError::Sources(_) | RenderError::DeadlineExceeded => None,
    };
    Place { position: position.or(stored.place.position), ..stored.place.clone() }
}
