//! Which applications belong together: those of one name on the two sides.

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::path::PathBuf;
use std::sync::Arc;

use tiphys_store::{ApplicationRef, Filter, SelectError, Store, StoredApplication};

/// An application on both sides or on one of them.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Pair {
    Both { past: Arc<StoredApplication>, now: Arc<StoredApplication> },
    Added(Arc<StoredApplication>),
    Removed(Arc<StoredApplication>),
}

/// The stores of one side.
pub(super) struct SideStore {
    pub(super) store: Store,
    /// Namespace of applications that name none.
    pub(super) control_plane: String,
    /// What was asked for by paths, apart from the store; a path that this side does not have is not here.
    pub(super) paths: Vec<(PathBuf, Store)>,
}

/// What there is to compare.
#[derive(Debug, Default)]
pub(super) struct Pairs {
    /// In the order of the new side; what only the old side has comes last, in its order.
    pub(super) joined: Vec<Pair>,
    /// What could not be chosen.
    pub(super) errors: Vec<SelectError>,
    /// Applications of one side that may be on the other, too, in a file that cannot be read: full names.
    pub(super) doubtful: Vec<String>,
}

/// Namespace and name.
type Key = (String, String);

impl Pair {
    /// The new side's, else the old one's.
    pub(super) fn stored(&self) -> &StoredApplication {
        match self {
            Self::Both { now, .. } => now,
            Self::Added(stored) | Self::Removed(stored) => stored,
        }
    }

    fn sides(&self) -> impl Iterator<Item = &StoredApplication> {
        let other = match self {
            Self::Both { past, .. } => Some(past),
            Self::Added(_) | Self::Removed(_) => None,
        };
        std::iter::once(self.stored()).chain(other.map(Arc::as_ref))
    }
}

/// What was found on one side.
#[derive(Default)]
struct Found {
    applications: Vec<Arc<StoredApplication>>,
    errors: Vec<SelectError>,
    /// Whether a file that cannot be read may hold any application.
    any_may_be_hidden: bool,
    /// Names of applications that are there and cannot be had.
    hidden: BTreeSet<Key>,
}

/// Pairs the applications that were asked for; all without arguments. One that fits the filter on either side is meant.
pub(super) fn pair(
    past: &SideStore,
    now: &SideStore,
    arguments: &[ApplicationRef],
    filter: &Filter,
) -> Pairs {
    let (mut of_past, mut of_now) = (Found::default(), Found::default());
    if arguments.is_empty() {
        of_past.add_all(&past.store, &past.control_plane);
        of_now.add_all(&now.store, &now.control_plane);
    }
    let mut errors = Vec::new();
    for argument in arguments {
        match argument {
            ApplicationRef::Name { namespace, name } => {
                let find = |side: &SideStore| {
                    known(side.store.find(namespace.as_deref(), name, &side.control_plane))
                };
                match (find(past), find(now)) {
                    (Ok(Err(then)), Ok(Err(now))) => errors.push(more_helpful(then, now)),
                    (Ok(then), Ok(now)) => {
                        of_past.applications.extend(then);
                        of_now.applications.extend(now);
                    }
                    // What the other side has of it cannot be compared.
                    (then, now) => errors.extend(then.err().into_iter().chain(now.err())),
                }
            }
            ApplicationRef::Path(path) => {
                let stores = [(past, &mut of_past), (now, &mut of_now)].map(|(side, found)| {
                    let store = side.paths.iter().find(|(asked, _)| asked == path).map(|(_, store)| store);
                    if let Some(store) = store {
                        found.add_all(store, &side.control_plane);
                    }
                    store.is_some_and(|store| !store.applications().is_empty() || !store.broken().is_empty())
                });
                if stores == [false, false] {
                    errors.push(SelectError::NoneInPath { path: path.clone() });
                }
            }
        }
    }
    let mut pairs = Pairs { errors, ..Pairs::default() };
    pairs.errors.append(&mut of_past.errors);
    pairs.errors.append(&mut of_now.errors);
    pairs.join((&of_past, &past.control_plane), (&of_now, &now.control_plane));
    pairs.joined.retain(|pair| pair.sides().any(|stored| filter.fits(stored)));
    pairs
}

/// An application, or inside that it is unknown, which is no problem if the other side knows it.
fn known(
    found: Result<Arc<StoredApplication>, SelectError>,
) -> Result<Result<Arc<StoredApplication>, SelectError>, SelectError> {
    match found {
        Err(unknown @ SelectError::Unknown { .. }) => Ok(Err(unknown)),
        Err(problem) => Err(problem),
        Ok(stored) => Ok(Ok(stored)),
    }
}

/// Of two sides that do not know an application, the one that has a suggestion: what was meant may be gone.
fn more_helpful(then: SelectError, now: SelectError) -> SelectError {
    match &now {
        SelectError::Unknown { suggestions, left_out: None, .. } if suggestions.is_empty() => then,
        _ => now,
    }
}

impl Found {
    fn add_all(&mut self, store: &Store, control_plane: &str) {
        let selection = store.select(&[], &Filter::default(), control_plane);
        self.applications.extend(selection.applications);
        self.errors.extend(selection.errors);
        self.any_may_be_hidden |= store.broken().iter().any(|broken| broken.object.is_none());
        let named = store.broken().iter().filter_map(|broken| broken.object.as_ref());
        self.hidden.extend(named.filter(|object| object.kind == "Application").map(|object| {
            let namespace = if object.namespace.is_empty() { control_plane } else { &object.namespace };
            (namespace.to_owned(), object.name.clone())
        }));
        let mut seen = BTreeSet::new();
        for stored in store.applications() {
            let key = key(stored, control_plane);
            if !seen.insert(key.clone()) {
                self.hidden.insert(key);
            }
        }
    }

    fn by_key(&self, control_plane: &str) -> BTreeMap<Key, Arc<StoredApplication>> {
        self.applications.iter().map(|stored| (key(stored, control_plane), Arc::clone(stored))).collect()
    }
}

impl Pairs {
    fn join(&mut self, (past, past_plane): (&Found, &str), (now, now_plane): (&Found, &str)) {
        let mut of_past = past.by_key(past_plane);
        let mut seen = BTreeSet::new();
        for stored in &now.applications {
            let key = key(stored, now_plane);
            if !seen.insert(key.clone()) {
                continue;
            }
            match of_past.remove(&key) {
                Some(past) => self.joined.push(Pair::Both { past, now: Arc::clone(stored) }),
                None => self.alone(Pair::Added(Arc::clone(stored)), &key, past),
            }
        }
        let mut seen = BTreeSet::new();
        for stored in &past.applications {
            let key = key(stored, past_plane);
            if of_past.contains_key(&key) && seen.insert(key.clone()) {
                self.alone(Pair::Removed(Arc::clone(stored)), &key, now);
            }
        }
    }

    /// Notes an application that the other side does not have, or has where it cannot be read: then it is neither added nor removed.
    fn alone(&mut self, pair: Pair, key: &Key, other: &Found) {
        if other.hidden.contains(key) {
            return;
        }
        if other.any_may_be_hidden {
            self.doubtful.push(pair.stored().full_name());
        } else {
            self.joined.push(pair);
        }
    }

    /// Applications that may have been renamed: the old and the new full name of each removed and each added one whose specs are equal;
    /// several that are alike in their order, each once.
    pub(super) fn renamed(&self) -> Vec<(String, String)> {
        let mut added: HashMap<String, VecDeque<&StoredApplication>> = HashMap::new();
        for pair in &self.joined {
            if let Pair::Added(now) = pair {
                added.entry(spec(now)).or_default().push_back(now);
            }
        }
        let mut renamed = Vec::new();
        for pair in &self.joined {
            let Pair::Removed(past) = pair else { continue };
            let same = added.get_mut(&spec(past)).and_then(VecDeque::pop_front);
            renamed.extend(same.map(|now| (past.full_name(), now.full_name())));
        }
        renamed
    }
}

/// A spec as text, which is the same for equal ones.
fn spec(stored: &StoredApplication) -> String {
    serde_json::to_string(&stored.application.spec).unwrap_or_default()
}

fn key(stored: &StoredApplication, control_plane: &str) -> Key {
    (stored.namespace(control_plane).to_owned(), stored.application.metadata.name.clone())
}
