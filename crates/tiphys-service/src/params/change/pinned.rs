//! Values that another layer than the changed parameter sets: their places, and warnings that they stay there.

use tiphys_engine::ValuePath;
use tiphys_model::params::{InEffect, ParameterChange};

use super::ParameterSource;
use crate::error::Remedy;
use crate::params::defaults::Defaults;
use crate::params::explain::with_layers;
use crate::params::origin::{OriginLink, ParameterLayers, ParameterLocation, ParameterOrigin};
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
            let Some(pinned) = self.pinned(&documents, &change.target.name) else { continue };
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

    /// Returns the layer that sets a value of a chart below all parameters. `None` if that is the chart.
    fn pinned(&self, documents: &ParameterLayers<'_>, name: &str) -> Option<OriginLink> {
        let source = self.announced.as_ref()?;
        let canonical = ValuePath::of_parameter(name).and_then(|path| path.ok()?.0.parameter());
        let name = canonical.as_deref().unwrap_or(name);
        let found = source.explanations.as_ref()?.get(name)?;
        let chain = with_layers(documents.chain(name, None, None), name, source, found, documents);
        let below = chain.links.into_iter().find(OriginLink::is_of_chart)?;
        (!below.origin.is_default()).then_some(below)
    }
}
