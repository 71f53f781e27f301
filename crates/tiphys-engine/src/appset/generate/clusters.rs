//! The `clusters` generator.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};
use tiphys_go::gotemplate::normalize;
use tiphys_model::resources::{
    ApplicationSet, ClustersGenerator, GeneratorEntry, GeneratorKind, IN_CLUSTER_NAME, IN_CLUSTER_SERVER,
    LabelSelectorSpec,
};

use super::{Run, Sets, Stop, text};
use crate::appset::{ParameterSelector, ParameterSet, TemplateMode};
use crate::diff::LAST_APPLIED_ANNOTATION;
use crate::{INSTALLATION_ID_ANNOTATION, TRACKING_ANNOTATION};

/// Annotations that Argo CD's controllers and kubectl write, which parameters leave out: an Application to which a template copied them would
/// be refreshed forever, or would belong to another one.
const ANNOTATIONS_LEFT_OUT: [&str; 7] = [
    "argocd.argoproj.io/hydrate",
    "argocd.argoproj.io/hydrate-timestamp",
    "argocd.argoproj.io/refresh",
    "argocd.argoproj.io/refresh-timestamp",
    INSTALLATION_ID_ANNOTATION,
    LAST_APPLIED_ANNOTATION,
    TRACKING_ANNOTATION,
];

/// Which clusters the generators of a set need.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ClusterUse {
    /// None: it has no `clusters` generator.
    None,
    /// All.
    All,
    /// Those that a selector of the generator, or of its entry, selects.
    Selected,
}

/// Returns which clusters the generators of a set need.
pub fn cluster_use(set: &ApplicationSet) -> ClusterUse {
    of_entries(&set.generators)
}

fn of_entries(entries: &[GeneratorEntry]) -> ClusterUse {
    let of_entry = |entry: &GeneratorEntry| {
        let kinds = entry.generators.iter().map(|generator| match &generator.kind {
            GeneratorKind::Clusters(clusters) if clusters.selector == LabelSelectorSpec::default() => {
                ClusterUse::All
            }
            GeneratorKind::Clusters(_) => ClusterUse::Selected,
            GeneratorKind::Matrix(children) => of_entries(children),
            GeneratorKind::Merge(merge) => of_entries(&merge.generators),
            _ => ClusterUse::None,
        });
        match kinds.max().unwrap_or(ClusterUse::None) {
            ClusterUse::All if entry.selector.is_some() => ClusterUse::Selected,
            found => found,
        }
    };
    entries.iter().map(of_entry).max().unwrap_or(ClusterUse::None)
}

impl Run<'_> {
    /// Returns the clusters whose Secrets are selected, sorted by name; the order is random in Argo CD. The cluster of Argo CD comes last if
    /// the selector is empty and no Secret has its URL.
    pub(super) fn clusters(&self, clusters: &ClustersGenerator, values: &BTreeMap<String, String>) -> Sets {
        let selector = ParameterSelector::of_labels(&clusters.selector).map_err(|message| {
            Stop::failed(format!("error getting cluster secrets: error converting label selector: {message}"))
        })?;
        let secrets = self.answer("clusters", json!({}))?;
        let is_own = |secret: &Map<String, Value>| {
            secret.get("server").and_then(Value::as_str) == Some(IN_CLUSTER_SERVER)
        };
        let has_own = secrets.iter().any(is_own);
        let mut by_name: BTreeMap<&str, &Map<String, Value>> = BTreeMap::new();
        for secret in secrets {
            if selector.matches(&string_map(secret, "labels")) {
                by_name.insert(text(secret, "name"), secret);
            }
        }
        let with_values = |secret: &Map<String, Value>, what: &str| {
            self.with_values(self.cluster(secret), values).map_err(|error| {
                Stop::failed(format!("error appending templated values for {what}: {error}"))
            })
        };
        let secrets = by_name.values().map(|secret| with_values(secret, "cluster"));
        let mut found: Vec<ParameterSet> = secrets.collect::<Result<_, _>>()?;
        if !has_own && clusters.selector == LabelSelectorSpec::default() {
            let own = json!({"name": IN_CLUSTER_NAME, "server": IN_CLUSTER_SERVER});
            found.push(with_values(own.as_object().unwrap_or(&Map::new()), "local cluster")?);
        }
        if !clusters.is_flat_list {
            return Ok(found);
        }
        let mut list = ParameterSet::default();
        for (index, set) in found.iter().enumerate() {
            list.string_maps.extend(set.string_maps.iter().map(|path| format!("clusters.{index}.{path}")));
        }
        let sets = found.into_iter().map(|set| Value::Object(set.values)).collect();
        list.values.insert("clusters".to_owned(), Value::Array(sets));
        Ok(vec![list])
    }

    fn cluster(&self, secret: &Map<String, Value>) -> ParameterSet {
        let name = text(secret, "name");
        let mut set = ParameterSet::default();
        for (key, value) in [
            ("name", name.to_owned()),
            ("nameNormalized", normalize(name.as_bytes())),
            ("server", text(secret, "server").to_owned()),
            ("project", text(secret, "project").to_owned()),
        ] {
            set.values.insert(key.to_owned(), Value::from(value));
        }
        for kind in ["labels", "annotations"] {
            let mut strings = string_map(secret, kind);
            if kind == "annotations" {
                strings.retain(|name, _| !ANNOTATIONS_LEFT_OUT.contains(&name.as_str()));
            }
            match self.mode {
                // As in Argo CD, the map also exists if all of its entries are left out.
                TemplateMode::Go if !secret.get(kind).is_some_and(Value::is_object) => {}
                TemplateMode::Go => {
                    let metadata = set.values.entry("metadata").or_insert_with(|| json!({}));
                    metadata[kind] = json!(strings);
                    set.string_maps.insert(format!("metadata.{kind}"));
                }
                TemplateMode::Fast => {
                    let entries = strings.into_iter();
                    set.values.extend(
                        entries.map(|(key, value)| (format!("metadata.{kind}.{key}"), Value::from(value))),
                    );
                }
            }
        }
        set
    }
}

fn string_map(object: &Map<String, Value>, key: &str) -> BTreeMap<String, String> {
    let entries = object.get(key).and_then(Value::as_object).into_iter().flatten();
    entries.filter_map(|(key, value)| Some((key.clone(), value.as_str()?.to_owned()))).collect()
}

#[cfg(test)]
mod tests;
