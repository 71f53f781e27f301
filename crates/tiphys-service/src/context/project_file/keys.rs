//! The keys of the project file. Each gives an option of all commands a value.

use std::path::Path;

use tiphys_kube::cluster_reader::ClusterStateArgument;
use tiphys_source::LocalCopy;

/// The JSON Schema of the project file for editors, draft 7, which the YAML support of common editors reads.
pub const PROJECT_FILE_SCHEMA: &str = include_str!("project-file.schema.json");

/// A key of the project file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ProjectKey {
    /// Files and directories with Applications.
    Store,
    /// Local directories used instead of repositories.
    Repositories,
    /// Directories and files of plugins.
    Plugins,
    /// Directories of live objects.
    ClusterState,
    /// Kubernetes versions of destination clusters.
    KubeVersion,
    /// API versions of destination clusters.
    ApiVersions,
    /// Directories with projects, in addition to the store.
    Projects,
    /// Handling of applications that their project does not permit.
    ProjectRules,
    /// Whether applications of missing projects are refused.
    Strict,
    /// Application sets that take part.
    AppSets,
    /// A file with answers for the generators of application sets.
    Answers,
    /// Files of the checkout whose settings are trusted.
    TrustRepositorySettings,
}

/// The values that a key accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ValueKind {
    /// Paths.
    Paths,
    /// One path.
    Path,
    /// `[URL[@REV]=]DIR`.
    Repositories,
    /// `[NAME=]DIR`.
    ClusterFolders,
    /// `[NAME=]VERSION`.
    Versions,
    /// `[NAME=]LIST|@FILE`.
    ApiVersions,
    /// One of these words.
    Word(&'static [&'static str]),
    /// `true` or `false`.
    Boolean,
}

/// The values of a key that take effect only with the caller's consent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ConsentRule {
    /// All.
    Every,
    /// This word. Other words are the default or restrict.
    Word(&'static str),
    /// Paths that lead out of the checkout.
    PathsOut,
}

impl ProjectKey {
    /// All keys, in the order in which they are printed.
    pub const ALL: [Self; 12] = [
        Self::Store,
        Self::Repositories,
        Self::Plugins,
        Self::ClusterState,
        Self::KubeVersion,
        Self::ApiVersions,
        Self::Projects,
        Self::ProjectRules,
        Self::Strict,
        Self::AppSets,
        Self::Answers,
        Self::TrustRepositorySettings,
    ];

    /// Returns the key as it is written in the file.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Store => "store",
            Self::Repositories => "repositories",
            Self::Plugins => "plugins",
            Self::ClusterState => "clusterState",
            Self::KubeVersion => "kubeVersion",
            Self::ApiVersions => "apiVersions",
            Self::Projects => "projects",
            Self::ProjectRules => "projectRules",
            Self::Strict => "strict",
            Self::AppSets => "appsets",
            Self::Answers => "answers",
            Self::TrustRepositorySettings => "trustRepositorySettings",
        }
    }

    pub(super) const fn kind(self) -> ValueKind {
        match self {
            Self::Store | Self::Plugins | Self::Projects | Self::TrustRepositorySettings => ValueKind::Paths,
            Self::Repositories => ValueKind::Repositories,
            Self::ClusterState => ValueKind::ClusterFolders,
            Self::KubeVersion => ValueKind::Versions,
            Self::ApiVersions => ValueKind::ApiVersions,
            Self::ProjectRules => ValueKind::Word(&["enforce", "warn"]),
            Self::Strict => ValueKind::Boolean,
            Self::AppSets => ValueKind::Word(&["auto", "all", "none"]),
            Self::Answers => ValueKind::Path,
        }
    }

    /// Settings that restrict always take effect. Those that choose what runs, what is contacted or what is permitted need consent.
    pub(super) const fn consent(self) -> ConsentRule {
        match self {
            Self::Plugins | Self::ClusterState | Self::Projects | Self::TrustRepositorySettings => {
                ConsentRule::Every
            }
            Self::ProjectRules => ConsentRule::Word("warn"),
            Self::AppSets => ConsentRule::Word("all"),
            Self::Store
            | Self::Repositories
            | Self::KubeVersion
            | Self::ApiVersions
            | Self::Strict
            | Self::Answers => ConsentRule::PathsOut,
        }
    }
}

impl ValueKind {
    /// Splits a value into the part before its path, and the path. `None` for a value without a path.
    pub(super) fn split_path(self, value: &str) -> Option<(&str, &str)> {
        let ending = |path: &Path| {
            let at = value.len().checked_sub(path.as_os_str().len())?;
            value.split_at_checked(at)
        };
        match self {
            Self::Paths | Self::Path => Some(("", value)),
            Self::Repositories => ending(&LocalCopy::parse(value, Path::new("")).ok()?.dir),
            Self::ClusterFolders => ending(&ClusterStateArgument::parse(value).folder),
            Self::ApiVersions | Self::Versions | Self::Word(_) | Self::Boolean => None,
        }
    }
}
