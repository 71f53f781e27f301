//! Options of front ends, as plain values.

mod given;
mod setting;
mod table;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use tiphys_engine::TrackingMethod;
pub use tiphys_generators::ForgeRules;
use tiphys_go::gotemplate;
use tiphys_http::ConnectTo;
use tiphys_kube::cluster_reader::ClusterStateArgument;
use tiphys_model::limits::{Limit, Limits};
use tiphys_plugin::Plugin;
use tiphys_process::PrivateView;
use tiphys_render::DestinationVersions;
use tiphys_source::{LocalCopy, ProgressSink};

use crate::context::host::Host;
use crate::context::sets::answers::RecordedAnswers;
use crate::error::ServiceError;
use crate::warning::Warning;

pub use given::{GivenSetting, GivenSettings};
pub(crate) use given::{RENAMED_KEYS, unknown_key};
pub(crate) use setting::{ConsentRule, SettingKind, read_limit};
pub use setting::{Setting, SettingOrigin};

/// Connects to the plugins that other processes serve on the sockets in a directory.
pub type ConnectPlugins = fn(&Path, &Host) -> Result<Vec<Arc<dyn Plugin>>, ServiceError>;

/// Receives the name of each application or case as soon as it is done, in the order in which they finish.
pub type StepCallback<'a> = &'a (dyn Fn(&str) + Sync);

/// Where resources are read from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StorePath {
    /// Standard input.
    StandardInput,
    /// A file or directory.
    Path(PathBuf),
    /// A directory with a kustomization or a chart, which is rendered.
    Rendered(PathBuf),
}

/// Options that all use cases share.
#[derive(Clone, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a setting")]
pub struct ServiceOptions {
    /// Files and directories with Applications. Empty: the current directory.
    pub store: Vec<StorePath>,
    /// The files of plugins that are part of the program. Those of the caller replace plugins of the same name.
    pub built_in_plugins: &'static [&'static str],
    /// Whether these are not used.
    pub no_default_plugins: bool,
    /// Directories and files of further plugins that run in process.
    pub plugins: Vec<PathBuf>,
    /// Where these are from.
    pub plugins_origin: SettingOrigin,
    /// Directory of the plugin servers' sockets. None: `ARGOCD_PLUGINSOCKFILEPATH`.
    pub plugin_sockets: Option<PathBuf>,
    /// Connects to plugin servers. None: plugin servers are not used, even if a directory of sockets is configured.
    pub connect_plugins: Option<ConnectPlugins>,
    /// The engine of the built-in Helm plugin, by its name.
    pub helm_engine: Option<&'static str>,
    /// Environment variables that plugins in process get: names, or prefixes that end in `*`.
    pub pass_env: Vec<String>,
    /// Local directories used instead of repositories.
    pub repositories: Vec<LocalCopy>,
    /// Whether the checkout of the current directory is used instead of its remotes.
    pub current_checkout: CurrentCheckout,
    /// Whether their checkouts stand for more branches than the one that is checked out.
    pub repository_revisions: RepositoryRevisions,
    /// Directories whose settings are trusted although they belong to a rendered repository.
    pub trust_repository_settings: Vec<PathBuf>,
    /// Directories below which Applications of a repository may name `file://` repositories.
    pub allow_file_repositories: Vec<PathBuf>,
    /// Whether the user's own git credentials are also sent through the proxy of a repository Secret.
    pub own_credentials_via_proxy: bool,
    /// Directories of live objects used instead of destination clusters.
    pub cluster_state: Vec<ClusterStateArgument>,
    /// Access to live clusters.
    pub kubernetes: KubernetesAccess,
    /// Handling of applications that their project does not permit.
    pub project_rules: ProjectEnforcement,
    /// Directories with projects, in addition to the store.
    pub projects: Vec<PathBuf>,
    /// Whether applications that Argo CD refuses are errors instead of warnings.
    pub strict: bool,
    /// The namespace of the control plane. None: that of the store's argocd-cm, else `argocd`.
    pub argocd_namespace: Option<String>,
    /// Kubernetes and API versions of destination clusters.
    pub destinations: DestinationVersions,
    /// The tracking method. None: that of the store's argocd-cm, else annotation.
    pub tracking: Option<TrackingMethod>,
    /// The cache directory. None: `tiphys` in the user's cache directory.
    pub cache_dir: Option<PathBuf>,
    /// Whether to use only what is in the cache.
    pub offline: bool,
    /// Whether to fetch again what is in the cache.
    pub refresh: bool,
    /// Limits.
    pub limits: Limits,
    /// Which application sets take part in use cases that are about applications.
    pub sets: SetInclusion,
    /// A file with answers for the generators of sets. What it does not answer is asked as without it. Given answers replace it.
    pub answers: Option<PathBuf>,
    /// Where plugin services are connected to instead of their own addresses.
    pub connect_to: Vec<ConnectTo>,
    /// The kind of patterns of files in `git` generators.
    pub file_globbing: FileGlobbing,
    /// Which forges sets may ask.
    pub forge_rules: ForgeRules,
    /// Whether the user's own settings and credentials of git, helm and docker are ignored, because others name the repositories.
    pub ignores_user_credentials: bool,
    /// How plugin runs get their private working copy.
    pub private_view: PrivateView,
    /// Receives the progress of fetching repositories and charts.
    pub fetch_progress: Option<ProgressSink>,
    /// Warnings about the origin of the options. Comparisons of revisions report them with their own.
    pub warnings: Vec<Warning>,
}

impl ServiceOptions {
    /// Returns the maximum number of concurrent plugin runs.
    pub(crate) fn jobs(&self, host: &Host) -> usize {
        self.limits.given(Limit::JOBS).map_or(host.processors, |_| self.limits.size(Limit::JOBS))
    }

    /// Returns the limits of a plugin run.
    pub fn run_limits(&self) -> tiphys_process::Limits {
        tiphys_process::Limits {
            stdout_bytes_max: self.limits.size(Limit::PLUGIN_OUTPUT_MAX),
            stderr_bytes_max: self.limits.size(Limit::PLUGIN_STDERR_MAX),
            grace: self.limits.duration(Limit::PLUGIN_GRACE),
        }
    }

    /// Returns the limits of templates.
    pub fn template_limits(&self) -> gotemplate::Limits {
        gotemplate::Limits {
            steps: self.limits.get(Limit::TEMPLATE_STEPS_MAX),
            output_bytes: self.limits.size(Limit::TEMPLATE_OUTPUT_MAX),
            depth: self.limits.size(Limit::TEMPLATE_DEPTH_MAX),
        }
    }

    /// Returns whether applications of projects that were not found are refused. Otherwise they are reported, and such a project permits no
    /// look-up.
    pub(crate) fn refuses_missing_projects(&self) -> bool {
        self.strict || !self.projects.is_empty()
    }

    /// Returns the directory of the plugin servers' sockets, if one is configured. As in Argo CD, an empty variable counts as unset.
    pub fn plugin_socket_dir(&self, host: &Host) -> Option<PathBuf> {
        let requested = self.plugin_sockets.as_deref();
        let requested = requested.or_else(|| host.variable("ARGOCD_PLUGINSOCKFILEPATH").map(Path::new));
        requested.map(|dir| host.absolute(dir))
    }

    /// Returns the paths of the store, with those of the projects.
    pub(crate) fn store_paths(&self) -> Vec<StorePath> {
        let current_dir = self.store.is_empty().then(|| StorePath::Path(PathBuf::from(".")));
        let projects = self.projects.iter().cloned().map(StorePath::Path);
        self.store.iter().cloned().chain(current_dir).chain(projects).collect()
    }
}

/// Whether the checkout of the current directory is used instead of the repositories that its remotes name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CurrentCheckout {
    /// It is not: the caller names the directories, or none.
    #[default]
    Unused,
    /// It is not: the project file names the directories, or none.
    Replaced,
    /// It is.
    Used,
}

/// The branches for which the files of a checkout are used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RepositoryRevisions {
    /// The branch that is checked out, the default branch of its remote, and the branch that a comparison starts from.
    #[default]
    Branches,
    /// The branch that is checked out.
    Exact,
}

/// Which clusters are read, and with which credentials. Without any, no cluster is contacted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KubernetesAccess {
    /// Files with contexts, of which the first that has an entry counts. Empty: those of `KUBECONFIG`, else `~/.kube/config`.
    pub kubeconfigs: Vec<PathBuf>,
    /// The contexts of clusters. With `kubeconfigs` and without contexts, the current one.
    pub contexts: Vec<ClusterContext>,
    /// Whether this process runs in a pod of the cluster of Argo CD.
    pub in_cluster: bool,
    /// Files and directories with Argo CD's cluster Secrets.
    pub cluster_secrets: Vec<PathBuf>,
}

/// The context of a cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClusterContext {
    /// Name or URL of the cluster in destinations. None: the cluster of Argo CD itself.
    pub cluster: Option<String>,
    /// Name of the context.
    pub context: String,
}

impl KubernetesAccess {
    /// Returns whether clusters may be contacted.
    pub fn is_given(&self) -> bool {
        *self != Self::default()
    }
}

/// Which applications of the store a use case is about.
#[derive(Clone, Debug, Default)]
pub struct ApplicationSelection {
    /// Names (`name` or `namespace/name`) and paths of files. Empty: all applications of the store.
    pub applications: Vec<String>,
    /// A label selector.
    pub selector: Option<String>,
    /// The name of a project.
    pub project: Option<String>,
}

/// Which sets take part in use cases that are about Applications.
#[derive(Clone, Debug, Default)]
pub enum SetInclusion {
    /// Those whose generators need only the store and the folders that stand for repositories.
    #[default]
    Auto,
    /// All; other servers are asked.
    All,
    /// All, with given answers; nothing is asked.
    Answered(RecordedAnswers),
    /// None.
    None,
}

/// The kind of patterns of files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FileGlobbing {
    /// Those of `git ls-files`.
    #[default]
    Git,
    /// Those with `**`, of Argo CD's `--enable-new-git-file-globbing`.
    DoubleStar,
}

/// Handling of an application that its project does not permit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ProjectEnforcement {
    /// It is an error.
    #[default]
    Enforce,
    /// It is a warning. No project permits a look-up then.
    Warn,
}
