//! The watched objects, and which sets a change of one concerns.

mod application;
mod generators;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use serde_json::{Map, Value, json};
use tiphys_engine::Manifest;
use tiphys_engine::appset::REFRESH_ANNOTATION;
use tiphys_kube::cluster_reader::WatchEvent;
use tiphys_model::resources::SECRET_TYPE_LABEL;
use tiphys_service::ControlPlaneObjects;

use crate::object::{ObjectName, Watched, metadata};
use application::CachedApplication;
pub(crate) use generators::{
    any_generator, asks_plugin, is_template, needs, objects_of_forges, only_waits_for_services,
};
use generators::{depends_on_clusters, depends_on_config_map, depends_on_secret};

/// Beginning of the names of Argo CD's own `ConfigMaps`, with its settings.
const ARGO_CD_PREFIX: &str = "argocd-";

/// The work that a change makes necessary for a set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Need {
    /// Its Applications are compared with those that were generated last.
    Compare,
    /// Its generators are asked again.
    Generate,
}

/// The sets that a change concerns.
pub(crate) type Concerned = BTreeMap<ObjectName, Need>;

/// The objects of all watches.
#[derive(Debug, Default)]
pub(crate) struct Cache(RwLock<Objects>);

#[derive(Debug, Default)]
struct Objects {
    sets: BTreeMap<ObjectName, Arc<Value>>,
    applications: BTreeMap<ObjectName, CachedApplication>,
    /// Projects, Secrets and `ConfigMaps`.
    others: BTreeMap<(Watched, ObjectName), Arc<Value>>,
    /// Sets whose status another program has written.
    rewritten: BTreeSet<ObjectName>,
    /// The latest version that the watch of a kind has reported since its last list.
    reported: BTreeMap<Watched, u64>,
    /// Objects that this process writes now: the creation of these, and their status, concern no set.
    writing: BTreeSet<(Watched, ObjectName)>,
    /// The others as the inputs of a reconcile, once they are needed.
    control_plane: Option<Arc<ControlPlaneObjects>>,
    /// Counts the changes of those that concern all sets.
    control_plane_version: u64,
}

impl Cache {
    /// Applies an event of a watch, and returns the sets that it concerns.
    pub(crate) fn apply(&self, kind: Watched, event: WatchEvent) -> Concerned {
        let mut objects = self.write();
        let mut concerned = Concerned::new();
        match event {
            WatchEvent::Listed(listed) => {
                let listed: Vec<Value> = listed.into_iter().map(Manifest::into_value).collect();
                objects.reported.insert(kind, listed.iter().map(version).max().unwrap_or_default());
                let names: BTreeSet<ObjectName> = listed.iter().map(ObjectName::of).collect();
                for name in objects.names(kind).filter(|name| !names.contains(name)).collect::<Vec<_>>() {
                    objects.remove(kind, &name, &mut concerned);
                }
                for object in listed {
                    objects.insert(kind, object, &mut concerned);
                }
            }
            WatchEvent::Changed(object) => {
                let object = object.into_value();
                objects.report(kind, &object);
                // An older state than that of an own write may arrive after it.
                if !objects.has_since(kind, &object) {
                    objects.note_rewritten(kind, &object, &mut concerned);
                    objects.insert(kind, object, &mut concerned);
                }
            }
            WatchEvent::Deleted(object) => {
                let object = object.into_value();
                objects.report(kind, &object);
                // An own write may have created the object again.
                if !objects.has_later(kind, &object) {
                    objects.remove(kind, &ObjectName::of(&object), &mut concerned);
                }
            }
        }
        concerned
    }

    /// Returns a set.
    pub(crate) fn set(&self, name: &ObjectName) -> Option<Arc<Value>> {
        self.read().sets.get(name).map(Arc::clone)
    }

    /// Returns a project, Secret or `ConfigMap`.
    pub(crate) fn object(&self, kind: Watched, name: ObjectName) -> Option<Arc<Value>> {
        self.read().others.get(&(kind, name)).map(Arc::clone)
    }

    /// Returns the names of all sets.
    pub(crate) fn sets(&self) -> Vec<ObjectName> {
        self.read().sets.keys().cloned().collect()
    }

    /// Returns whether the status of a set was written by another program, or by a request of this one that got no answer, since the last call.
    pub(crate) fn take_rewritten(&self, set: &ObjectName) -> bool {
        self.write().rewritten.remove(set)
    }

    /// Returns each set with the reason of its condition `ResourcesUpToDate` and the number of Applications that it owns.
    pub(crate) fn set_counts(&self) -> Vec<(ObjectName, String, u32)> {
        let objects = self.read();
        let mut owned: BTreeMap<ObjectName, u32> = BTreeMap::new();
        for (name, application) in &objects.applications {
            if let Some(set) = application.owning_set(name) {
                *owned.entry(set).or_default() += 1;
            }
        }
        let row = |(name, set): (&ObjectName, &Arc<Value>)| {
            let mut conditions = set["status"]["conditions"].as_array().into_iter().flatten();
            let found = conditions.find(|one| one["type"] == "ResourcesUpToDate");
            let reason = found.and_then(|one| one["reason"].as_str()).unwrap_or("Unknown").to_owned();
            (name.clone(), reason, owned.get(name).copied().unwrap_or_default())
        };
        objects.sets.iter().map(row).collect()
    }

    /// Returns the Applications in the namespace of a set that it owns or that have one of these names.
    pub(crate) fn applications(&self, set: &ObjectName, names: &[&str]) -> Vec<Value> {
        let names: BTreeSet<&str> = names.iter().copied().collect();
        let objects = self.read();
        let in_namespace = objects.applications_in(&set.namespace);
        let is_meant = |(name, application): &(&ObjectName, &CachedApplication)| {
            application.owner.as_deref() == Some(&set.name) || names.contains(name.name.as_str())
        };
        in_namespace.filter(is_meant).map(|(_, application)| application.value()).collect()
    }

    /// Begins a write of this process.
    pub(crate) fn begin_write(&self, kind: Watched, name: &ObjectName) {
        self.write().writing.insert((kind, name.clone()));
    }

    /// Ends a write. If it seemed to fail, its event may still come, and then it concerns the set.
    pub(crate) fn end_write(&self, kind: Watched, name: &ObjectName) {
        self.write().writing.remove(&(kind, name.clone()));
    }

    /// Stores what a write returned, so that the next reconcile sees it before the watch does. What the watch has reported already may have
    /// been deleted since. Returns the sets that it concerns: the response may have what others changed just before.
    pub(crate) fn remember(&self, kind: Watched, object: Value) -> Concerned {
        let mut concerned = Concerned::new();
        let mut objects = self.write();
        let reported = objects.reported.get(&kind).copied().unwrap_or_default();
        if version(&object) > reported && !objects.has_since(kind, &object) {
            objects.insert(kind, object, &mut concerned);
        }
        concerned
    }

    /// Returns the objects that decide what sets generate, and the version of those that concern all sets. A change of others makes the sets
    /// due that read them.
    pub(crate) fn control_plane(&self) -> (Arc<ControlPlaneObjects>, u64) {
        let mut objects = self.write();
        let version = objects.control_plane_version;
        if let Some(control_plane) = &objects.control_plane {
            return (Arc::clone(control_plane), version);
        }
        let joined = Arc::new(ControlPlaneObjects::new(objects.others.values().cloned().collect()));
        objects.control_plane = Some(Arc::clone(&joined));
        (joined, version)
    }

    fn read(&self) -> RwLockReadGuard<'_, Objects> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Objects> {
        self.0.write().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Objects {
    fn names(&self, kind: Watched) -> Box<dyn Iterator<Item = ObjectName> + '_> {
        match kind {
            Watched::Sets => Box::new(self.sets.keys().cloned()),
            Watched::Applications => Box::new(self.applications.keys().cloned()),
            Watched::Projects | Watched::Secrets | Watched::ConfigMaps => {
                Box::new(self.others.keys().filter(move |(of, _)| *of == kind).map(|(_, name)| name.clone()))
            }
        }
    }

    fn applications_in<'a>(
        &'a self,
        namespace: &'a str,
    ) -> impl Iterator<Item = (&'a ObjectName, &'a CachedApplication)> {
        let first = ObjectName { namespace: namespace.to_owned(), name: String::new() };
        self.applications.range(first..).take_while(move |(name, _)| name.namespace == namespace)
    }

    /// Notes the version of an event.
    fn report(&mut self, kind: Watched, object: &Value) {
        let reported = self.reported.entry(kind).or_default();
        *reported = version(object).max(*reported);
    }

    /// Whether this version of an object or a later one is known.
    fn has_since(&self, kind: Watched, object: &Value) -> bool {
        self.known_version(kind, object).is_some_and(|known| known >= version(object))
    }

    /// Whether a later version of an object is known.
    fn has_later(&self, kind: Watched, object: &Value) -> bool {
        self.known_version(kind, object).is_some_and(|known| known > version(object))
    }

    fn known_version(&self, kind: Watched, object: &Value) -> Option<u64> {
        let name = ObjectName::of(object);
        match kind {
            Watched::Sets => self.sets.get(&name).map(|set| version(set)),
            Watched::Applications => self.applications.get(&name).map(|application| application.version),
            Watched::Projects | Watched::Secrets | Watched::ConfigMaps => {
                self.others.get(&(kind, name)).map(|object| version(object))
            }
        }
    }

    fn is_writing(&self, kind: Watched, name: &ObjectName) -> bool {
        self.writing.contains(&(kind, name.clone()))
    }

    /// Notes a set whose new status is not from a known write of this process.
    fn note_rewritten(&mut self, kind: Watched, object: &Value, concerned: &mut Concerned) {
        let name = ObjectName::of(object);
        let before = self.sets.get(&name).filter(|_| kind == Watched::Sets && !self.is_writing(kind, &name));
        if before.is_some_and(|before| before["status"] != object["status"]) {
            compare(concerned, Some(name.clone()));
            self.rewritten.insert(name);
        }
    }

    fn insert(&mut self, kind: Watched, mut object: Value, concerned: &mut Concerned) {
        let name = ObjectName::of(&object);
        // They may be half of an object, and no reconcile reads them.
        if let Some(metadata) = object["metadata"].as_object_mut() {
            metadata.remove("managedFields");
        }
        match kind {
            Watched::Sets => {
                let before = self.sets.get(&name);
                if before.is_none_or(|before| needs_reconcile(before, &object)) {
                    concerned.insert(name.clone(), Need::Generate);
                }
                self.sets.insert(name, Arc::new(object));
            }
            Watched::Applications => {
                let new = CachedApplication::new(object);
                let before = self.applications.get(&name);
                // Unlike in Argo CD, a creation by another process concerns the set, and so does one that seemed to fail: the set may generate
                // the Application no more.
                let is_relevant = match before {
                    // Another process may change what an own write does not.
                    Some(before) => before.fingerprint != new.fingerprint,
                    None => !self.is_writing(kind, &name),
                };
                if is_relevant {
                    compare(concerned, before.and_then(|before| before.owning_set(&name)));
                    compare(concerned, new.owning_set(&name));
                }
                self.applications.insert(name, new);
            }
            Watched::Projects | Watched::Secrets | Watched::ConfigMaps => {
                let before = self.others.get(&(kind, name.clone())).map(Arc::clone);
                if before.as_ref().is_none_or(|before| content(before) != content(&object)) {
                    let states = before.as_deref().into_iter().chain([&object]);
                    states.for_each(|state| self.other_changed(kind, &name, state, concerned));
                }
                self.others.insert((kind, name), Arc::new(object));
            }
        }
    }

    fn remove(&mut self, kind: Watched, name: &ObjectName, concerned: &mut Concerned) {
        match kind {
            Watched::Sets => {
                self.sets.remove(name);
                self.rewritten.remove(name);
                concerned.insert(name.clone(), Need::Generate);
            }
            Watched::Applications => {
                if let Some(before) = self.applications.remove(name) {
                    compare(concerned, before.owning_set(name));
                }
            }
            Watched::Projects | Watched::Secrets | Watched::ConfigMaps => {
                if let Some(before) = self.others.remove(&(kind, name.clone())) {
                    self.other_changed(kind, name, &before, concerned);
                }
            }
        }
    }

    /// Makes the sets due that read a project, Secret or `ConfigMap`. `object` is its state before or after a change.
    fn other_changed(&mut self, kind: Watched, name: &ObjectName, object: &Value, concerned: &mut Concerned) {
        let dependents = self.dependents(kind, name, object);
        concerned.extend(dependents.into_iter().map(|set| (set, Need::Generate)));
        self.control_plane = None;
        let concerns_all = match kind {
            Watched::Projects => true,
            Watched::Secrets => !object["metadata"]["labels"][SECRET_TYPE_LABEL].is_null(),
            Watched::ConfigMaps => name.name.starts_with(ARGO_CD_PREFIX),
            Watched::Sets | Watched::Applications => false,
        };
        self.control_plane_version += u64::from(concerns_all);
    }

    /// Returns the sets whose generators read an object.
    fn dependents(&self, kind: Watched, name: &ObjectName, object: &Value) -> Vec<ObjectName> {
        let config_map = |map: &str| {
            let key =
                (Watched::ConfigMaps, ObjectName { namespace: name.namespace.clone(), name: map.to_owned() });
            self.others.get(&key).map(|object| &**object)
        };
        let depends = |set: &Value| {
            let generators = &set["spec"]["generators"];
            match kind {
                Watched::ConfigMaps => depends_on_config_map(generators, &name.name),
                Watched::Secrets if is_cluster(object) => depends_on_clusters(generators),
                Watched::Secrets => depends_on_secret(generators, &name.name, &config_map),
                Watched::Projects | Watched::Sets | Watched::Applications => false,
            }
        };
        self.sets.iter().filter(|(_, set)| depends(set)).map(|(name, _)| name.clone()).collect()
    }
}

fn compare(concerned: &mut Concerned, set: Option<ObjectName>) {
    if let Some(set) = set {
        concerned.entry(set).or_insert(Need::Compare);
    }
}

fn is_cluster(secret: &Value) -> bool {
    secret["metadata"]["labels"][SECRET_TYPE_LABEL] == "cluster"
}

/// Returns the version of an object; later ones are larger.
fn version(object: &Value) -> u64 {
    metadata(object, "resourceVersion").parse().unwrap_or_default()
}

/// Whether the change of a set is more than one of its status, or the removal of the refresh annotation.
fn needs_reconcile(before: &Value, after: &Value) -> bool {
    let relevant = |set: &Value| {
        let metadata = &set["metadata"];
        let mut annotations = metadata["annotations"].as_object().cloned().unwrap_or_else(Map::new);
        annotations.remove(REFRESH_ANNOTATION);
        json!([
            metadata["uid"],
            set["spec"],
            metadata["labels"],
            annotations,
            metadata["finalizers"],
            metadata["deletionTimestamp"]
        ])
    };
    let refresh = |set: &Value| set["metadata"]["annotations"].get(REFRESH_ANNOTATION).cloned();
    relevant(before) != relevant(after)
        || refresh(after).is_some_and(|value| refresh(before).as_ref() != Some(&value))
}

/// Returns what a reconcile may read of an object.
fn content(object: &Value) -> [&Value; 4] {
    [&object["data"], &object["spec"], &object["metadata"]["labels"], &object["metadata"]["annotations"]]
}

#[cfg(test)]
mod tests;
