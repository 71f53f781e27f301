//! Applications and `ApplicationSets` that applications render.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use crate::content::read;
use crate::place::FileName;
use crate::resources::{Broken, Skipped, StoredApplication, StoredSet};
use crate::store::Store;

/// The namespaces and names of the applications that each application renders, itself or by a set.
pub type RenderedKeys = BTreeMap<(String, String), Vec<(String, String)>>;

/// The Applications and `ApplicationSets` among the manifests of an application. Projects, settings and Secrets are left out: what is
/// rendered must not decide about it.
#[derive(Debug, Default)]
pub struct RenderedDocuments {
    /// The Applications.
    pub applications: Vec<Arc<StoredApplication>>,
    /// The sets.
    pub sets: Vec<StoredSet>,
    /// The documents that are only a part of an object.
    pub skipped: Vec<Skipped>,
    /// The invalid documents.
    pub broken: Vec<Broken>,
}

impl RenderedDocuments {
    /// Reads manifests, as YAML, of the application with this full name.
    pub fn read(application: &str, manifests: &str) -> Self {
        let content = read(&FileName::rendered(application), manifests.as_bytes());
        let is_followed = |kind: &str| ["Application", "ApplicationSet"].contains(&kind);
        let (mut skipped, mut broken) = (content.skipped, content.broken);
        skipped.retain(|one| one.object.as_ref().is_some_and(|object| is_followed(&object.kind)));
        broken.retain(|one| one.object.as_ref().is_none_or(|object| is_followed(&object.kind)));
        Self { applications: content.applications, sets: content.sets, skipped, broken }
    }
}

impl Store {
    /// Adds the applications that these render, and those that the added ones render.
    pub fn add_rendered_by(&self, applications: &mut Vec<Arc<StoredApplication>>, control_plane: &str) {
        if self.rendered.is_empty() {
            return;
        }
        // One that is defined more than once is an error of its own.
        let mut by_key: HashMap<_, Option<&Arc<StoredApplication>>> = HashMap::new();
        for stored in &self.applications {
            let once = by_key.entry(stored.owned_key(control_plane));
            once.and_modify(|one| *one = None).or_insert(Some(stored));
        }
        let mut seen: HashSet<_> =
            applications.iter().map(|stored| stored.owned_key(control_plane)).collect();
        let mut index = 0;
        while let Some(stored) = applications.get(index) {
            for key in self.rendered.get(&stored.owned_key(control_plane)).into_iter().flatten() {
                if let Some(Some(child)) = by_key.get(key)
                    && seen.insert(key.clone())
                {
                    applications.push(Arc::clone(child));
                }
            }
            index += 1;
        }
    }
}
