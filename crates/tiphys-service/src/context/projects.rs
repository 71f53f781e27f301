//! The projects of a store, and what their rules decide about an application before it is rendered.

mod found;
mod known_clusters;
mod objects;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use tiphys_model::access::{KnownRepositories, RepositoryAccess};
use tiphys_model::project_rules::{
    Cluster, PermittedBy, ProjectCluster, ProjectRules, Refused, unenforced_fields,
};
use tiphys_model::resources::{
    AppProject, Application, ApplicationSource, ArgoCdSettings, DEFAULT_PROJECT, Destination, InCluster,
};
use tiphys_store::{Origin, Place, Store as Resources, StoredApplication, StoredProject};

use self::found::{FoundProject, Globals};
pub(crate) use self::known_clusters::KnownClusters;
use crate::context::options::{ProjectEnforcement, ServiceOptions};
use crate::error::{Remedy, ServiceError};
use crate::findings;
use crate::warning::Warning;

/// An entry of a project's list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProjectRule {
    /// The project that has the list: the asked or a global one.
    pub project: String,
    /// The list's name.
    pub list: &'static str,
    /// The index of the entry, from 0. `None` for an absent list that permits everything.
    pub index: Option<usize>,
}

impl From<&PermittedBy> for ProjectRule {
    fn from(rule: &PermittedBy) -> Self {
        Self { project: rule.project.clone(), list: rule.list, index: rule.index }
    }
}

/// Inputs of the rules of projects.
#[derive(Clone, Copy)]
pub(crate) struct ProjectInputs<'a> {
    pub(crate) options: &'a ServiceOptions,
    pub(crate) resources: &'a Resources,
    /// The effective `argocd-cm`.
    pub(crate) settings: &'a ArgoCdSettings,
    /// The origin of these settings.
    pub(crate) origin: Origin,
    /// The repositories of the caller.
    pub(crate) known: &'a KnownRepositories,
    /// The live clusters of the options.
    pub(crate) live_clusters: &'a [ProjectCluster],
    /// The control plane's namespace.
    pub(crate) control_plane: &'a str,
}

/// The projects of a store.
#[derive(Debug)]
pub(crate) struct Projects {
    by_name: BTreeMap<String, Project>,
    clusters: KnownClusters,
    /// Repositories of projects, which need no pattern of `sourceRepos`.
    scoped_repositories: Vec<RepositoryAccess>,
    control_plane: String,
    enforcement: ProjectEnforcement,
    /// Whether applications of projects that were not found are refused.
    refuses_missing: bool,
    /// Whether applications that Argo CD refuses are.
    is_strict: bool,
}

/// A project.
#[derive(Clone, Debug)]
enum Project {
    Valid {
        rules: Box<ProjectRules>,
        origin: ProjectOrigin,
        warning: Option<String>,
    },
    /// It permits nothing.
    Invalid {
        reason: String,
    },
}

/// Where a project is from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ProjectOrigin {
    /// The caller chose it, and its global projects. Only such a project permits look-ups in live clusters.
    Caller,
    /// A repository that is rendered.
    Repository,
    /// Argo CD creates it if it is missing.
    Shipped,
}

impl Projects {
    /// Checks the projects of a store.
    pub(crate) fn new(inputs: &ProjectInputs<'_>, warnings: &mut Vec<Warning>) -> Self {
        let ProjectInputs { options, resources, settings, origin, known, live_clusters, control_plane } =
            *inputs;
        let clusters = KnownClusters::new(resources, live_clusters, settings.in_cluster, warnings);
        let counted = found::in_control_plane(resources, control_plane, warnings);
        let by_name = found::chosen(&counted, resources, warnings);
        let globals = Globals { settings, origin, by_name: &by_name };
        let enforcement = options.project_rules;
        let checked = |found: &FoundProject<'_>| {
            let project = match found {
                Ok(stored) => Project::new(stored, &globals, &clusters),
                Err(reason) => Project::Invalid { reason: reason.clone() },
            };
            if enforcement == ProjectEnforcement::Warn { project.without_look_ups() } else { project }
        };
        let mut projects: BTreeMap<String, Project> =
            by_name.iter().map(|(name, found)| ((*name).to_owned(), checked(found))).collect();
        projects.entry(DEFAULT_PROJECT.to_owned()).or_insert_with(|| Project::shipped_default(&clusters));
        let scoped = known.repositories.iter().filter(|repository| !repository.project.is_empty());
        Self {
            by_name: projects,
            clusters,
            scoped_repositories: scoped.cloned().collect(),
            control_plane: control_plane.to_owned(),
            enforcement,
            refuses_missing: options.refuses_missing_projects(),
            is_strict: options.strict,
        }
    }

    /// Returns the projects of the base of a comparison, and those that only the head has, which permit no look-ups.
    #[must_use]
    pub(crate) fn at_base(base: &Self, head: &Self) -> Self {
        let mut projects: BTreeMap<String, Project> =
            head.by_name.iter().map(|(name, project)| (name.clone(), project.without_look_ups())).collect();
        // If the base has no project `default` of its own, that of the head stays.
        let is_rule =
            |(name, project): &(&String, &Project)| !project.is_shipped() || !projects.contains_key(*name);
        let of_base: Vec<(String, Project)> = base
            .by_name
            .iter()
            .filter(is_rule)
            .map(|(name, project)| (name.clone(), project.clone()))
            .collect();
        projects.extend(of_base);
        Self {
            by_name: projects,
            clusters: base.clusters.clone(),
            scoped_repositories: base.scoped_repositories.clone(),
            control_plane: base.control_plane.clone(),
            enforcement: base.enforcement,
            refuses_missing: base.refuses_missing,
            is_strict: base.is_strict,
        }
    }

    /// Whether a project does not exist, and missing ones are refused.
    pub(crate) fn is_refused_as_missing(&self, name: &str) -> bool {
        self.refuses_missing && !self.by_name.contains_key(name)
    }

    /// Returns the repositories that each project permits, by its name.
    pub(crate) fn source_repos(&self) -> BTreeMap<String, Vec<String>> {
        let repos = |project: &Project| match project {
            Project::Valid { rules, .. } => rules.source_repos().to_vec(),
            Project::Invalid { .. } => Vec::new(),
        };
        self.by_name.iter().map(|(name, project)| (name.clone(), repos(project))).collect()
    }

    /// Returns the rules of an application's project. None if the project is missing or invalid.
    pub(crate) fn rules(&self, application: &Application) -> Option<&ProjectRules> {
        match self.by_name.get(application.spec.project_name()) {
            Some(Project::Valid { rules, .. }) => Some(rules),
            Some(Project::Invalid { .. }) | None => None,
        }
    }

    /// Returns whether an application's project may permit look-ups in live clusters: if the caller chose it.
    pub(crate) fn permits_live(&self, application: &Application) -> bool {
        let project = self.by_name.get(application.spec.project_name());
        matches!(project, Some(Project::Valid { origin: ProjectOrigin::Caller, .. }))
    }

    /// Returns the cluster of a destination, with its name and its URL if both are known.
    pub(crate) fn cluster(&self, destination: &Destination) -> Cluster {
        self.clusters.of(destination)
    }

    /// Returns whether the cluster in which Argo CD runs may be a destination.
    pub(crate) fn in_cluster(&self) -> InCluster {
        self.clusters.in_cluster()
    }

    /// Returns the warnings about the projects of applications, one for each project.
    pub(crate) fn warnings(&self, applications: &[Arc<StoredApplication>]) -> Vec<Warning> {
        let names: BTreeSet<&str> =
            applications.iter().map(|stored| stored.application.spec.project_name()).collect();
        let warning = |name: &str| match self.by_name.get(name) {
            Some(Project::Valid { warning, .. }) => warning.clone().map(Warning::from),
            Some(Project::Invalid { .. }) => None,
            None => Some(
                Warning::new(format!("project {name} was not found, so its rules are not applied"))
                    .with_remedy(Remedy::NameProjects),
            ),
        };
        names.into_iter().filter_map(warning).collect()
    }

    /// Checks an application before anything of it is fetched: whether Argo CD accepts its document, then its namespace, sources and
    /// destination. Returns what is only reported.
    pub(crate) fn check_application(&self, stored: &StoredApplication) -> Result<Vec<Warning>, ServiceError> {
        if self.is_strict
            && let Some(error) = findings::refusal(stored)
        {
            return Err(error);
        }
        let mut warnings = Vec::new();
        if let Some(refusal) = self.clusters.refusal(&stored.application.spec.destination) {
            if self.enforcement == ProjectEnforcement::Enforce {
                return Err(at(stored, "destination", &refusal, ServiceError::forbidden));
            }
            warnings.push(Warning::of_application(stored, refusal));
        }
        warnings.extend(self.check_project(stored)?);
        Ok(warnings)
    }

    fn check_project(&self, stored: &StoredApplication) -> Result<Vec<Warning>, ServiceError> {
        let application = &stored.application;
        let name = application.spec.project_name();
        match self.by_name.get(name) {
            Some(Project::Valid { rules, .. }) => {
                let refused = self.refusals(rules, application);
                let refused = self.decided(stored, refused.iter().map(ToString::to_string).collect())?;
                Ok(Warning::all_of_application(stored, refused).collect())
            }
            Some(Project::Invalid { reason }) => {
                let message = format!("project {name} is invalid and permits nothing: {reason}");
                match self.enforcement {
                    ProjectEnforcement::Enforce => {
                        Err(at(stored, "project", &message, ServiceError::invalid_input))
                    }
                    ProjectEnforcement::Warn => Ok(vec![Warning::of_application(stored, message)]),
                }
            }
            None if self.refuses_missing => Err(at(
                stored,
                "project",
                &format!("project {name} was not found"),
                ServiceError::invalid_input,
            )),
            None => Ok(Vec::new()),
        }
    }

    /// Checks that these projects still have that of an application, if earlier ones do. Returns what is only reported.
    pub(crate) fn check_kept(
        &self,
        stored: &StoredApplication,
        earlier: &Self,
    ) -> Result<Vec<Warning>, ServiceError> {
        let name = stored.application.spec.project_name();
        if self.by_name.contains_key(name) || !earlier.by_name.contains_key(name) {
            return Ok(Vec::new());
        }
        let removed = vec![format!("project {name} is removed, so it permits nothing")];
        let reported = self.decided(stored, removed);
        let reported = reported.map_err(|error| error.with_remedy(Remedy::NameProjects))?;
        Ok(Warning::all_of_application(stored, reported).collect())
    }

    /// Returns whether an application may use its sources and its destination.
    pub(crate) fn permits_application(&self, application: &Application) -> bool {
        self.clusters.refusal(&application.spec.destination).is_none()
            && self.rules(application).is_some_and(|rules| self.refusals(rules, application).is_empty())
    }

    fn refusals(&self, rules: &ProjectRules, application: &Application) -> Vec<Refused> {
        let Application { metadata, spec, .. } = application;
        let namespace = if metadata.namespace.is_empty() {
            self.control_plane.as_str()
        } else {
            metadata.namespace.as_str()
        };
        let of_namespace = rules.permits_application_in(namespace, &metadata.name, &self.control_plane);
        let is_own = |url: &str| {
            let of_project = |one: &&RepositoryAccess| one.project == rules.project();
            self.scoped_repositories.iter().filter(of_project).any(|one| one.is_at(url))
        };
        let source = |source: &ApplicationSource| {
            rules.permits_source(&source.repo_url).err().filter(|_| !is_own(&source.repo_url))
        };
        let cluster = self.cluster(&spec.destination);
        let of_destination = rules.permits_destination(&cluster, &spec.destination.namespace);
        let sources = spec.effective_sources().iter().filter_map(source);
        of_namespace.err().into_iter().chain(sources).chain(of_destination.err()).collect()
    }

    /// Converts refusals to an error or to warnings.
    fn decided(&self, stored: &StoredApplication, refused: Vec<String>) -> Result<Vec<String>, ServiceError> {
        match self.enforcement {
            _ if refused.is_empty() => Ok(Vec::new()),
            ProjectEnforcement::Enforce => {
                let error = at(stored, "project", &refused.join("; "), ServiceError::forbidden);
                let project = self.by_name.get(stored.application.spec.project_name());
                let is_shipped = project.is_some_and(Project::is_shipped);
                Err(error.with_remedy(is_shipped.then_some(Remedy::NameProjects)))
            }
            ProjectEnforcement::Warn => Ok(refused),
        }
    }
}

impl Project {
    fn is_shipped(&self) -> bool {
        matches!(self, Self::Valid { origin: ProjectOrigin::Shipped, .. })
    }

    fn new(stored: &StoredProject, globals: &Globals<'_>, clusters: &KnownClusters) -> Self {
        let project = &stored.project;
        let of_settings = globals.origin;
        let globals = match globals.of(project) {
            Ok(globals) => globals,
            Err(reason) => return Self::Invalid { reason },
        };
        let global_projects: Vec<&AppProject> = globals.iter().map(|global| &global.project).collect();
        match ProjectRules::new(project, &global_projects, clusters.scoped()) {
            Ok(rules) => {
                let unenforced = unenforced_fields(project);
                let warning = (!unenforced.is_empty()).then(|| {
                    format!(
                        "project {} ({}) restricts {}: this is not enforced yet",
                        project.metadata.name,
                        stored.place,
                        unenforced.join(", ")
                    )
                });
                // A rendered repository must not widen what may be read: neither with a project nor with a global one.
                let mut all = globals.iter().chain([&stored]).map(|project| project.place.origin());
                let permits = all.all(Origin::permits_look_ups)
                    && (globals.is_empty() || of_settings.permits_look_ups());
                let origin = if permits { ProjectOrigin::Caller } else { ProjectOrigin::Repository };
                Self::Valid { rules: Box::new(rules), origin, warning }
            }
            Err(error) => Self::Invalid { reason: format!("{error} ({})", stored.place) },
        }
    }

    fn without_look_ups(&self) -> Self {
        match self.clone() {
            Self::Valid { rules, origin, warning } => {
                Self::Valid { rules: Box::new(rules.without_look_ups()), origin, warning }
            }
            invalid @ Self::Invalid { .. } => invalid,
        }
    }

    /// Returns the project `default` that Argo CD creates. The caller has not chosen it, so it permits no look-ups.
    fn shipped_default(clusters: &KnownClusters) -> Self {
        match ProjectRules::new(&AppProject::shipped_default(), &[], clusters.scoped()) {
            Ok(rules) => {
                let rules = Box::new(rules.without_look_ups());
                Self::Valid { rules, origin: ProjectOrigin::Shipped, warning: None }
            }
            Err(error) => Self::Invalid { reason: error.to_string() },
        }
    }
}

/// Returns the error of an application at a field of its `spec`.
fn at(
    stored: &StoredApplication,
    field: &str,
    message: &str,
    kind: impl Fn(String) -> ServiceError,
) -> ServiceError {
    let position = stored.node.at(["spec", field]).map(|node| node.position);
    let place = Place { position: position.or(stored.place.position), ..stored.place.clone() };
    kind(message.to_owned()).in_application(stored, &place)
}

#[cfg(test)]
mod tests;
