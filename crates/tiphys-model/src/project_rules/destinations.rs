//! The clusters and namespaces that a project permits.

use crate::resources::{AppProject, ArgoCdSecret, ProjectDestination, SecretType};
use tiphys_go::glob::{Glob, Slash};

use crate::project_rules::{RuleError, RuleProblem};

/// Prefix of a pattern that denies.
pub(crate) const NEGATION: char = '!';

/// A cluster of a destination.
///
/// `None` is a value that is not known, because no cluster Secret was read: only the pattern `*` permits it, and every denial applies that
/// could. An empty string is a cluster without the value, which no pattern matches.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cluster {
    /// URL of the API server.
    pub server: Option<String>,
    /// Name.
    pub name: Option<String>,
}

/// A cluster Secret, as far as projects are concerned.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProjectCluster {
    /// URL of the API server.
    pub server: String,
    /// Name; empty if the Secret has none.
    pub name: String,
    /// The project whose applications alone may use the cluster; empty for all projects.
    pub project: String,
    /// The namespaces that Argo CD manages there; empty for all.
    pub namespaces: Vec<String>,
    /// Why Argo CD cannot decode the connection settings. It does not find the cluster for destinations then.
    pub config_problem: Option<String>,
}

/// The compiled destinations of a project and its global ones, and the clusters.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Destinations {
    items: Vec<Item>,
    /// Clusters of this project, which are destinations without an entry.
    own_clusters: Vec<ProjectCluster>,
    /// Clusters of other projects.
    foreign_clusters: Vec<ProjectCluster>,
    requires_own_cluster: bool,
}

#[derive(Clone, Debug, PartialEq)]
struct Item {
    server: Pattern,
    name: Pattern,
    namespace: Pattern,
}

/// A glob that may deny: after `!` it matches everything else.
#[derive(Clone, Debug, PartialEq)]
struct Pattern {
    glob: Glob,
    is_denial: bool,
    /// Whether it is `*`, the only pattern that matches an unknown value.
    is_all: bool,
    is_empty: bool,
}

impl ProjectCluster {
    /// Returns the cluster of a Secret; `None` if the Secret has another type. A slash at the end of the URL is removed, as in Argo CD, and
    /// so is white space around URL and name: editors add line breaks. The name of the project is compared as it is, as in Argo CD.
    ///
    /// This is the only decoder of these values: a reader of clusters with another one would read clusters that the rules do not know.
    pub fn of_secret(secret: &ArgoCdSecret) -> Option<Self> {
        let value = |key: &str| {
            let value =
                secret.values.get(key).map(|value| String::from_utf8_lossy(value.expose()).into_owned());
            value.unwrap_or_default()
        };
        let namespaces = value("namespaces");
        (secret.secret_type == SecretType::Cluster).then(|| Self {
            server: value("server").trim().trim_end_matches('/').to_owned(),
            name: value("name").trim().to_owned(),
            project: value("project"),
            namespaces: namespaces
                .split(',')
                .map(str::trim)
                .filter(|namespace| !namespace.is_empty())
                .map(str::to_owned)
                .collect(),
            config_problem: secret.cluster_config_problem(),
        })
    }
}

impl Cluster {
    /// Whether this is the cluster of a Secret, by URL or by name. Empty and unknown values equal nothing.
    fn is(&self, other: &ProjectCluster) -> bool {
        let equals = |own: &Option<String>, other: &str| !other.is_empty() && own.as_deref() == Some(other);
        equals(&self.server, &other.server) || equals(&self.name, &other.name)
    }

    /// Returns the cluster as messages name it.
    pub(crate) fn shown(&self) -> String {
        match (self.server.as_deref(), self.name.as_deref()) {
            (None | Some(""), Some(name)) if !name.is_empty() => format!("name '{name}'"),
            (server, _) => format!("server '{}'", server.unwrap_or_default()),
        }
    }
}

impl Destinations {
    /// Compiles the destinations of a project, which is first, and of its global projects.
    pub(crate) fn new<'a>(
        project: &AppProject,
        projects: impl Iterator<Item = &'a AppProject>,
        clusters: &[ProjectCluster],
    ) -> Result<Self, RuleError> {
        let mut items = Vec::new();
        for project in projects {
            for (index, destination) in project.spec.destinations.iter().enumerate() {
                items.push(Item::new(project, index, destination)?);
            }
        }
        let (own_clusters, foreign_clusters) = clusters
            .iter()
            .filter(|cluster| !cluster.project.is_empty())
            .cloned()
            .partition(|cluster| cluster.project == project.metadata.name);
        let requires_own_cluster = project.spec.permit_only_project_scoped_clusters;
        Ok(Self { items, own_clusters, foreign_clusters, requires_own_cluster })
    }

    /// Whether a cluster and a namespace are permitted (Argo CD's `IsDestinationPermitted`).
    pub(crate) fn permit(&self, cluster: &Cluster, namespace: &str) -> bool {
        let is_destination = |own: &ProjectCluster| {
            let is_cluster = match cluster.server.as_deref() {
                Some(server) => server == own.server && !server.is_empty(),
                None => cluster.is(own),
            };
            is_cluster && (own.namespaces.is_empty() || own.namespaces.iter().any(|one| one == namespace))
        };
        let matched = self.own_clusters.iter().any(is_destination)
            || self.items.iter().any(|item| item.matches(cluster, namespace));
        matched
            && !self.items.iter().any(|item| item.denies(cluster, namespace))
            && !self.foreign_clusters.iter().any(|foreign| cluster.is(foreign))
            && (!self.requires_own_cluster || self.own_clusters.iter().any(|own| cluster.is(own)))
    }

    /// Whether some namespace of a cluster is permitted. Asks for an example of each pattern, so that `true` is always right.
    pub(crate) fn permit_cluster(&self, cluster: &Cluster) -> bool {
        let named = self.own_clusters.iter().flat_map(|own| own.namespaces.iter().cloned());
        let examples = self.items.iter().filter_map(|item| item.namespace.glob.example());
        let any = std::iter::once("any-namespace".to_owned());
        named.chain(examples).chain(any).any(|namespace| self.permit(cluster, &namespace))
    }
}

impl Item {
    fn new(project: &AppProject, index: usize, destination: &ProjectDestination) -> Result<Self, RuleError> {
        let compile = |field: &str, pattern: &str| {
            Pattern::new(pattern).map_err(|problem| RuleError {
                project: project.metadata.name.clone(),
                field: format!("spec.destinations[{index}].{field}"),
                problem,
            })
        };
        Ok(Self {
            server: compile("server", &destination.server)?,
            name: compile("name", &destination.name)?,
            namespace: compile("namespace", &destination.namespace)?,
        })
    }

    fn matches(&self, cluster: &Cluster, namespace: &str) -> bool {
        let is_cluster =
            self.server.matches(cluster.server.as_deref()) || self.name.matches(cluster.name.as_deref());
        is_cluster && self.namespace.accepts(namespace)
    }

    /// Whether the entry denies a destination, whatever other entries permit. As in Argo CD, a denied name or server denies the namespaces
    /// of the entry, also in a cluster without a name. Unlike there, a denial also applies if the other value of the entry matches.
    fn denies(&self, cluster: &Cluster, namespace: &str) -> bool {
        let (server, name) = (cluster.server.as_deref(), cluster.name.as_deref());
        let is_in_namespace = self.namespace.accepts(namespace);
        let matches = self.matches(cluster, namespace);
        let denied = |pattern: &Pattern, value: Option<&str>| {
            pattern.is_denial && !pattern.matches(value) && (!matches || value != Some(""))
        };
        if is_in_namespace {
            return denied(&self.name, name) || denied(&self.server, server);
        }
        self.namespace.is_denial && (self.server.may_match(server) || self.name.may_match(name))
    }
}

impl Pattern {
    fn new(pattern: &str) -> Result<Self, RuleProblem> {
        let denied = pattern.strip_prefix(NEGATION);
        if denied == Some("*") {
            return Err(RuleProblem::DeniesAll);
        }
        Ok(Self {
            glob: Glob::new(denied.unwrap_or(pattern), Slash::Ordinary)?,
            is_denial: denied.is_some(),
            is_all: pattern == "*",
            is_empty: pattern.is_empty(),
        })
    }

    /// Whether the pattern matches a string. A denial matches what it does not deny.
    fn accepts(&self, value: &str) -> bool {
        self.glob.matches(value) != self.is_denial
    }

    /// Whether the pattern matches a value of a cluster.
    fn matches(&self, value: Option<&str>) -> bool {
        match value {
            None => self.is_all,
            Some(value) => !value.is_empty() && self.accepts(value),
        }
    }

    /// Whether the pattern matches a value of a cluster, or could match one that is not known.
    fn may_match(&self, value: Option<&str>) -> bool {
        if value.is_none() { !self.is_empty } else { self.matches(value) }
    }
}

#[cfg(test)]
mod tests;
