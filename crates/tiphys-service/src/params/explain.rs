//! A plugin's explanation of a parameter's value: the files and other parameters that set it.

use tiphys_engine::{ParameterPart, shown_name};
use tiphys_plugin::{Explanation, LayerPlace, ValueLayer};
use tiphys_store::{FILE_BYTES_MAX, FileVersion, StoredApplication};
use tiphys_tree::read_bounded;
use tiphys_yaml::Position;

use super::inspect::ApplicationParameters;
use super::origin::{OriginLink, ParameterLayers, ParameterLocation, ParameterOrigin};
use super::row::ParameterRow;
use crate::context::workspace::Workspace;
use crate::error::ServiceError;
use crate::warning::Warning;

/// Asks the parameter's plugin what sets its value and adds that to the chain. Returns warnings of the plugin. The chain stays as it is if
/// the plugin cannot explain parameters.
pub async fn explain(
    workspace: &Workspace,
    parameters: &ApplicationParameters,
    row: &mut ParameterRow<'_>,
) -> Result<Vec<Warning>, ServiceError> {
    let stored = &parameters.stored;
    let explaining = workspace.renderer.explain(&stored.application, row.source.position, row.name);
    let explained = workspace.drained(Box::pin(explaining)).await;
    let explained = explained.map_err(|error| ServiceError::application(stored, &error))?;
    let Some(Explanation { layers, warnings }) = explained else { return Ok(Vec::new()) };
    let own_text = file_of(stored).unwrap_or_default();
    let documents = parameters.layers(row.source);
    let mut links = Vec::new();
    let mut position = 0;
    for layer in layers {
        match link(layer, row, &documents, &own_text) {
            Some(link) => links.push(link),
            None => position = links.len(),
        }
    }
    row.chain = row.chain.clone().explained(links, position);
    Ok(Warning::all_of_application(stored, &warnings).collect())
}

/// Returns a layer as a link of the chain. None for the parameter's own settings.
fn link(
    layer: ValueLayer,
    row: &ParameterRow<'_>,
    documents: &ParameterLayers<'_>,
    own_text: &[u8],
) -> Option<OriginLink> {
    let (origin, location) = match layer.place {
        LayerPlace::File { file, line } => {
            let position = line.map(|line| Position { line, column: 1 });
            (ParameterOrigin::Default, Some(ParameterLocation { file, position, version: None }))
        }
        LayerPlace::Parameter { name, path, line } => {
            let shown = shown_name(&row.source.source, row.source.plugin.as_deref(), &name);
            if shown == row.name && path.is_empty() {
                return None;
            }
            let part = ParameterPart { name: &name, path: &path, line };
            (ParameterOrigin::Set, documents.part(&shown, part, own_text))
        }
    };
    Some(OriginLink { origin, kind: Some(layer.kind), value: layer.value, reference: None, location })
}

/// Returns the bytes of an Application's file, if it was not changed since the positions in it were read.
fn file_of(stored: &StoredApplication) -> Option<Vec<u8>> {
    let text = read_bounded(stored.place.file.path()?, FILE_BYTES_MAX).ok()??;
    (stored.version() == Some(FileVersion::of(&text))).then_some(text)
}
