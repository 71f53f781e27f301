//! Choosing applications of a store.

use std::collections::{BTreeMap, HashSet};
use std::path::PathBuf;
use std::sync::Arc;

use crate::{
    ApplicationRef, Broken, Place, Selector, SkipReason, Store, StoreError, StoreInput, StoredApplication,
};

/// Which of the applications that were asked for are meant.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// `-l`.
    pub selector: Selector,
    /// `--project`.
    pub project: Option<String>,
}

/// The applications that were asked for.
#[derive(Debug, Default)]
pub struct Selection {
    /// Those that are there, in the order of the arguments, or of the store if there are none; each once.
    pub applications: Vec<Arc<StoredApplication>>,
    /// What could not be chosen. One mistake does not hide the other applications.
    pub errors: Vec<SelectError>,
}

/// An application that was asked for and cannot be had.
#[derive(Debug, thiserror::Error)]
pub enum SelectError {
    /// No such application.
    #[error("no application {name:?} in the store{}", hint(suggestions, left_out.as_deref()))]
    Unknown {
        /// As it was asked for.
        name: String,
        /// Names that look alike, best first.
        suggestions: Vec<String>,
        /// A document of this name that was left out.
        left_out: Option<Box<(Place, SkipReason)>>,
    },
    /// Several namespaces have one.
    #[error("application {name:?} is in several namespaces; say which: {}", candidates.join(", "))]
    Ambiguous {
        /// As it was asked for.
        name: String,
        /// The full names.
        candidates: Vec<String>,
    },
    /// Several documents describe it.
    #[error("application {name:?} is described more than once: {}", places.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "))]
    Duplicate {
        /// Its full name.
        name: String,
        /// Where.
        places: Vec<Place>,
    },
    /// A file or folder without applications.
    #[error("{} has no application", path.display())]
    NoneInPath {
        /// The path.
        path: PathBuf,
    },
    /// Something of ours does not hold, and may be what was asked for.
    #[error(transparent)]
    Broken(Box<Broken>),
    /// A path cannot be opened.
    #[error(transparent)]
    Path(#[from] StoreError),
}

fn hint(suggestions: &[String], left_out: Option<&(Place, SkipReason)>) -> String {
    if let Some((place, reason)) = left_out {
        return format!("; {place} was left out as {reason}");
    }
    match suggestions {
        [] => String::new(),
        _ => format!("; did you mean {}?", suggestions.join(" or ")),
    }
}

impl SelectError {
    fn broken(broken: &Broken) -> Self {
        Self::Broken(Box::new(broken.clone()))
    }
}

impl StoredApplication {
    /// `namespace/name`, or the name alone where the document has no namespace.
    pub fn full_name(&self) -> String {
        let metadata = &self.application.metadata;
        if metadata.namespace.is_empty() {
            metadata.name.clone()
        } else {
            format!("{}/{}", metadata.namespace, metadata.name)
        }
    }

    /// The namespace that the application is in: the control plane's if its document has none.
    pub fn namespace<'a>(&'a self, control_plane: &'a str) -> &'a str {
        match self.application.metadata.namespace.as_str() {
            "" => control_plane,
            namespace => namespace,
        }
    }

    fn key<'a>(&'a self, control_plane: &'a str) -> (&'a str, &'a str) {
        (self.namespace(control_plane), &self.application.metadata.name)
    }
}

impl Store {
    /// Chooses applications: those of the arguments, or all. A broken document is an error if all are asked for, or if what was asked
    /// for is not there. `control_plane` is the namespace of applications that name none.
    pub fn select(&self, arguments: &[ApplicationRef], filter: &Filter, control_plane: &str) -> Selection {
        let mut selection = Selection::default();
        if arguments.is_empty() {
            selection.errors.extend(self.broken.iter().map(SelectError::broken));
            self.choose_all(control_plane, &mut selection);
        }
        for argument in arguments {
            match argument {
                ApplicationRef::Name { namespace, name } => {
                    match self.find(namespace.as_deref(), name, control_plane) {
                        Ok(application) => selection.applications.push(application),
                        Err(error) => selection.errors.push(error),
                    }
                }
                ApplicationRef::Path(path) => match Self::load(&[StoreInput::Path(path.clone())]) {
                    Ok(store) => {
                        selection.errors.extend(store.broken.iter().map(SelectError::broken));
                        if store.applications.is_empty() && store.broken.is_empty() {
                            selection.errors.push(SelectError::NoneInPath { path: path.clone() });
                        }
                        store.choose_all(control_plane, &mut selection);
                    }
                    Err(error) => selection.errors.push(error.into()),
                },
            }
        }
        let mut chosen = HashSet::new();
        selection.applications.retain(|stored| filter.fits(stored) && chosen.insert(stored.place.clone()));
        selection
    }

    /// The one application of a name.
    pub fn find(
        &self,
        namespace: Option<&str>,
        name: &str,
        control_plane: &str,
    ) -> Result<Arc<StoredApplication>, SelectError> {
        let asked = namespace.map_or_else(|| name.to_owned(), |namespace| format!("{namespace}/{name}"));
        let found: Vec<&Arc<StoredApplication>> = self
            .applications
            .iter()
            .filter(|stored| stored.application.metadata.name == name)
            .filter(|stored| namespace.is_none_or(|namespace| stored.namespace(control_plane) == namespace))
            .collect();
        let Some(first) = found.first() else { return Err(self.not_found(asked, namespace, name)) };
        if found.iter().any(|stored| stored.namespace(control_plane) != first.namespace(control_plane)) {
            let mut candidates: Vec<String> =
                found.iter().map(|stored| format!("{}/{name}", stored.namespace(control_plane))).collect();
            candidates.sort();
            candidates.dedup();
            return Err(SelectError::Ambiguous { name: asked, candidates });
        }
        match found[..] {
            [only] => Ok(only.clone()),
            _ => Err(SelectError::Duplicate {
                name: first.full_name(),
                places: found.iter().map(|stored| stored.place.clone()).collect(),
            }),
        }
    }

    fn choose_all(&self, control_plane: &str, selection: &mut Selection) {
        let mut by_name: BTreeMap<(&str, &str), Vec<&Place>> = BTreeMap::new();
        for stored in &self.applications {
            by_name.entry(stored.key(control_plane)).or_default().push(&stored.place);
        }
        for stored in &self.applications {
            match by_name.get(&stored.key(control_plane)).map(Vec::as_slice) {
                Some([_]) | None => selection.applications.push(stored.clone()),
                // The first of them tells of all.
                Some(places @ [first, ..]) if **first == stored.place => {
                    selection.errors.push(SelectError::Duplicate {
                        name: stored.full_name(),
                        places: places.iter().map(|place| (*place).clone()).collect(),
                    });
                }
                Some(_) => {}
            }
        }
    }

    fn not_found(&self, asked: String, namespace: Option<&str>, name: &str) -> SelectError {
        let named = |object: Option<&tiphys_api::ObjectRef>| {
            object.is_some_and(|object| {
                object.kind == "Application"
                    && object.name == name
                    && namespace.is_none_or(|ns| object.namespace == ns)
            })
        };
        if let Some(broken) = self.broken.iter().find(|broken| named(broken.object.as_ref())) {
            return SelectError::broken(broken);
        }
        let left_out = self.skipped.iter().find(|skipped| named(skipped.object.as_ref()));
        // A file that cannot be parsed may be the one that has it.
        if left_out.is_none()
            && let Some(broken) = self.broken.iter().find(|broken| broken.object.is_none())
        {
            return SelectError::broken(broken);
        }
        let names: Vec<String> = self
            .applications
            .iter()
            .map(|stored| {
                if namespace.is_some() {
                    stored.full_name()
                } else {
                    stored.application.metadata.name.clone()
                }
            })
            .collect();
        let suggestions = tiphys_params::suggest(&asked, names.iter().map(String::as_str));
        SelectError::Unknown {
            suggestions: suggestions.into_iter().map(str::to_owned).collect(),
            left_out: left_out.map(|skipped| Box::new((skipped.place.clone(), skipped.reason.clone()))),
            name: asked,
        }
    }
}

impl Filter {
    /// Whether an application is meant.
    pub fn fits(&self, stored: &StoredApplication) -> bool {
        let application = &stored.application;
        self.project.as_deref().is_none_or(|project| application.spec.project_name() == project)
            && self.selector.matches(&application.metadata.labels)
    }
}

#[cfg(test)]
mod tests;
