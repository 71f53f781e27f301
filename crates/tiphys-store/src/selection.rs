//! Selecting applications of a store.

use std::collections::{BTreeMap, HashSet};
use std::path::PathBuf;
use std::sync::Arc;

use crate::{
    ApplicationRef, Broken, Place, Selector, SkipReason, Store, StoreError, StoreInput, StoredApplication,
};

/// Part of names that contain an unrendered template.
pub const TEMPLATE_MARK: &str = "{{";

/// A filter on the selected applications.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// `-l`.
    pub selector: Selector,
    /// `--project`.
    pub project: Option<String>,
}

/// The selected applications.
#[derive(Debug, Default)]
pub struct Selection {
    /// The applications, in the order of the arguments, else of the store, without duplicates.
    pub applications: Vec<Arc<StoredApplication>>,
    /// The errors. An error does not affect other applications.
    pub errors: Vec<SelectError>,
}

/// The reason why an application cannot be selected.
#[derive(Debug, thiserror::Error)]
pub enum SelectError {
    /// No application has this name.
    #[error("application {name:?} not found in the store{}", hint(suggestions, left_out.as_deref()))]
    Unknown {
        /// The name as given.
        name: String,
        /// Similar names, best first.
        suggestions: Vec<String>,
        /// A document with this name that was skipped.
        left_out: Option<Box<(Place, SkipReason)>>,
    },
    /// Applications in several namespaces have this name.
    #[error("application {name:?} exists in several namespaces; add one: {}", candidates.join(", "))]
    Ambiguous {
        /// The name as given.
        name: String,
        /// The full names.
        candidates: Vec<String>,
    },
    /// Several documents define the application.
    #[error("application {name:?} is defined more than once: {}", places.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "))]
    Duplicate {
        /// Its full name.
        name: String,
        /// The locations.
        places: Vec<Place>,
    },
    /// A file or directory without applications.
    #[error("{} has no application", path.display())]
    NoneInPath {
        /// The path.
        path: PathBuf,
    },
    /// A broken document that may define the requested application.
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
    /// Returns `namespace/name`, or only the name if the document has no namespace.
    pub fn full_name(&self) -> String {
        let metadata = &self.application.metadata;
        if metadata.namespace.is_empty() {
            metadata.name.clone()
        } else {
            format!("{}/{}", metadata.namespace, metadata.name)
        }
    }

    /// Returns the namespace of the application: that of the control plane if its document has none.
    pub fn namespace<'a>(&'a self, control_plane: &'a str) -> &'a str {
        match self.application.metadata.namespace.as_str() {
            "" => control_plane,
            namespace => namespace,
        }
    }

    /// Returns namespace and name.
    pub fn owned_key(&self, control_plane: &str) -> (String, String) {
        let (namespace, name) = self.key(control_plane);
        (namespace.to_owned(), name.to_owned())
    }

    fn key<'a>(&'a self, control_plane: &'a str) -> (&'a str, &'a str) {
        (self.namespace(control_plane), &self.application.metadata.name)
    }
}

impl Store {
    /// Selects applications: those of the arguments, or all, and those that selected ones render. A broken document is an error if all are selected, or if a requested
    /// application is not found. `control_plane` is the namespace of applications without one.
    pub fn select(&self, arguments: &[ApplicationRef], filter: &Filter, control_plane: &str) -> Selection {
        let mut selection = Selection::default();
        if arguments.is_empty() {
            self.choose_with_errors(control_plane, &mut selection);
        }
        for argument in arguments {
            match argument {
                ApplicationRef::Name { namespace, name } => {
                    match self.find(namespace.as_deref(), name, control_plane) {
                        Ok(application) => selection.applications.push(application),
                        Err(error) => selection.errors.push(error),
                    }
                }
                ApplicationRef::Path(path) => match self.paths.get(path) {
                    // Without applications, there are reports about its sets.
                    Some(store) => store.choose_with_errors(control_plane, &mut selection),
                    None => match Self::load(&[StoreInput::Path(path.clone())]) {
                        Ok(store) => {
                            if store.applications.is_empty() && store.broken.is_empty() {
                                selection.errors.push(SelectError::NoneInPath { path: path.clone() });
                            }
                            store.choose_with_errors(control_plane, &mut selection);
                        }
                        Err(error) => selection.errors.push(error.into()),
                    },
                },
            }
        }
        let mut chosen = HashSet::new();
        selection.applications.retain(|stored| {
            filter.fits(stored) && chosen.insert((stored.place.to_string(), stored.full_name()))
        });
        self.add_rendered_by(&mut selection.applications, control_plane);
        selection
    }

    /// Returns the only application with this name.
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

    fn choose_with_errors(&self, control_plane: &str, selection: &mut Selection) {
        selection.errors.extend(self.broken.iter().map(SelectError::broken));
        self.choose_all(control_plane, selection);
    }

    fn choose_all(&self, control_plane: &str, selection: &mut Selection) {
        let mut by_name: BTreeMap<(&str, &str), Vec<&Place>> = BTreeMap::new();
        for stored in &self.applications {
            by_name.entry(stored.key(control_plane)).or_default().push(&stored.place);
        }
        for stored in &self.applications {
            let key = stored.key(control_plane);
            match by_name.get(&key).map(Vec::as_slice) {
                Some([_]) => selection.applications.push(stored.clone()),
                // One error for the first of them lists all.
                Some(places) => {
                    let mut places: Vec<Place> = places.iter().map(|place| (*place).clone()).collect();
                    places.dedup();
                    selection.errors.push(SelectError::Duplicate { name: stored.full_name(), places });
                    by_name.remove(&key);
                }
                None => {}
            }
        }
    }

    fn not_found(&self, asked: String, namespace: Option<&str>, name: &str) -> SelectError {
        let named = |object: Option<&tiphys_model::resources::ObjectRef>| {
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
        // A file that cannot be parsed may contain the application.
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
        let suggestions = tiphys_model::params::suggest(&asked, names.iter().map(String::as_str));
        SelectError::Unknown {
            suggestions: suggestions.into_iter().map(str::to_owned).collect(),
            left_out: left_out.map(|skipped| Box::new((skipped.place.clone(), skipped.reason.clone()))),
            name: asked,
        }
    }
}

impl Filter {
    /// Returns whether the filter accepts an application.
    pub fn fits(&self, stored: &StoredApplication) -> bool {
        let application = &stored.application;
        self.project.as_deref().is_none_or(|project| application.spec.project_name() == project)
            && self.selector.matches(&application.metadata.labels)
    }
}

#[cfg(test)]
mod tests;
