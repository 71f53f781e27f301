//! Pairs of applications with the same name on the two sides.

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tiphys_store::{ApplicationRef, FileName, Filter, SelectError, SetId, Store, StoredApplication};

use crate::application_diff::{Key, Presence, UnusableKey, unusable_key};
use crate::context::base::sides::SideStore;

/// An application on both sides, or on one of them.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Pair {
    Both { base: Arc<StoredApplication>, head: Arc<StoredApplication> },
    Added(Arc<StoredApplication>),
    Removed(Arc<StoredApplication>),
}

/// The applications to compare.
#[derive(Debug, Default)]
pub(super) struct Pairs {
    /// In the order of the new side. Applications of only the old side come last, in its order.
    pub(super) joined: Vec<Pair>,
    /// Arguments that name no application.
    pub(super) errors: Vec<SelectError>,
    /// Documents of the new side that cannot be used: their applications are not compared.
    pub(super) unusable: Vec<Unusable>,
    /// Those of the old side that the new side does not have any more.
    pub(super) repaired: Vec<Unusable>,
    /// Applications of the old side that may be on the new side in an invalid file.
    pub(super) doubtful: Vec<Arc<StoredApplication>>,
    /// Applications of the old side, by the set that generates them. On the new side the set's applications are not known.
    pub(super) of_unknown_sets: BTreeMap<SetId, Vec<Arc<StoredApplication>>>,
}

/// Documents of one side that are invalid, or define an application more than once.
#[derive(Debug)]
pub(super) struct Unusable {
    /// The namespace and name of the application or other object; None if they could not be read.
    pub(super) key: Option<Key>,
    pub(super) error: SelectError,
}

impl Unusable {
    /// Whether it is an application, or a file that may have some.
    pub(super) fn is_about_applications(&self) -> bool {
        self.key.as_ref().is_none_or(|(_, name)| !name.contains(' '))
    }

    /// Whether it is an invalid file of the base that is this file now.
    pub(super) fn is_in(&self, file: &Path) -> bool {
        match &self.error {
            SelectError::Broken(broken) => is_file_of_base(file, &broken.place.file),
            _ => false,
        }
    }

    /// Whether it is an invalid file of the head in which the base has an application.
    pub(super) fn is_now(&self, of_base: &StoredApplication) -> bool {
        match (&self.key, &self.error) {
            (None, SelectError::Broken(broken)) => {
                broken.place.file.path().is_some_and(|file| is_file_of_base(file, &of_base.place.file))
            }
            _ => false,
        }
    }

    /// Separates unusable documents from arguments that name no application.
    fn of(error: SelectError, control_plane: &str) -> Result<Self, SelectError> {
        match unusable_key(&error, control_plane) {
            Some(UnusableKey(key)) => Ok(Self { key, error }),
            None => Err(error),
        }
    }
}

/// Whether a file is that of a place at the base, whose path is the one in the repository.
fn is_file_of_base(file: &Path, of_base: &FileName) -> bool {
    of_base.as_past().and_then(|name| name.split_once(':')).is_some_and(|(_, path)| file.ends_with(path))
}

impl Pair {
    /// Returns the application of the new side, else that of the old side.
    pub(super) fn stored(&self) -> &Arc<StoredApplication> {
        match self {
            Self::Both { head, .. } => head,
            Self::Added(stored) | Self::Removed(stored) => stored,
        }
    }

    /// Returns the sides that have it.
    pub(super) fn presence(&self) -> Presence {
        match self {
            Self::Both { .. } => Presence::Both,
            Self::Added(_) => Presence::Added,
            Self::Removed(_) => Presence::Removed,
        }
    }

    fn sides(&self) -> impl Iterator<Item = &StoredApplication> {
        let other = match self {
            Self::Both { base, .. } => Some(base),
            Self::Added(_) | Self::Removed(_) => None,
        };
        std::iter::once(self.stored()).chain(other).map(Arc::as_ref)
    }
}

/// The applications of one side.
#[derive(Default)]
struct Found {
    applications: Vec<Arc<StoredApplication>>,
    errors: Vec<SelectError>,
    unusable: Vec<Unusable>,
    /// Files with something that was left out, because it looks like a template or a part of an object, or cannot be read.
    left_out: Vec<PathBuf>,
    /// Sets whose applications are not known.
    unknown_sets: BTreeSet<SetId>,
    /// Those of them that the other side does not have, or has with another document.
    changed_sets: BTreeSet<SetId>,
    /// Whether not all that applications render is known.
    is_incomplete: bool,
}

/// Pairs the selected applications, or all without arguments. The filter includes an application if either side matches.
pub(super) fn pair(
    base: &SideStore,
    head: &SideStore,
    arguments: &[ApplicationRef],
    filter: &Filter,
) -> Pairs {
    let found = |side: &SideStore, other: &SideStore| Found {
        unknown_sets: side.unknown_sets.clone(),
        changed_sets: side.changed_sets(other),
        is_incomplete: side.followed.is_incomplete,
        ..Found::default()
    };
    let (mut of_base, mut of_head) = (found(base, head), found(head, base));
    if arguments.is_empty() {
        of_base.add_all(&base.store, &base.control_plane);
        of_head.add_all(&head.store, &head.control_plane);
    }
    let mut errors = Vec::new();
    for argument in arguments {
        match argument {
            ApplicationRef::Name { namespace, name } => {
                let find = |side: &SideStore| {
                    known(side.store.find(namespace.as_deref(), name, &side.control_plane))
                };
                match (find(base), find(head)) {
                    (Ok(Err(then)), Ok(Err(head))) => errors.push(more_helpful(then, head)),
                    // The application of the other side has no counterpart to compare with.
                    (then, now) if is_about_argument(&then) || is_about_argument(&now) => {
                        errors.extend(then.err().into_iter().chain(now.err()));
                    }
                    (then, now) => {
                        of_base.add_found(then, &base.control_plane);
                        of_head.add_found(now, &head.control_plane);
                    }
                }
            }
            ApplicationRef::Path(path) => {
                let stores = [(base, &mut of_base), (head, &mut of_head)].map(|(side, found)| {
                    let store = side.paths.iter().find(|(asked, _)| asked == path).map(|(_, store)| store);
                    if let Some(store) = store {
                        found.add_all(store, &side.control_plane);
                    }
                    store.is_some_and(|store| {
                        !store.applications().is_empty()
                            || !store.broken().is_empty()
                            || !store.sets().is_empty()
                    })
                });
                if stores == [false, false] {
                    errors.push(SelectError::NoneInPath { path: path.clone() });
                }
            }
        }
    }
    for (side, found) in [(base, &mut of_base), (head, &mut of_head)] {
        side.store.add_rendered_by(&mut found.applications, &side.control_plane);
    }
    let mut pairs = Pairs { errors, ..Pairs::default() };
    pairs.errors.append(&mut of_base.errors);
    pairs.errors.append(&mut of_head.errors);
    pairs.join((&of_base, &base.control_plane), (&of_head, &head.control_plane));
    let selected: BTreeSet<Key> = [base, head]
        .iter()
        .zip([&of_base, &of_head])
        .flat_map(|(side, found)| {
            let mut fitting = found.applications.clone();
            fitting.retain(|stored| filter.fits(stored));
            side.store.add_rendered_by(&mut fitting, &side.control_plane);
            fitting.into_iter().map(|stored| stored.owned_key(&side.control_plane))
        })
        .collect();
    pairs.joined.retain(|pair| {
        let side = if matches!(pair, Pair::Removed(_)) { base } else { head };
        selected.contains(&pair.stored().owned_key(&side.control_plane))
    });
    let is_still = |old: &Unusable| of_head.unusable.iter().any(|new| new.key == old.key);
    pairs.repaired = of_base.unusable.into_iter().filter(|old| !is_still(old)).collect();
    pairs.unusable = of_head.unusable;
    pairs
}

/// An application that the caller named: found, or unknown on this side, else another error.
type Requested = Result<Result<Arc<StoredApplication>, SelectError>, SelectError>;

/// Whether the caller's argument is wrong, not a document.
fn is_about_argument(requested: &Requested) -> bool {
    requested.as_ref().is_err_and(|error| unusable_key(error, "").is_none())
}

/// Separates unknown applications from other errors: one that only one side has is not an error.
fn known(found: Result<Arc<StoredApplication>, SelectError>) -> Requested {
    match found {
        Err(unknown @ SelectError::Unknown { .. }) => Ok(Err(unknown)),
        Err(problem) => Err(problem),
        Ok(stored) => Ok(Ok(stored)),
    }
}

/// Returns the error with a suggestion: the intended application may exist only at the base.
fn more_helpful(then: SelectError, head: SelectError) -> SelectError {
    match &head {
        SelectError::Unknown { suggestions, left_out: None, .. } if suggestions.is_empty() => then,
        _ => head,
    }
}

impl Found {
    fn add_all(&mut self, store: &Store, control_plane: &str) {
        let selection = store.select(&[], &Filter::default(), control_plane);
        self.applications.extend(selection.applications);
        selection.errors.into_iter().for_each(|error| self.add_error(error, control_plane));
        let left_out = store.skipped().iter().filter_map(|skipped| skipped.place.file.path());
        self.left_out.extend(left_out.map(Path::to_path_buf));
    }

    /// Adds a requested application; one that only the other side has is not an error.
    fn add_found(&mut self, found: Requested, control_plane: &str) {
        match found {
            Ok(stored) => self.applications.extend(stored),
            Err(error) => self.add_error(error, control_plane),
        }
    }

    fn add_error(&mut self, error: SelectError, control_plane: &str) {
        match Unusable::of(error, control_plane) {
            Ok(unusable) => self.unusable.push(unusable),
            Err(error) => self.errors.push(error),
        }
    }

    /// Whether an application is among those that cannot be used.
    fn hides(&self, key: &Key) -> bool {
        self.unusable.iter().any(|unusable| unusable.key.as_ref() == Some(key))
    }

    fn by_key(&self, control_plane: &str) -> BTreeMap<Key, Arc<StoredApplication>> {
        self.applications.iter().map(|stored| (stored.owned_key(control_plane), Arc::clone(stored))).collect()
    }
}

impl Pairs {
    /// Returns the applications of the new side.
    pub(super) fn head(&self) -> Vec<Arc<StoredApplication>> {
        let of_head = |pair: &Pair| match pair {
            Pair::Both { head, .. } | Pair::Added(head) => Some(Arc::clone(head)),
            Pair::Removed(_) => None,
        };
        self.joined.iter().filter_map(of_head).collect()
    }

    /// Leaves only the applications that one of these sets generates on either side.
    pub(super) fn retain_generated_by(&mut self, sets: &BTreeSet<SetId>) {
        let is_generated =
            |stored: &StoredApplication| stored.generated_by.as_ref().is_some_and(|set| sets.contains(set));
        self.joined.retain(|pair| pair.sides().any(is_generated));
        self.doubtful.retain(|stored| is_generated(stored));
        self.of_unknown_sets.retain(|_, applications| {
            applications.retain(|stored| is_generated(stored));
            !applications.is_empty()
        });
    }

    fn join(&mut self, (base, base_plane): (&Found, &str), (head, head_plane): (&Found, &str)) {
        let mut of_base = base.by_key(base_plane);
        let mut seen = BTreeSet::new();
        for stored in &head.applications {
            let key = stored.owned_key(head_plane);
            if !seen.insert(key.clone()) {
                continue;
            }
            match of_base.remove(&key) {
                Some(base) => self.joined.push(Pair::Both { base, head: Arc::clone(stored) }),
                // An application that is unreadable at the base is new.
                None => self.joined.push(Pair::Added(Arc::clone(stored))),
            }
        }
        let mut seen = BTreeSet::new();
        for stored in &base.applications {
            let key = stored.owned_key(base_plane);
            if of_base.contains_key(&key) && seen.insert(key.clone()) {
                self.removed(stored, &key, head);
            }
        }
    }

    /// Adds an application that only the old side has. It is not removed if the new side may have it in an invalid file, or of a set that
    /// failed.
    fn removed(&mut self, stored: &Arc<StoredApplication>, key: &Key, head: &Found) {
        if head.hides(key) {
            return;
        }
        let is_unknown = |set: &&SetId| head.unknown_sets.contains(*set);
        let generator = stored.generated_by.as_ref().filter(is_unknown);
        // A set that is new or changed on the new side may generate it.
        if let Some(set) = generator.or_else(|| head.changed_sets.first()).cloned() {
            self.of_unknown_sets.entry(set).or_default().push(Arc::clone(stored));
        } else if head.unusable.iter().any(|unusable| unusable.key.is_none())
            || (head.is_incomplete && stored.place.file.is_rendered())
            || head.left_out.iter().any(|file| is_file_of_base(file, &stored.place.file))
        {
            self.doubtful.push(Arc::clone(stored));
        } else {
            self.joined.push(Pair::Removed(Arc::clone(stored)));
        }
    }

    /// Returns the old and new full names of applications that may have been renamed: a removed and an added one whose spec no other
    /// application of their side has.
    pub(super) fn renamed(&self) -> Vec<(String, String)> {
        let mut by_spec: HashMap<String, [Vec<&Pair>; 2]> = HashMap::new();
        for pair in &self.joined {
            let (base, head) = match pair {
                Pair::Both { base, head } => (Some(base), Some(head)),
                Pair::Added(head) => (None, Some(head)),
                Pair::Removed(base) => (Some(base), None),
            };
            for (side, stored) in [base, head].into_iter().enumerate() {
                if let Some(stored) = stored {
                    by_spec.entry(spec(stored)).or_default()[side].push(pair);
                }
            }
        }
        let renamed = self.joined.iter().filter_map(|pair| {
            let Pair::Removed(base) = pair else { return None };
            match by_spec.get(&spec(base))?.each_ref().map(Vec::as_slice) {
                [[_], [Pair::Added(head)]] => Some((base.full_name(), head.full_name())),
                _ => None,
            }
        });
        renamed.collect()
    }
}

/// Returns a spec as JSON, which is equal for equal specs.
fn spec(stored: &StoredApplication) -> String {
    serde_json::to_string(&stored.application.spec).unwrap_or_default()
}
