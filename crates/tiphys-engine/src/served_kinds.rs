//! The kinds that a cluster serves.

mod built_in;
mod version;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};
use tiphys_model::params::suggest;

use crate::{Manifest, Scope, Scopes};

/// One version of a kind that a cluster serves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServedKind {
    /// API group; empty for the core group.
    pub group: String,
    /// Version, such as `v1beta1`.
    pub version: String,
    /// Kind.
    pub kind: String,
    /// Name of the kind in URLs, such as `deployments`.
    pub plural: String,
    /// Scope; never unknown for a kind that a server reports.
    pub scope: Scope,
    /// Verbs of the kind, such as `get` and `list`.
    pub verbs: BTreeSet<String>,
}

/// The kinds that a cluster serves, and the groups of which that is not known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServedKinds {
    groups: BTreeMap<String, Group>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Group {
    /// Versions in the order of the server, the preferred one first; may be empty.
    versions: Vec<String>,
    /// The versions of each kind, the preferred one first. No list is empty.
    kinds: BTreeMap<String, Vec<ServedKind>>,
    has_failed: bool,
}

/// The reason why a kind is not served.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UnknownKind {
    /// No kind of the group is served.
    #[error("the cluster serves no API group {group:?}{}", hint(near))]
    Group {
        /// The group.
        group: String,
        /// Groups with similar names, or `KIND.GROUP` of groups that serve this kind.
        near: Vec<String>,
    },
    /// The group has other kinds.
    #[error("the cluster serves no kind {kind} in {}{}", group_words(group), hint(near))]
    Kind {
        /// The group.
        group: String,
        /// The kind.
        kind: String,
        /// Kinds of the group with similar names, or `KIND.GROUP` of groups that serve this kind.
        near: Vec<String>,
    },
    /// The kind has other versions.
    #[error("the cluster does not serve {kind} of {} in version {version}, but in {}", group_words(group), served.join(", "))]
    Version {
        /// The group.
        group: String,
        /// The kind.
        kind: String,
        /// The version.
        version: String,
        /// The versions that are served, the preferred one first.
        served: Vec<String>,
    },
    /// The cluster could not report the kinds of the group.
    #[error(
        "the cluster cannot report the kinds of {}; check its APIService (`kubectl get apiservices`)",
        group_words(group)
    )]
    DiscoveryFailed {
        /// The group.
        group: String,
    },
}

/// The reason why a document is not an `APIResourceList`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the APIResourceList has no valid `{field}`")]
pub struct ResourceListError {
    /// The missing or invalid field.
    pub field: &'static str,
}

impl ServedKind {
    /// Returns `GROUP/VERSION`, or `VERSION` for the core group.
    pub fn api_version(&self) -> String {
        api_version(&self.group, &self.version)
    }

    /// Returns `KIND.GROUP`, or `KIND` for the core group.
    pub fn full_name(&self) -> String {
        full_name(&self.group, &self.kind)
    }

    /// Whether the cluster serves a verb for this kind.
    pub fn has_verb(&self, verb: &str) -> bool {
        self.verbs.contains(verb)
    }
}

impl ServedKinds {
    /// Returns the kinds of Kubernetes, with the versions that are served by default.
    pub fn built_in() -> Self {
        let mut kinds = Self::default();
        let scopes = Scopes::default();
        for row in built_in::GROUPS {
            for kind in row.kinds {
                for version in row.versions {
                    kinds.insert(ServedKind {
                        group: row.group.to_owned(),
                        version: (*version).to_owned(),
                        kind: (*kind).to_owned(),
                        plural: plural_of(kind),
                        scope: scopes.scope(row.group, kind),
                        verbs: reading_verbs(),
                    });
                }
            }
        }
        kinds
    }

    /// Adds one version of a kind, or replaces it.
    pub fn insert(&mut self, kind: ServedKind) {
        let group = self.groups.entry(kind.group.clone()).or_default();
        let versions = group.kinds.entry(kind.kind.clone()).or_default();
        versions.retain(|other| other.version != kind.version);
        versions.push(kind);
        versions.sort_by_key(|kind| preference(&group.versions, &kind.version));
    }

    /// Sets the order of a group's versions, the preferred one first. Without it, stable versions come first, and later ones before
    /// earlier ones, as Kubernetes orders the versions of a custom resource.
    pub fn prefer(&mut self, group: &str, versions: Vec<String>) {
        let group = self.groups.entry(group.to_owned()).or_default();
        group.versions = versions;
        for kinds in group.kinds.values_mut() {
            kinds.sort_by_key(|kind| preference(&group.versions, &kind.version));
        }
    }

    /// Marks a group as one of which not all kinds are known.
    pub fn set_failed(&mut self, group: &str) {
        self.groups.entry(group.to_owned()).or_default().has_failed = true;
    }

    /// Adds the kind that a `CustomResourceDefinition` defines. Other objects and incomplete definitions add nothing.
    pub fn add_definition(&mut self, definition: &Manifest) {
        if definition.is_crd() {
            // An incomplete definition defines no kind, and a cluster would not accept it.
            let _incomplete = self.defined_kinds(definition);
        }
    }

    fn defined_kinds(&mut self, definition: &Manifest) -> Option<()> {
        let spec = definition.object().get("spec")?;
        let names = spec.get("names")?;
        let group = spec.get("group")?.as_str()?;
        let kind = names.get("kind")?.as_str()?;
        let plural =
            names.get("plural").and_then(Value::as_str).map_or_else(|| plural_of(kind), str::to_owned);
        let scope = Scopes::of([definition]).scope(group, kind);
        for version in spec.get("versions")?.as_array()? {
            if version.get("served") == Some(&Value::Bool(false)) {
                continue;
            }
            self.insert(ServedKind {
                group: group.to_owned(),
                version: version.get("name")?.as_str()?.to_owned(),
                kind: kind.to_owned(),
                plural: plural.clone(),
                scope,
                verbs: reading_verbs(),
            });
        }
        Some(())
    }

    /// Adds the kinds of an `APIResourceList`, as a server sends it for one version of a group. Subresources are left out.
    pub fn add_resource_list(&mut self, list: &Map<String, Value>) -> Result<(), ResourceListError> {
        let group_version = list.get("groupVersion").and_then(Value::as_str).unwrap_or_default();
        let (group, version) = group_version.split_once('/').unwrap_or(("", group_version));
        if version.is_empty() || version.contains('/') {
            return Err(ResourceListError { field: "groupVersion" });
        }
        let resources = list.get("resources").and_then(Value::as_array);
        let resources = resources.ok_or(ResourceListError { field: "resources" })?;
        for resource in resources {
            let string =
                |key: &str| resource.get(key).and_then(Value::as_str).filter(|value| !value.is_empty());
            let plural = string("name").ok_or(ResourceListError { field: "resources[].name" })?;
            let kind = string("kind").ok_or(ResourceListError { field: "resources[].kind" })?;
            if plural.contains('/') {
                continue;
            }
            let is_namespaced = resource.get("namespaced").and_then(Value::as_bool);
            let is_namespaced = is_namespaced.ok_or(ResourceListError { field: "resources[].namespaced" })?;
            let verbs = resource
                .get("verbs")
                .and_then(Value::as_array)
                .map(|verbs| verbs.iter().filter_map(Value::as_str).map(str::to_owned).collect());
            self.insert(ServedKind {
                group: string("group").unwrap_or(group).to_owned(),
                version: string("version").unwrap_or(version).to_owned(),
                kind: kind.to_owned(),
                plural: plural.to_owned(),
                scope: if is_namespaced { Scope::Namespaced } else { Scope::Cluster },
                verbs: verbs.unwrap_or_default(),
            });
        }
        Ok(())
    }

    /// Adds kind and version of an existing object if they are unknown. A kind without a known scope has that of its objects: namespaced
    /// if one of them has a namespace.
    pub fn add_object(&mut self, object: &Manifest) {
        let (group, kind) = object.group_kind();
        let api_version = object.object().get("apiVersion").and_then(Value::as_str).unwrap_or_default();
        let version = api_version.rsplit('/').next().unwrap_or_default();
        if kind.is_empty() {
            return;
        }
        let scope = match Scopes::default().scope(group, kind) {
            Scope::Unknown if object.namespace().is_empty() => Scope::Cluster,
            Scope::Unknown => Scope::Namespaced,
            known => known,
        };
        let known =
            self.groups.get(group).and_then(|group| group.kinds.get(kind)).and_then(|kinds| kinds.first());
        let new = match known {
            Some(known) => ServedKind { version: version.to_owned(), ..known.clone() },
            None => ServedKind {
                group: group.to_owned(),
                version: version.to_owned(),
                kind: kind.to_owned(),
                plural: plural_of(kind),
                scope,
                verbs: reading_verbs(),
            },
        };
        if self.version(group, kind, version).is_none() {
            self.insert(new);
        }
    }

    /// Returns a kind in a version, by default in the preferred one.
    pub fn find(&self, group: &str, kind: &str, version: Option<&str>) -> Result<&ServedKind, UnknownKind> {
        let known = self.groups.get(group);
        let versions = known.and_then(|known| known.kinds.get(kind));
        let found = versions.and_then(|versions| match version {
            None => versions.first(),
            Some(version) => versions.iter().find(|kind| kind.version == version),
        });
        if let Some(found) = found {
            return Ok(found);
        }
        if known.is_some_and(|known| known.has_failed) {
            return Err(UnknownKind::DiscoveryFailed { group: group.to_owned() });
        }
        Err(match (known, versions, version) {
            (_, Some(versions), Some(version)) => UnknownKind::Version {
                group: group.to_owned(),
                kind: kind.to_owned(),
                version: version.to_owned(),
                served: versions.iter().map(|kind| kind.version.clone()).collect(),
            },
            (Some(known), _, _) => UnknownKind::Kind {
                group: group.to_owned(),
                kind: kind.to_owned(),
                near: self.elsewhere(kind, suggest(kind, known.kinds.keys().map(String::as_str))),
            },
            (None, _, _) => UnknownKind::Group {
                group: group.to_owned(),
                near: self.elsewhere(kind, suggest(group, self.groups.keys().map(String::as_str))),
            },
        })
    }

    /// Returns similar names, or if there are none the groups that serve the kind.
    fn elsewhere(&self, kind: &str, similar: Vec<&str>) -> Vec<String> {
        if !similar.is_empty() {
            return similar.into_iter().map(str::to_owned).collect();
        }
        let groups = self.groups.iter().filter(|(_, group)| group.kinds.contains_key(kind));
        groups.map(|(group, _)| full_name(group, kind)).collect()
    }

    /// Returns each kind in its preferred version, sorted by group and kind.
    pub fn iter(&self) -> impl Iterator<Item = &ServedKind> {
        self.groups.values().flat_map(|group| group.kinds.values().filter_map(|versions| versions.first()))
    }

    /// Returns the groups of which not all kinds are known.
    pub fn failed_groups(&self) -> impl Iterator<Item = &str> {
        self.groups.iter().filter(|(_, group)| group.has_failed).map(|(name, _)| name.as_str())
    }

    /// Returns `GROUP/VERSION` and `GROUP/VERSION/KIND` of all kinds, sorted, as Helm's `--api-versions` takes them.
    pub fn api_versions(&self) -> Vec<String> {
        let kinds = self.groups.values().flat_map(|group| group.kinds.values().flatten());
        let names = kinds.flat_map(|kind| {
            let version = kind.api_version();
            [format!("{version}/{}", kind.kind), version]
        });
        names.collect::<BTreeSet<String>>().into_iter().collect()
    }

    fn version(&self, group: &str, kind: &str, version: &str) -> Option<&ServedKind> {
        self.groups.get(group)?.kinds.get(kind)?.iter().find(|kind| kind.version == version)
    }
}

fn preference(order: &[String], version: &str) -> (usize, version::Priority) {
    let listed = order.iter().position(|listed| listed == version);
    (listed.unwrap_or(order.len()), version::priority(version))
}

fn api_version(group: &str, version: &str) -> String {
    if group.is_empty() { version.to_owned() } else { format!("{group}/{version}") }
}

fn full_name(group: &str, kind: &str) -> String {
    if group.is_empty() { kind.to_owned() } else { format!("{kind}.{group}") }
}

fn group_words(group: &str) -> String {
    if group.is_empty() { "the core group".to_owned() } else { format!("the group {group:?}") }
}

fn hint(near: &[String]) -> String {
    if near.is_empty() { String::new() } else { format!("; did you mean {}?", near.join(" or ")) }
}

/// Guesses the plural of a kind as kubectl does; correct for all kinds of Kubernetes.
fn plural_of(kind: &str) -> String {
    let lower = kind.to_ascii_lowercase();
    match lower.as_bytes() {
        b"endpoints" => lower,
        [.., b's'] => format!("{lower}es"),
        [stem @ .., b'y'] => format!("{}ies", String::from_utf8_lossy(stem)),
        _ => format!("{lower}s"),
    }
}

fn reading_verbs() -> BTreeSet<String> {
    ["get", "list", "watch"].map(str::to_owned).into()
}

#[cfg(test)]
mod tests;
