//! The four lists of kinds: patterns of Go's `path.Match` for groups, kinds and names of cluster-scoped objects.

use crate::resources::{AppProject, GroupKind, KindPattern};
use tiphys_go::glob::NamePattern;

use crate::project_rules::{RuleError, RuleProblem};

/// Whether objects of a kind belong to a namespace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// Namespaced objects.
    Namespaced,
    /// Cluster-scoped objects.
    Cluster,
    /// A kind that only a cluster could tell, such as one of a custom resource definition that is not known.
    Unknown,
}

/// The rule that permits something: an entry of a list of a project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PermittedBy {
    /// The project that has the list: the Application's or a global one.
    pub project: String,
    /// The list's name, such as `namespaceResourceWhitelist`. A list of the annotation `tiphys/read-only` is named
    /// `tiphys/read-only:namespaceReadOnlyAllowlist`.
    pub list: &'static str,
    /// The index of the entry in that list, from 0. `None` for an absent list that permits everything.
    pub index: Option<usize>,
}

/// An entry of a list: compiled patterns and their origin.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct KindEntry {
    group: NamePattern,
    kind: NamePattern,
    /// `None` for every name.
    name: Option<NamePattern>,
    pub(crate) origin: PermittedBy,
}

/// The four lists, those of global projects appended.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct KindLists {
    /// `None` permits all.
    namespaced_allowed: Option<Vec<KindEntry>>,
    namespaced_denied: Vec<KindEntry>,
    cluster_allowed: Vec<KindEntry>,
    cluster_denied: Vec<KindEntry>,
}

/// Name of the list whose absence permits all namespaced kinds.
const NAMESPACED_ALLOWED: &str = "namespaceResourceWhitelist";

impl KindEntry {
    /// Compiles an entry. `list_path` is the path of its list in messages.
    pub(crate) fn new(
        patterns: &KindPattern,
        list_path: &str,
        origin: PermittedBy,
    ) -> Result<Self, RuleError> {
        let compile = |field: &str, pattern: &str| {
            NamePattern::new(pattern).map_err(|problem| RuleError {
                project: origin.project.clone(),
                field: format!("{list_path}[{}].{field}", origin.index.unwrap_or_default()),
                problem: RuleProblem::Name { pattern: pattern.to_owned(), problem },
            })
        };
        Ok(Self {
            group: compile("group", &patterns.group)?,
            kind: compile("kind", &patterns.kind)?,
            name: patterns.name.as_deref().map(|name| compile("name", name)).transpose()?,
            origin,
        })
    }

    pub(crate) fn matches(&self, group: &str, kind: &str, name: &str) -> bool {
        self.group.matches(group)
            && self.kind.matches(kind)
            && self.name.as_ref().is_none_or(|pattern| pattern.matches(name))
    }

    /// Whether the entry names this group and kind without wildcards.
    pub(crate) fn names(&self, group: &str, kind: &str) -> bool {
        self.group.as_str() == group && self.kind.as_str() == kind
    }
}

impl KindLists {
    /// Compiles the lists of a project and appends those of global ones. A present list makes an absent one present, so that a global
    /// project restricts.
    pub(crate) fn new<'a>(projects: impl Iterator<Item = &'a AppProject>) -> Result<Self, RuleError> {
        let mut lists = Self::default();
        for project in projects {
            let spec = &project.spec;
            if let Some(kinds) = &spec.namespace_resource_whitelist {
                let compiled = namespaced(project, NAMESPACED_ALLOWED, kinds)?;
                lists.namespaced_allowed.get_or_insert_default().extend(compiled);
            }
            lists.namespaced_denied.extend(namespaced(
                project,
                "namespaceResourceBlacklist",
                &spec.namespace_resource_blacklist,
            )?);
            lists.cluster_allowed.extend(entries(
                project,
                "clusterResourceWhitelist",
                &spec.cluster_resource_whitelist,
            )?);
            lists.cluster_denied.extend(entries(
                project,
                "clusterResourceBlacklist",
                &spec.cluster_resource_blacklist,
            )?);
        }
        Ok(lists)
    }

    /// Whether the lists permit an object.
    pub(crate) fn permit(&self, group: &str, kind: &str, name: &str, scope: KnownScope) -> bool {
        self.allowed(scope).is_none_or(|entries| entries.iter().any(|entry| entry.matches(group, kind, name)))
            && !self.deny(group, kind, name, scope)
    }

    /// Whether a blacklist matches an object.
    pub(crate) fn deny(&self, group: &str, kind: &str, name: &str, scope: KnownScope) -> bool {
        let denied = match scope {
            KnownScope::Namespaced => &self.namespaced_denied,
            KnownScope::Cluster => &self.cluster_denied,
        };
        denied.iter().any(|entry| entry.matches(group, kind, name))
    }

    /// Returns the entries that permit kinds of a scope; `None` if an absent list permits all.
    pub(crate) fn allowed(&self, scope: KnownScope) -> Option<&[KindEntry]> {
        match scope {
            KnownScope::Namespaced => self.namespaced_allowed.as_deref(),
            KnownScope::Cluster => Some(&self.cluster_allowed),
        }
    }
}

impl PermittedBy {
    /// Returns the rule of a project without a list of permitted namespaced kinds.
    pub(crate) fn absent_list(project: &str) -> Self {
        Self { project: project.to_owned(), list: NAMESPACED_ALLOWED, index: None }
    }
}

/// A scope that is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum KnownScope {
    Namespaced,
    Cluster,
}

fn namespaced(
    project: &AppProject,
    list: &'static str,
    kinds: &[GroupKind],
) -> Result<Vec<KindEntry>, RuleError> {
    let patterns =
        |kind: &GroupKind| KindPattern { group: kind.group.clone(), kind: kind.kind.clone(), name: None };
    entries(project, list, &kinds.iter().map(patterns).collect::<Vec<_>>())
}

fn entries(
    project: &AppProject,
    list: &'static str,
    kinds: &[KindPattern],
) -> Result<Vec<KindEntry>, RuleError> {
    let entry = |(index, kind)| {
        let origin = PermittedBy { project: project.metadata.name.clone(), list, index: Some(index) };
        KindEntry::new(kind, &format!("spec.{list}"), origin)
    };
    kinds.iter().enumerate().map(entry).collect()
}
