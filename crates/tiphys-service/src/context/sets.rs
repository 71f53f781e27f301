//! Generating the Applications of `ApplicationSets`.

mod answered;
pub(crate) mod answers;
pub(crate) mod asked;
pub(crate) mod decisions;
pub(crate) mod generation;
pub(crate) mod git;
pub(crate) mod inclusion;
pub(crate) mod objects;
pub(crate) mod oci;
pub(crate) mod reports;
pub(crate) mod services;
pub(crate) mod world;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use futures_util::{StreamExt, stream};
use tiphys_engine::appset::GenerateOptions;
use tiphys_store::{ApplicationRef, SetId, Store as Resources, StoreInput, StoredSet};

use crate::context::store::load_inputs;
use crate::context::trust::FileOrigins;
use crate::context::workspace::Workspace;
use crate::error::ServiceError;

pub(crate) use answered::AnsweredQuestions;
pub use answers::RecordedAnswers;
pub use generation::{SetApplications, SetOutcome};
pub(crate) use inclusion::{IncludedSets, add, include};
pub use reports::{SetReports, UnknownSet};
pub(crate) use services::Services;
pub(crate) use world::{World, WorldInputs};

/// Sets whose generators wait for answers at the same time.
const CONCURRENT_SETS: usize = 16;

/// Sets to generate.
#[derive(Clone, Debug, Default)]
pub struct SetSelection {
    /// Names, `namespace/name`, or files; empty means all of the store.
    pub sets: Vec<String>,
    /// Answers that are used for all questions. Nothing is asked then.
    pub answers: Option<RecordedAnswers>,
}

/// The generated sets, and what was asked for them.
#[derive(Debug)]
pub struct GeneratedSets {
    /// The sets in the order of the selection, or of the store.
    pub sets: Vec<SetApplications>,
    /// The answers to all questions that were asked, without those that failed.
    pub asked: RecordedAnswers,
}

/// Generates the Applications of sets.
pub async fn generate_sets(
    workspace: &Workspace,
    selection: &SetSelection,
) -> Result<GeneratedSets, ServiceError> {
    let named = NamedSets::load(selection, &workspace.origins)?;
    let found = named.find(&workspace.resources, &workspace.control_plane)?;
    let world = World::of(workspace, selection)?;
    let mut sets = generate_each(&found, &world, workspace.service.generating()).await;
    // The caller asked for the Applications of these sets.
    sets.iter_mut().for_each(SetApplications::require_answers);
    Ok(GeneratedSets { sets, asked: world.into_answers() })
}

/// Returns the sets that have their identity in common with others.
pub(crate) fn same_ids<'a>(
    sets: &[&'a StoredSet],
    control_plane: &str,
) -> BTreeMap<SetId, Vec<&'a StoredSet>> {
    let mut by_id: BTreeMap<SetId, Vec<&StoredSet>> = BTreeMap::new();
    for set in sets {
        by_id.entry(set.id(control_plane)).or_default().push(set);
    }
    by_id.retain(|_, sets| sets.len() > 1);
    by_id
}

/// Generates sets concurrently, and returns them in order. One that is defined more than once has failed; it is returned once.
pub(crate) async fn generate_each(
    sets: &[&StoredSet],
    world: &World<'_>,
    options: GenerateOptions,
) -> Vec<SetApplications> {
    let mut seen = BTreeSet::new();
    let ids = sets.iter().map(|set| (set.id(world.control_plane()), *set));
    let first: Vec<(SetId, &StoredSet)> = ids.filter(|(id, _)| seen.insert(id.clone())).collect();
    let repeated = same_ids(sets, world.control_plane());
    stream::iter(first)
        .map(async |(id, set)| match repeated.get(&id) {
            Some(documents) => SetApplications::repeated(id, set, documents),
            None => generation::generate_one(set, world, options, |_| {}).await,
        })
        .buffered(CONCURRENT_SETS)
        .collect()
        .await
}

impl SetSelection {
    /// Returns the files among the sets.
    pub fn paths(&self) -> Vec<PathBuf> {
        self.sets.iter().filter_map(|set| ApplicationRef::parse(set).into_path()).collect()
    }

    /// Returns the selected sets that either store has, each with the namespace of its control plane; all if nothing is selected.
    pub(crate) fn ids(&self, stores: [(&Resources, &str); 2]) -> Result<BTreeSet<SetId>, ServiceError> {
        let ids = || {
            stores.into_iter().flat_map(|(store, plane)| store.sets().iter().map(move |set| set.id(plane)))
        };
        let mut selected = BTreeSet::new();
        for set in &self.sets {
            let ApplicationRef::Name { namespace, name } = ApplicationRef::parse(set) else {
                let message = format!("{set}: name the set; both sides have those of the store");
                return Err(ServiceError::invalid_input(message));
            };
            let named: Vec<SetId> = ids().filter(|id| is_named(id, namespace.as_deref(), &name)).collect();
            if named.is_empty() {
                return Err(not_found(&name));
            }
            selected.extend(named);
        }
        if self.sets.is_empty() {
            selected.extend(ids());
        }
        Ok(selected)
    }
}

/// The sets of a selection.
pub(crate) struct NamedSets {
    /// The files that the selection names.
    files: Vec<Resources>,
    names: Vec<(Option<String>, String)>,
}

impl NamedSets {
    pub(crate) fn load(selection: &SetSelection, origins: &FileOrigins) -> Result<Self, ServiceError> {
        let (mut files, mut names) = (Vec::new(), Vec::new());
        for set in &selection.sets {
            match ApplicationRef::parse(set) {
                ApplicationRef::Path(path) => {
                    let file = load_inputs(&[StoreInput::Path(path)])?;
                    origins.set(&file);
                    files.push(file);
                }
                ApplicationRef::Name { namespace, name } => names.push((namespace, name)),
            }
        }
        Ok(Self { files, names })
    }

    /// Returns the sets of the files and those with the names; all of the store if nothing is selected.
    pub(crate) fn find<'a>(
        &'a self,
        store: &'a Resources,
        control_plane: &str,
    ) -> Result<Vec<&'a StoredSet>, ServiceError> {
        let mut found: Vec<&StoredSet> = self.files.iter().flat_map(Resources::sets).collect();
        for (namespace, name) in &self.names {
            let before = found.len();
            let is_named = |set: &&StoredSet| is_named(&set.id(control_plane), namespace.as_deref(), name);
            found.extend(store.sets().iter().filter(is_named));
            if found.len() == before {
                return Err(not_found(name));
            }
        }
        if self.files.is_empty() && self.names.is_empty() {
            found.extend(store.sets());
        }
        if found.is_empty() {
            return Err(ServiceError::invalid_input("no application set to generate"));
        }
        Ok(found)
    }
}

fn is_named(set: &SetId, namespace: Option<&str>, name: &str) -> bool {
    set.name == name && namespace.is_none_or(|namespace| namespace == set.namespace)
}

fn not_found(name: &str) -> ServiceError {
    ServiceError::invalid_input(format!("application set {name:?} not found in the store"))
}
