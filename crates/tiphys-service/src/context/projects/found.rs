//! The projects that count: those of the control plane, one for each name, and the global ones.

use std::collections::BTreeMap;

use tiphys_model::resources::{AppProject, ArgoCdSettings, GlobalProject, ObjectRef};
use tiphys_store::{Origin, Place, Store as Resources, StoredProject};

use crate::text::listed;
use crate::warning::Warning;

/// A project of the store, or why its name has no rules.
pub(super) type FoundProject<'a> = Result<&'a StoredProject, String>;

/// Returns the projects in the control plane's namespace. Those of other namespaces do not count, as in Argo CD.
pub(super) fn in_control_plane<'a>(
    resources: &'a Resources,
    control_plane: &str,
    warnings: &mut Vec<Warning>,
) -> Vec<&'a StoredProject> {
    let (counted, others): (Vec<_>, Vec<_>) = resources.projects().iter().partition(|stored| {
        let namespace = &stored.project.metadata.namespace;
        namespace.is_empty() || namespace == control_plane
    });
    warnings.extend(others.into_iter().map(|stored| {
        let metadata = &stored.project.metadata;
        Warning::new(format!(
            "project {} ({}) does not count: it is in namespace {}, and the control plane is in {control_plane}",
            metadata.name, stored.place, metadata.namespace
        ))
    }));
    counted
}

/// Chooses the project of each name: the caller's before one of a repository. Two of one origin are an error, and so is a name of which only
/// invalid documents were found.
pub(super) fn chosen<'a>(
    projects: &[&'a StoredProject],
    resources: &'a Resources,
    warnings: &mut Vec<Warning>,
) -> BTreeMap<&'a str, FoundProject<'a>> {
    let mut by_name: BTreeMap<&str, Candidates<'_>> = BTreeMap::new();
    for project in projects {
        let candidates = by_name.entry(&project.project.metadata.name).or_default();
        candidates.of(&project.place).valid.push(project);
    }
    for (name, place, reason) in invalid_projects(resources) {
        by_name.entry(name).or_default().of(place).invalid.push(reason);
    }
    for (name, Candidates { own, of_repositories }) in &by_name {
        if let Some(own) = own.valid.first() {
            warnings.extend(of_repositories.valid.iter().map(|project| {
                Warning::new(format!(
                    "project {name}: {} counts, and what {} restricts does not",
                    own.place, project.place
                ))
            }));
        }
    }
    by_name.into_iter().map(|(name, candidates)| (name, candidates.choose())).collect()
}

/// The documents of one project's name.
#[derive(Default)]
struct Candidates<'a> {
    own: OfOneOrigin<'a>,
    of_repositories: OfOneOrigin<'a>,
}

#[derive(Default)]
struct OfOneOrigin<'a> {
    valid: Vec<&'a StoredProject>,
    invalid: Vec<String>,
}

impl<'a> Candidates<'a> {
    fn of(&mut self, place: &Place) -> &mut OfOneOrigin<'a> {
        if place.origin().widens() { &mut self.own } else { &mut self.of_repositories }
    }

    fn choose(self) -> FoundProject<'a> {
        let is_own = !self.own.valid.is_empty() || !self.own.invalid.is_empty();
        let OfOneOrigin { valid, invalid } = if is_own { self.own } else { self.of_repositories };
        match &valid[..] {
            [] => Err(invalid.join("; ")),
            [only] => Ok(only),
            several => {
                let places: Vec<String> = several.iter().map(|stored| stored.place.to_string()).collect();
                Err(format!("several projects have this name: {}", listed(&places)))
            }
        }
    }
}

/// Returns name, place and problem of each document of a project that is invalid, or only a part of one.
fn invalid_projects(resources: &Resources) -> impl Iterator<Item = (&str, &Place, String)> {
    let broken = resources.broken().iter().filter_map(|broken| {
        Some((project_name(broken.object.as_ref()?)?, &broken.place, broken.to_string()))
    });
    let partial = resources.skipped().iter().filter_map(|skipped| {
        let reason = format!("{}: {}", skipped.place, skipped.reason);
        Some((project_name(skipped.object.as_ref()?)?, &skipped.place, reason))
    });
    broken.chain(partial)
}

fn project_name(object: &ObjectRef) -> Option<&str> {
    (object.kind == "AppProject" && !object.name.is_empty()).then_some(object.name.as_str())
}

/// The projects whose rules also apply to others.
pub(super) struct Globals<'a> {
    pub(super) settings: &'a ArgoCdSettings,
    /// The origin of these settings.
    pub(super) origin: Origin,
    pub(super) by_name: &'a BTreeMap<&'a str, FoundProject<'a>>,
}

impl<'a> Globals<'a> {
    /// Returns the global projects of a project. Unlike in Argo CD, one that cannot be read is an error: its restrictions would not apply.
    pub(super) fn of(&self, project: &AppProject) -> Result<Vec<&'a StoredProject>, String> {
        let globals = self.settings.global_projects.as_ref();
        let globals = globals.map_err(|error| format!("globalProjects of argocd-cm: {error}"))?;
        let applies = |global: &&GlobalProject| {
            global.project_name != project.metadata.name
                && global.label_selector.matches(&project.metadata.labels)
        };
        globals
            .iter()
            .filter(applies)
            .map(|global| match self.by_name.get(global.project_name.as_str()) {
                Some(Ok(stored)) => Ok(*stored),
                Some(Err(reason)) => Err(format!("global project {}: {reason}", global.project_name)),
                None => Err(format!("the global project {} was not found", global.project_name)),
            })
            .collect()
    }
}
