//! Options of all commands.

use std::path::PathBuf;

use clap::{ArgAction, Args, ValueEnum};
use tiphys_engine::TrackingMethod;
use tiphys_plugin::PrivateView;
use tiphys_service::{ConnectTo, CurrentCheckout, FileGlobbing, RepositoryRevisions, SetInclusion, Warning};

use tiphys_source::CopyOrigin;

use super::clusters::ClusterArgs;
use super::limits::LimitArgs;
use super::project_rules::ProjectRuleArgs;

// Options of all commands.
#[derive(Debug, Args)]
#[command(next_help_heading = "Common options")]
pub(crate) struct CommonArgs {
    /// Folder or file with the Applications, or `-` for standard input; default `.`. Settings and Secrets from standard input are trusted
    #[arg(long, value_name = "PATH", global = true, env = "TIPHYS_STORE", action = ArgAction::Append)]
    pub(crate) store: Vec<String>,

    /// Project file with values for these options, or `none`; default: the nearest `.tiphys.yaml`, from the current folder up to the root of its
    /// checkout. A file that is named needs no `config allow`. `base` names the nearest one of `--base` REV
    #[arg(long, value_name = "FILE", global = true)]
    pub(crate) config: Option<PathBuf>,

    /// Plugins to run in process, in addition to the built-in ones (helm, kustomize): a folder with plugin.yaml, a folder of such folders, a plugin file,
    /// or a ConfigMap with plugin files. One of them replaces a built-in one of the same name [env: `TIPHYS_PLUGINS`, separated by `:`]
    // The parser would also split paths of the command line at colons.
    #[arg(long, value_name = "PATH", global = true, action = ArgAction::Append)]
    pub(crate) plugins: Vec<PathBuf>,

    /// Do not use the built-in plugins
    #[arg(long, global = true)]
    pub(crate) no_default_plugins: bool,

    /// Folder with the sockets of running plugin servers [env: `ARGOCD_PLUGINSOCKFILEPATH`]
    // The parser would reject an empty variable.
    #[arg(long, value_name = "DIR", global = true)]
    pub(crate) plugin_sockets: Option<PathBuf>,

    /// Pass a variable of this environment to plugins in process: its name, or a prefix that ends in `*`
    #[arg(long, value_name = "NAME|PREFIX*", global = true, env = "TIPHYS_PASS_ENV", value_delimiter = ',', action = ArgAction::Append)]
    pub(crate) pass_env: Vec<String>,

    /// Use the files of DIR, uncommitted ones included, instead of the repository URL; default for URL: all remotes of DIR. They stand for HEAD
    /// and the branch that was changed (see --repo-revision), with `@BRANCH=DIR` also for that branch, with `URL@REV=DIR` only for REV. For a
    /// Helm repository or a registry, DIR replaces the charts of sources and of dependencies. Default: the checkout around the current
    /// folder for its remotes; an empty value for none
    #[arg(long, value_name = "[URL=]DIR", global = true, env = "TIPHYS_REPO", action = ArgAction::Append)]
    pub(crate) repo: Vec<String>,

    /// Branches for which the files of a checkout of --repo are used: `branches` for the one that is checked out, the remote's default branch and
    /// that of `diff --base`; `exact` for the one that is checked out
    #[arg(long, value_name = "RULE", value_enum, hide_possible_values = true, default_value_t = RepoRevisionArg::Branches, global = true)]
    pub(crate) repo_revision: RepoRevisionArg,

    /// Trust settings and Secrets in rendered repositories: all, or those below DIR. By default, only files of the store outside of rendered
    /// repositories may set kustomize build options, URL schemes of value files, credentials, proxies and certificates
    #[arg(
        long,
        value_name = "DIR",
        global = true,
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "/",
        action = ArgAction::Append
    )]
    pub(crate) trust_repository_settings: Vec<PathBuf>,

    /// Allow Applications in rendered repositories, and submodules, to use `file://` repositories below DIR. Those of `--repo` are always
    /// allowed
    #[arg(long, value_name = "DIR", global = true, action = ArgAction::Append)]
    pub(crate) allow_file_repositories: Vec<PathBuf>,

    /// Send your own git credentials through the proxy of a repository Secret without credentials. An untrusted proxy may read them
    #[arg(long, global = true, env = "TIPHYS_OWN_CREDENTIALS_VIA_PROXY")]
    pub(crate) own_credentials_via_proxy: bool,

    #[command(flatten)]
    pub(crate) rules: ProjectRuleArgs,

    #[command(flatten)]
    pub(crate) clusters: ClusterArgs,

    /// Application sets whose Applications take part: `auto` for those that need only the store and folders of `--repo`, `all` also asks git
    /// servers, registries, plugin services and forges, `none`
    #[arg(long, value_name = "WHICH", global = true, env = "TIPHYS_APPSETS", default_value = "auto")]
    pub(crate) appsets: AppSetsArg,

    /// Connect to HOST2:PORT2 instead of HOST1:PORT1 for plugin services of application sets, for example through `kubectl port-forward`. The
    /// name in certificates stays HOST1
    #[arg(long, value_name = "HOST1:PORT1=HOST2:PORT2", global = true, hide_short_help = true, action = ArgAction::Append)]
    pub(crate) connect_to: Vec<ConnectTo>,

    /// Patterns of files in `git` generators: `git` for those of `git ls-files`, `new` for those of Argo CD's
    /// `--enable-new-git-file-globbing`
    #[arg(long, value_name = "KIND", global = true, hide_short_help = true, default_value = "git")]
    pub(crate) git_file_globbing: FileGlobbingArg,

    /// Namespace of Argo CD; default: the namespace of argocd-cm in the store, else `argocd`
    #[arg(long, value_name = "NS", global = true)]
    pub(crate) argocd_namespace: Option<String>,

    /// Kubernetes version of a destination cluster. NAME is the cluster's name or URL; default: all clusters
    #[arg(long, value_name = "[NAME=]VERSION", global = true, action = ArgAction::Append)]
    pub(crate) kube_version: Vec<String>,

    /// API versions of a destination cluster: `v1,apps/v1/Deployment,…`, or a file with one per line
    #[arg(long, value_name = "[NAME=]LIST|@FILE", global = true, action = ArgAction::Append)]
    pub(crate) api_versions: Vec<String>,

    /// Resource tracking method of Argo CD; default: that of argocd-cm in the store, else `annotation`
    #[arg(long, value_name = "METHOD", global = true)]
    pub(crate) tracking: Option<TrackingArg>,

    #[command(flatten)]
    pub(crate) cache: CacheArgs,

    /// Output format
    #[arg(short, long, value_name = "FORMAT", global = true)]
    pub(crate) output: Option<OutputFormat>,

    #[command(flatten)]
    pub(crate) limits: LimitArgs,

    /// Maximum number of concurrent plugin runs; default: the number of processors, for `cmp-server` and `serve`, whose plugins may wait for
    /// servers, eight times as many, at least 16
    #[arg(long, value_name = "N", global = true, env = "TIPHYS_JOBS", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) jobs: Option<u16>,

    /// Private working copy of each plugin run: `overlay`, `copy`, or `auto` for an overlay where the system allows it and a copy otherwise
    #[arg(
        long,
        value_name = "HOW",
        global = true,
        hide_short_help = true,
        env = "TIPHYS_PRIVATE_VIEW",
        default_value = "auto"
    )]
    pub(crate) private_view: PrivateViewArg,

    /// Print notes and more details on stderr; repeat for more
    #[arg(short, long, global = true, action = ArgAction::Count)]
    pub(crate) verbose: u8,

    /// Plugins of the project file, which are used if neither an option nor a variable names any.
    #[arg(skip)]
    pub(crate) project_plugins: Vec<PathBuf>,

    /// The file with answers that the project file names.
    #[arg(skip)]
    pub(crate) project_answers: Option<PathBuf>,

    /// Who gives the values of `repo`.
    #[arg(skip)]
    pub(crate) repo_origin: CopyOrigin,

    /// Whether the values of `repo` are those of the project file.
    #[arg(skip)]
    pub(crate) repo_is_of_file: bool,

    /// Whether the checkout around the current directory is used instead of its remotes.
    #[arg(skip)]
    pub(crate) current_checkout: CurrentCheckout,

    /// Warnings about the project file of a comparison.
    #[arg(skip)]
    pub(crate) warnings: Vec<Warning>,
}

// The cache of fetched sources.
#[derive(Debug, Args)]
#[command(next_help_heading = "Common options")]
pub(crate) struct CacheArgs {
    /// Cache folder for fetched sources; default: below the user's cache folder
    #[arg(long, value_name = "DIR", global = true, env = "TIPHYS_CACHE_DIR")]
    pub(crate) cache_dir: Option<PathBuf>,

    /// Use no network, only the cache, which may be read-only. The Helm plugin and other plugins with a run context comply; others may
    /// still use the network, for example kustomize for remote bases
    #[arg(long, global = true, conflicts_with = "refresh")]
    pub(crate) offline: bool,

    /// Ignore cached look-ups and charts, and fetch them again
    #[arg(long, global = true)]
    pub(crate) refresh: bool,
}

/// Output formats. Each command supports some of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum OutputFormat {
    Yaml,
    Json,
    Table,
    Wide,
    Name,
    // Only for commands that compare.
    Diff,
    Markdown,
}

/// Revisions for which a checkout is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum RepoRevisionArg {
    Branches,
    Exact,
}

/// Application sets that take part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum AppSetsArg {
    Auto,
    All,
    None,
}

/// Kinds of patterns of files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum FileGlobbingArg {
    Git,
    New,
}

impl From<AppSetsArg> for SetInclusion {
    fn from(arg: AppSetsArg) -> Self {
        match arg {
            AppSetsArg::Auto => Self::Auto,
            AppSetsArg::All => Self::All,
            AppSetsArg::None => Self::None,
        }
    }
}

impl From<RepoRevisionArg> for RepositoryRevisions {
    fn from(arg: RepoRevisionArg) -> Self {
        match arg {
            RepoRevisionArg::Branches => Self::Branches,
            RepoRevisionArg::Exact => Self::Exact,
        }
    }
}

impl From<FileGlobbingArg> for FileGlobbing {
    fn from(arg: FileGlobbingArg) -> Self {
        match arg {
            FileGlobbingArg::Git => Self::Git,
            FileGlobbingArg::New => Self::DoubleStar,
        }
    }
}

/// Kinds of private working copies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum PrivateViewArg {
    Auto,
    Overlay,
    Copy,
}

impl From<PrivateViewArg> for PrivateView {
    fn from(arg: PrivateViewArg) -> Self {
        match arg {
            PrivateViewArg::Auto => Self::Auto,
            PrivateViewArg::Overlay => Self::Overlay,
            PrivateViewArg::Copy => Self::Copy,
        }
    }
}

/// Tracking methods with Argo CD's names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum TrackingArg {
    Annotation,
    Label,
    #[value(name = "annotation+label")]
    AnnotationAndLabel,
    None,
}

impl From<TrackingArg> for TrackingMethod {
    fn from(arg: TrackingArg) -> Self {
        match arg {
            TrackingArg::Annotation => Self::Annotation,
            TrackingArg::Label => Self::Label,
            TrackingArg::AnnotationAndLabel => Self::AnnotationAndLabel,
            TrackingArg::None => Self::None,
        }
    }
}
