//! Reading objects of a cluster for dynamic parameters: what a project permits, and the proof of it.

use crate::resources::{AppProject, KindPattern, ReadOnlyLists};
use tiphys_go::glob::{Glob, Slash};

use crate::project_rules::destinations::{Destinations, NEGATION};
use crate::project_rules::kinds::{KindEntry, KindLists, KnownScope};
use crate::project_rules::{Cluster, PermittedBy, RuleError, RuleProblem};

/// An object of a cluster. Its scope comes from the cluster's API discovery, its namespace is complete.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ObjectIdentity {
    /// API group; empty for the core group.
    pub group: String,
    /// Kind.
    pub kind: String,
    /// Namespace; `None` for a cluster-scoped object.
    pub namespace: Option<String>,
    /// Name.
    pub name: String,
}

/// A proof that a project permits an application to read an object of its destination. Only [`crate::project_rules::ProjectRules`] makes one.
#[derive(Debug)]
pub struct Permit {
    destination: Cluster,
    object: ObjectIdentity,
    rule: PermittedBy,
}

impl ObjectIdentity {
    /// Whether this is a `Secret` of the core group.
    pub fn is_secret(&self) -> bool {
        SECRET == (self.group.as_str(), self.kind.as_str())
    }

    fn scope(&self) -> KnownScope {
        if self.namespace.is_some() { KnownScope::Namespaced } else { KnownScope::Cluster }
    }
}

impl std::fmt::Display for ObjectIdentity {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { group, kind, namespace, name } = self;
        f.write_str(kind)?;
        if !group.is_empty() {
            write!(f, ".{group}")?;
        }
        match namespace {
            Some(namespace) => write!(f, " {namespace}/{name}"),
            None => write!(f, " {name}"),
        }
    }
}

impl Permit {
    /// The cluster of the object.
    pub fn destination(&self) -> &Cluster {
        &self.destination
    }

    /// The object that may be read.
    pub fn object(&self) -> &ObjectIdentity {
        &self.object
    }

    /// The rule that permits it.
    pub fn rule(&self) -> &PermittedBy {
        &self.rule
    }

    /// Whether the object is a `Secret` of the core group.
    pub fn is_secret(&self) -> bool {
        self.object.is_secret()
    }

    pub(crate) fn new(destination: Cluster, object: ObjectIdentity, rule: PermittedBy) -> Self {
        Self { destination, object, rule }
    }
}

/// Group and kind of Secrets.
const SECRET: (&str, &str) = ("", "Secret");

/// The compiled read-only lists.
#[derive(Clone, Debug, Default)]
pub(crate) struct ReadOnlyRules {
    namespaced: Vec<(KindEntry, Glob)>,
    cluster: Vec<KindEntry>,
}

impl ReadOnlyRules {
    /// Compiles the lists of projects: of each the fields, then the annotation.
    pub(crate) fn new<'a>(projects: impl Iterator<Item = &'a AppProject>) -> Result<Self, RuleError> {
        let mut rules = Self::default();
        for project in projects {
            rules.add(project, &project.spec.read_only, &FIELDS)?;
            rules.add(project, &project.annotated_read_only, &ANNOTATION)?;
        }
        Ok(rules)
    }

    fn add(
        &mut self,
        project: &AppProject,
        lists: &ReadOnlyLists,
        names: &ListNames,
    ) -> Result<(), RuleError> {
        let entry = |patterns: &KindPattern, (list, path): (&'static str, &str), index| {
            let origin = PermittedBy { project: project.metadata.name.clone(), list, index: Some(index) };
            KindEntry::new(patterns, path, origin)
        };
        for (index, item) in lists.namespaced.iter().enumerate() {
            let failed = |problem| RuleError {
                project: project.metadata.name.clone(),
                field: format!("{}[{index}].namespace", names.namespaced.1),
                problem,
            };
            let kind = entry(&item.object, names.namespaced, index)?;
            self.namespaced.push((kind, namespace(&item.namespace).map_err(failed)?));
        }
        for (index, item) in lists.cluster.iter().enumerate() {
            self.cluster.push(entry(item, names.cluster, index)?);
        }
        Ok(())
    }

    /// Returns the entries that match an object.
    fn matching<'a>(&'a self, object: &'a ObjectIdentity) -> impl Iterator<Item = &'a KindEntry> {
        let namespace = object.namespace.as_deref();
        let namespaced = self
            .namespaced
            .iter()
            .filter(move |(_, glob)| namespace.is_some_and(|namespace| glob.matches(namespace)))
            .map(|(entry, _)| entry);
        let cluster = self.cluster.iter().filter(move |_| namespace.is_none());
        namespaced.chain(cluster).filter(|entry| entry.matches(&object.group, &object.kind, &object.name))
    }
}

/// Returns the rule that permits reading an object.
///
/// Principle 1: what an application may manage, it may read. Principle 2: the read-only lists permit more, in any namespace of a cluster
/// that is a destination. A Secret needs an entry that names its group and kind without wildcards; such a read-only entry overrules a
/// blacklist, other read-only entries do not.
pub(crate) fn permitted_by(
    project: &str,
    kinds: &KindLists,
    read_only: &ReadOnlyRules,
    destinations: &Destinations,
    cluster: &Cluster,
    object: &ObjectIdentity,
) -> Option<PermittedBy> {
    // An empty namespace is one that was not determined.
    if object.namespace.as_deref() == Some("") || !destinations.permit_cluster(cluster) {
        return None;
    }
    let ObjectIdentity { group, kind, name, .. } = object;
    let is_secret = object.is_secret();
    let is_explicit = |entry: &&KindEntry| !is_secret || entry.names(SECRET.0, SECRET.1);
    let is_denied = kinds.deny(group, kind, name, object.scope());
    let is_destination =
        object.namespace.as_ref().is_none_or(|namespace| destinations.permit(cluster, namespace));
    let managed = match kinds.allowed(object.scope()) {
        _ if is_denied || !is_destination || (is_secret && object.namespace.is_none()) => None,
        None => (!is_secret).then(|| PermittedBy::absent_list(project)),
        Some(allowed) => allowed
            .iter()
            .filter(is_explicit)
            .find(|entry| entry.matches(group, kind, name))
            .map(|entry| entry.origin.clone()),
    };
    let read_only = || {
        let mut entries = read_only.matching(object).filter(is_explicit);
        entries.next().filter(|_| is_secret || !is_denied).map(|entry| entry.origin.clone())
    };
    managed.or_else(read_only)
}

/// Names of a project's two lists, each as in [`PermittedBy`] and as a path.
struct ListNames {
    namespaced: (&'static str, &'static str),
    cluster: (&'static str, &'static str),
}

const FIELDS: ListNames = ListNames {
    namespaced: ("namespaceReadOnlyAllowlist", "spec.namespaceReadOnlyAllowlist"),
    cluster: ("clusterReadOnlyAllowList", "spec.clusterReadOnlyAllowList"),
};

const ANNOTATION: ListNames = ListNames {
    namespaced: (
        "tiphys/read-only:namespaceReadOnlyAllowlist",
        "metadata.annotations[tiphys/read-only].namespaceReadOnlyAllowlist",
    ),
    cluster: (
        "tiphys/read-only:clusterReadOnlyAllowList",
        "metadata.annotations[tiphys/read-only].clusterReadOnlyAllowList",
    ),
};

/// Compiles the namespace of an entry.
fn namespace(pattern: &str) -> Result<Glob, RuleProblem> {
    if pattern.is_empty() {
        return Err(RuleProblem::MissingNamespace);
    }
    if pattern.starts_with(NEGATION) {
        return Err(RuleProblem::ReadOnlyDenial { pattern: pattern.to_owned() });
    }
    Ok(Glob::new(pattern, Slash::Ordinary)?)
}

#[cfg(test)]
mod tests;
