//! A plugin's explanation of a parameter's value: the files and other parameters that set it.

use tiphys_engine::{HELM_VALUE_PREFIXES, ParameterPart, SET_FILE_PREFIX, VALUE_PREFIX, shown_name};
use tiphys_plugin::{Explanation, LayerPlace, ValueLayer};
use tiphys_render::AnnouncedSource;
use tiphys_yaml::Position;

use super::inspect::ApplicationParameters;
use super::origin::{
    OriginChain, OriginLink, ParameterLayers, ParameterLocation, ParameterOrigin, origin_of_kind,
};
use super::row::ParameterRow;
use crate::context::workspace::Workspace;
use crate::error::ServiceError;
use crate::warning::Warning;

/// Asks the parameter's plugin what sets its value and adds that to the chain, unless it has explained all parameters. Returns warnings of the
/// plugin. The chain stays as it is if the plugin cannot explain parameters.
pub async fn explain(
    workspace: &Workspace,
    parameters: &ApplicationParameters,
    row: &mut ParameterRow<'_>,
) -> Result<Vec<Warning>, ServiceError> {
    if row.source.explanations.is_some() {
        return Ok(Vec::new());
    }
    let stored = &parameters.stored;
    let explaining = workspace.renderer.explain(&stored.application, row.source.position, row.name);
    let explained = workspace.drained(Box::pin(explaining)).await;
    let explained = explained.map_err(|error| ServiceError::application(stored, error))?;
    let Some(Explanation { layers, warnings }) = explained else { return Ok(Vec::new()) };
    row.chain = with_layers(row.chain.clone(), row.name, row.source, &layers, &parameters.layers(row.source));
    Ok(Warning::all_of_application(stored, &warnings).collect())
}

/// Returns a parameter's chain with the layers that its plugin found.
pub(super) fn with_layers(
    chain: OriginChain,
    name: &str,
    source: &AnnouncedSource,
    layers: &[ValueLayer],
    documents: &ParameterLayers<'_>,
) -> OriginChain {
    let mut links = Vec::new();
    let mut position = 0;
    for layer in layers {
        match link(layer, name, source, documents) {
            Some(link) => links.push(link),
            None => position = links.len(),
        }
    }
    let is_announced = layers.first().is_some_and(|layer| has_announced_value(layer, name));
    chain.explained(links, position, is_announced)
}

/// Whether the announced default of an unset parameter is the value of the first layer: that of a chart's value, unless another parameter sets
/// exactly this value.
fn has_announced_value(ValueLayer { kind, place, value }: &ValueLayer, name: &str) -> bool {
    match place {
        LayerPlace::Parameter { name: setting, path, .. } if path.is_empty() => {
            value_path(setting).is_some() && value_path(name).is_some() && !is_same_value(setting, name)
        }
        _ => origin_of_kind(kind).is_some() && !value.is_null(),
    }
}

/// Whether two parameters set the same value of a chart.
fn is_same_value(one: &str, other: &str) -> bool {
    value_path(one).is_some_and(|path| value_path(other) == Some(path))
}

/// Returns the name of a chart's value without the prefix that says how it is passed.
fn value_path(name: &str) -> Option<&str> {
    HELM_VALUE_PREFIXES.iter().chain([&VALUE_PREFIX]).find_map(|prefix| name.strip_prefix(prefix))
}

/// Returns a layer as a link of the chain. None for the parameter's own settings.
fn link(
    ValueLayer { kind, place, value }: &ValueLayer,
    name: &str,
    source: &AnnouncedSource,
    documents: &ParameterLayers<'_>,
) -> Option<OriginLink> {
    let known = origin_of_kind(kind);
    let mut value = value.clone();
    let (origin, location) = match place {
        LayerPlace::File { file, line } => {
            let position = line.map(|line| Position { line, column: 1 });
            let location = ParameterLocation { file: file.clone(), position, version: None };
            (known.unwrap_or(ParameterOrigin::Default), Some(location))
        }
        LayerPlace::Parameter { name: setting, path, line } => {
            let shown = shown_name(&source.source, source.plugin.as_deref(), setting);
            if shown == name && path.is_empty() {
                return None;
            }
            let part = ParameterPart { name: setting, path, line: *line };
            let (origin, location) = documents.part(&shown, part).unzip();
            // The plugin knows what a file has. Other parameters of the same value have it as a string.
            let is_same = is_same_value(&shown, name) && !shown.starts_with(SET_FILE_PREFIX);
            if value.is_null() && path.is_empty() && is_same {
                value = documents.value(&shown);
            }
            match origin.unwrap_or(ParameterOrigin::Set) {
                ParameterOrigin::Set => (known.unwrap_or(ParameterOrigin::Set), location),
                origin => (origin, location),
            }
        }
    };
    Some(OriginLink { origin, kind: Some(kind.clone()), value, reference: None, location })
}
