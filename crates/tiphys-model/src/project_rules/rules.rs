//! The rules of a project, compiled once and asked often.

use crate::access::{normalize_git_url, redact_url};
use crate::resources::AppProject;
use tiphys_go::glob::{Glob, Slash};

use crate::project_rules::application_namespaces::NamespacePattern;
use crate::project_rules::destinations::{Destinations, NEGATION};
use crate::project_rules::kinds::{KindLists, KnownScope};
use crate::project_rules::look_ups::{ReadOnlyRules, permitted_by};
use crate::project_rules::{
    Cluster, ObjectIdentity, Permit, ProjectCluster, Refused, RuleError, RuleProblem, Scope, source_permitted,
};

/// The compiled rules of a project and its global projects.
#[derive(Clone, Debug)]
pub struct ProjectRules {
    project: String,
    source_repos: Vec<String>,
    application_namespaces: Vec<NamespacePattern>,
    destinations: Destinations,
    kinds: KindLists,
    read_only: ReadOnlyRules,
    look_ups: LookUps,
}

/// An answer about a kind that is not refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Permission {
    /// The project permits the kind.
    Granted,
    /// The kind's scope is not known, and the project permits it in one scope only. The message says so.
    Reported(String),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LookUps {
    ByRules,
    Never,
}

impl ProjectRules {
    /// Compiles the rules of a project. As in Argo CD (`mergeVirtualProject`), the repositories, destinations and kinds of global projects
    /// are appended, and the read-only lists as well. `clusters` are all clusters that are known, of whatever project.
    pub fn new(
        project: &AppProject,
        globals: &[&AppProject],
        clusters: &[ProjectCluster],
    ) -> Result<Self, RuleError> {
        let projects = || std::iter::once(project).chain(globals.iter().copied());
        for project in projects() {
            check_source_repos(project)?;
        }
        Ok(Self {
            project: project.metadata.name.clone(),
            source_repos: projects().flat_map(|project| project.spec.source_repos.iter().cloned()).collect(),
            application_namespaces: NamespacePattern::of(project)?,
            destinations: Destinations::new(project, projects(), clusters)?,
            kinds: KindLists::new(projects())?,
            read_only: ReadOnlyRules::new(projects())?,
            look_ups: LookUps::ByRules,
        })
    }

    /// Returns the same rules, which permit no look-up: for a project that the caller has not chosen.
    #[must_use]
    pub fn without_look_ups(self) -> Self {
        Self { look_ups: LookUps::Never, ..self }
    }

    /// The project's name.
    pub fn project(&self) -> &str {
        &self.project
    }

    /// The patterns of the repositories that it permits, those of global projects included.
    pub fn source_repos(&self) -> &[String] {
        &self.source_repos
    }

    /// Checks the repository of a source.
    pub fn permits_source(&self, url: &str) -> Result<(), Refused> {
        if source_permitted(&self.source_repos, &[url], &normalize_git_url) {
            return Ok(());
        }
        Err(Refused::Source { url: redact_url(url), project: self.project.clone() })
    }

    /// Checks the namespace of an Application (Argo CD's `IsAppNamespacePermitted`). `control_plane` is Argo CD's own namespace, in which
    /// every Application may use the project.
    pub fn permits_application_in(
        &self,
        namespace: &str,
        name: &str,
        control_plane: &str,
    ) -> Result<(), Refused> {
        if namespace == control_plane
            || self.application_namespaces.iter().any(|pattern| pattern.matches(namespace))
        {
            return Ok(());
        }
        Err(Refused::Application {
            name: name.to_owned(),
            namespace: namespace.to_owned(),
            project: self.project.clone(),
        })
    }

    /// Checks the destination of an Application.
    pub fn permits_destination(&self, cluster: &Cluster, namespace: &str) -> Result<(), Refused> {
        if self.destinations.permit(cluster, namespace) {
            return Ok(());
        }
        Err(Refused::Destination {
            cluster: cluster.shown(),
            namespace: namespace.to_owned(),
            project: self.project.clone(),
        })
    }

    /// Returns whether other rules of the project permit the same objects.
    pub fn permits_equal_objects(&self, other: &Self) -> bool {
        self.destinations == other.destinations && self.kinds == other.kinds
    }

    /// Checks a kind. `name` counts for cluster-scoped objects only.
    pub fn permits_kind(
        &self,
        group: &str,
        kind: &str,
        name: &str,
        scope: Scope,
    ) -> Result<Permission, Refused> {
        let permit = |scope| self.kinds.permit(group, kind, name, scope);
        let refused_as = match scope {
            Scope::Namespaced if permit(KnownScope::Namespaced) => return Ok(Permission::Granted),
            Scope::Cluster if permit(KnownScope::Cluster) => return Ok(Permission::Granted),
            Scope::Unknown => match (permit(KnownScope::Namespaced), permit(KnownScope::Cluster)) {
                (true, true) => return Ok(Permission::Granted),
                (true, false) => Some("cluster-scoped"),
                (false, true) => Some("namespaced"),
                (false, false) => None,
            },
            _ => None,
        };
        let refused =
            Refused::Kind { group: group.to_owned(), kind: kind.to_owned(), project: self.project.clone() };
        match refused_as {
            Some(scope) => Ok(Permission::Reported(format!("{refused} if it is {scope}"))),
            None => Err(refused),
        }
    }

    /// Checks a rendered object: its kind, and unless it is cluster-scoped, its namespace. An object without a namespace must be passed
    /// with that of its destination.
    pub fn check_object(
        &self,
        cluster: &Cluster,
        object: &ObjectIdentity,
        scope: Scope,
    ) -> Result<Permission, Refused> {
        let permission = self.permits_kind(&object.group, &object.kind, &object.name, scope)?;
        let namespace = match (scope, object.namespace.as_deref()) {
            (Scope::Cluster, _) | (Scope::Unknown, None) => return Ok(permission),
            (_, namespace) => namespace.unwrap_or_default(),
        };
        if self.destinations.permit(cluster, namespace) {
            return Ok(permission);
        }
        Err(Refused::Namespace { namespace: namespace.to_owned(), project: self.project.clone() })
    }

    /// Permits an application of the project to read an object of its destination.
    pub fn permit_look_up(&self, destination: &Cluster, object: &ObjectIdentity) -> Result<Permit, Refused> {
        let rule = match self.look_ups {
            LookUps::Never => None,
            LookUps::ByRules => permitted_by(
                &self.project,
                &self.kinds,
                &self.read_only,
                &self.destinations,
                destination,
                object,
            ),
        };
        rule.map(|rule| Permit::new(destination.clone(), object.clone(), rule))
            .ok_or_else(|| Refused::LookUp { object: object.to_string(), project: self.project.clone() })
    }
}

/// Checks that the patterns of `sourceRepos` can be matched, as written and as normalized.
fn check_source_repos(project: &AppProject) -> Result<(), RuleError> {
    for (index, pattern) in project.spec.source_repos.iter().enumerate() {
        let denied = pattern.strip_prefix(NEGATION);
        let pattern = denied.unwrap_or(pattern);
        let problem = match (denied, Glob::new(pattern, Slash::Separator)) {
            (Some("*"), _) => Some(RuleProblem::DeniesAll),
            (_, Err(error)) => Some(error.into()),
            (_, Ok(_)) => {
                Glob::new(&normalize_git_url(pattern), Slash::Separator).err().map(RuleProblem::from)
            }
        };
        if let Some(problem) = problem {
            let project = project.metadata.name.clone();
            return Err(RuleError { project, field: format!("spec.sourceRepos[{index}]"), problem });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
