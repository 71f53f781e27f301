//! One parameter of an application: its announcement, its value and its problems.

use std::collections::HashMap;

use serde_json::Value;
use tiphys_engine::{HELM_PLUGIN, LookUp, SET_PREFIX};
use tiphys_model::params::{Announcement, Parameter};
use tiphys_render::AnnouncedSource;
use tiphys_store::FileVersion;

use super::explain::with_layers;
use super::origin::{
    OriginChain, OriginLink, ParameterLayers, ParameterLocation, ParameterOrigin, by_name, default_of,
};
use crate::context::cluster_references::ClusterReference;
use crate::problems::{ParameterProblems, Problems};

/// Whether the source's plugin announced its parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Announced {
    /// The plugin announced its parameters.
    Known,
    /// The plugin failed.
    Unknown,
}

/// A parameter of a source, announced or set or both.
#[derive(Debug)]
pub struct ParameterRow<'a> {
    /// The name.
    pub name: &'a str,
    /// The announcement.
    pub announcement: Option<&'a Announcement>,
    /// Whether the source's plugin announced its parameters.
    pub announced: Announced,
    /// The value that is set, override files included.
    pub parameter: Option<&'a Parameter>,
    /// The reference of a dynamic parameter, which replaces the value, and its look-up.
    pub dynamic: Option<(&'a ClusterReference, &'a LookUp)>,
    /// Everything that sets the value.
    pub chain: OriginChain,
    /// The problems.
    pub problems: ParameterProblems,
    /// The source.
    pub source: &'a AnnouncedSource,
    /// The version of the Application's own file when it was read.
    pub version: Option<FileVersion>,
}

/// Returns the parameters of one source: the announced ones in their order, then the others that are set.
pub(super) fn rows<'a>(
    source: &'a AnnouncedSource,
    references: &'a [ClusterReference],
    layers: &ParameterLayers<'_>,
    announced: Announced,
) -> Vec<ParameterRow<'a>> {
    let values = by_name(&source.parameters);
    let mut all_problems = match announced {
        Announced::Known => Problems::of(source),
        Announced::Unknown => Problems::unchecked(source),
    };
    let dynamic: HashMap<&str, (&ClusterReference, &LookUp)> =
        references.iter().zip(&source.look_ups).map(|one| (one.0.parameter.as_str(), one)).collect();
    let mut seen = std::collections::HashSet::new();
    let announcements =
        source.announcements.iter().map(|announcement| (announcement.name.as_str(), Some(announcement)));
    let set = source.parameters.iter().map(|parameter| (parameter.name.as_str(), None));
    let added = references.iter().map(|reference| (reference.parameter.as_str(), None));
    let names = announcements.chain(set).chain(added).filter(|(name, _)| seen.insert(*name));
    names
        .map(|(name, announcement)| {
            let parameter = values.get(name).copied();
            let dynamic = dynamic.get(name).copied();
            let chain = match dynamic {
                Some((_, look_up)) => layers.dynamic_chain(name, announcement, look_up),
                None => layers.chain(name, announcement, parameter),
            };
            let explained = source.explanations.as_ref().and_then(|explained| explained.get(name));
            let chain = match explained {
                Some(found) => with_layers(chain, name, source, found, layers),
                None => chain,
            };
            let (problems, version) = (all_problems.take(name), layers.version);
            ParameterRow {
                name,
                announcement,
                announced,
                parameter,
                dynamic,
                chain,
                problems,
                source,
                version,
            }
        })
        .collect()
}

impl ParameterRow<'_> {
    /// Returns the origin of the effective value. A parameter without a value has the origin of its announcement.
    pub fn origin(&self) -> ParameterOrigin {
        self.chain.effective().map_or(ParameterOrigin::Default, |link| link.origin)
    }

    /// Whether the value is set: by the Application, by a value file that it names, by an override file, or from a cluster.
    pub fn is_set(&self) -> bool {
        self.parameter.is_some() || self.dynamic.is_some() || !self.origin().is_default()
    }

    /// Whether the value can be set to null.
    pub fn accepts_null(&self) -> bool {
        let is_chart = self.source.plugin.as_deref() == Some(HELM_PLUGIN);
        is_chart && self.name.starts_with(SET_PREFIX)
            || self.announcement.is_some_and(Announcement::is_nullable)
    }

    /// Returns the words for the origin of the effective value.
    pub fn origin_words(&self) -> &str {
        self.chain.effective().map_or(ParameterOrigin::Default.words(), OriginLink::words)
    }

    /// Returns the place of the effective value.
    pub fn location(&self) -> Option<&ParameterLocation> {
        self.chain.effective()?.location.as_ref()
    }

    /// Returns the effective value: `{"string" | "array" | "map": …}`. A dynamic parameter has none until manifests are rendered.
    pub fn value(&self) -> Option<&Value> {
        self.chain.effective().map(|link| &link.value).filter(|value| !value.is_null())
    }

    /// Returns the announced default: `{"string" | "array" | "map": …}`.
    pub fn default(&self) -> Option<Value> {
        Some(default_of(&self.announcement?.default_value()?))
    }
}
