//! Values that another layer than the changed parameter sets: their places, and warnings that they stay there.

use serde_json::Value;
use tiphys_engine::ValuePath;
use tiphys_model::params::{InEffect, ParameterChange, ParameterValue};
use tiphys_render::AnnouncedSource;

use super::ParameterSource;
use crate::error::Remedy;
use crate::params::defaults::Defaults;
use crate::params::explain::with_layers;
use crate::params::origin::{INLINE_KIND, OriginLink, ParameterLayers, ParameterLocation, ParameterOrigin};
use crate::warning::Warning;

impl ParameterSource {
    /// Returns the documents that set parameters. `None` if the plugin was not asked.
    pub(super) fn documents(&self) -> Option<ParameterLayers<'_>> {
        Some(ParameterLayers::of(&self.stored, self.announced.as_ref()?, Defaults::default()))
    }

    /// Adds the place to each announced default that a value file or the inline values set. Returns a warning for each that stays there and is
    /// hidden by the change.
    pub(super) fn locate(&self, changes: &mut [ParameterChange]) -> Vec<Warning> {
        let Some(documents) = self.documents() else { return Vec::new() };
        let mut warnings = Vec::new();
        for change in changes {
            let is_default =
                |value: &InEffect| matches!(value, InEffect::Default(_) | InEffect::DefaultJson(_));
            let hides =
                is_default(&change.before) && matches!(change.after, InEffect::Set(_) | InEffect::Json(_));
            let layers = self.chart_layers(&documents, &change.target.name);
            if is_removed_inline(change) {
                let below = layers.iter().find(|link| link.kind.as_deref() != Some(INLINE_KIND));
                change.after = below.map_or(InEffect::Nothing, value_of);
                continue;
            }
            let Some(pinned) = layers.first().filter(|link| !link.origin.is_default()) else { continue };
            let Some(place) = pinned.location.as_ref().map(ParameterLocation::line) else { continue };
            for value in [&mut change.before, &mut change.after] {
                if is_default(value) {
                    let default = std::mem::replace(value, InEffect::Nothing);
                    *value = InEffect::At(Box::new(default), place.clone());
                }
            }
            if hides {
                let words = pinned.words();
                let message = format!(
                    "`{}` stays pinned at {place} ({words}), which the new value hides",
                    change.target
                );
                let warning = Warning::of_application(&self.stored, message);
                let remedy = (pinned.origin == ParameterOrigin::Inline).then_some(Remedy::WriteValues);
                warnings.push(remedy.into_iter().fold(warning, Warning::with_remedy));
            }
        }
        warnings
    }

    /// Returns the layers of a chart's value below all parameters, highest precedence first.
    fn chart_layers(&self, documents: &ParameterLayers<'_>, name: &str) -> Vec<OriginLink> {
        let canonical = ValuePath::of_parameter(name).and_then(|path| path.ok()?.0.parameter());
        let name = canonical.as_deref().unwrap_or(name);
        let explained = |source: &AnnouncedSource| source.explanations.as_ref()?.get(name).cloned();
        let Some((source, found)) =
            self.announced.as_ref().and_then(|source| Some((source, explained(source)?)))
        else {
            return Vec::new();
        };
        let chain = with_layers(documents.chain(name, None, None), name, source, &found, documents);
        chain.links.into_iter().filter(OriginLink::is_of_chart).collect()
    }
}

/// Whether a value is removed from the inline values. Items of a list do not count, since other layers have other lists.
fn is_removed_inline(change: &ParameterChange) -> bool {
    let is_inline = matches!(&change.before, InEffect::At(value, _) if matches!(**value, InEffect::Set(_) | InEffect::Json(_)));
    let path = ValuePath::of_parameter(&change.target.name);
    let is_in_list = !matches!(path, Some(Ok((path, _))) if path.outermost_list().is_none());
    is_inline && !is_in_list && change.after == InEffect::Nothing
}

/// Returns the value of a layer, with its place unless it is a default.
fn value_of(link: &OriginLink) -> InEffect {
    let Some(text) = link.value.get("string").and_then(Value::as_str) else { return InEffect::Nothing };
    let json = text.starts_with(['[', '{']).then(|| serde_json::from_str(text).ok()).flatten();
    let value = match json {
        Some(json) => InEffect::DefaultJson(json),
        None => InEffect::Default(ParameterValue::String(text.to_owned())),
    };
    match &link.location {
        Some(location) if !link.origin.is_default() => InEffect::At(Box::new(value), location.line()),
        _ => value,
    }
}
