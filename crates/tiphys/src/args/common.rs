//! Options that all commands share.

use std::path::PathBuf;

use clap::{ArgAction, Args, ValueEnum};
use tiphys_engine::TrackingMethod;
use tiphys_plugin::PrivateView;
use tiphys_service::{ServiceLimits, ServiceOptions};

use super::bounds::BoundArgs;
use crate::progress;
use crate::remote_plugins;
use crate::settings::Process;

/// Options of every command.
#[derive(Debug, Args)]
#[command(next_help_heading = "Common options")]
pub(crate) struct CommonArgs {
    /// Where the Applications are: a folder, a file, or `-` for standard input; default `.`. Settings and Secrets from standard input count as
    /// yours, whoever wrote them
    #[arg(long, value_name = "PATH", global = true, env = "TIPHYS_STORE", action = ArgAction::Append)]
    pub(crate) store: Vec<String>,

    /// Plugins to run in process: a folder with plugin.yaml or with subfolders that have one, a plugin file, or a ConfigMap of them;
    /// default: those installed with tiphys [env: `TIPHYS_PLUGINS`, separated by `:`]
    // A path of the command line may have a colon, so the variable is not left to the parser.
    #[arg(long, value_name = "PATH", global = true, action = ArgAction::Append)]
    pub(crate) plugins: Vec<PathBuf>,

    /// Folder of the sockets of running plugin servers [env: `ARGOCD_PLUGINSOCKFILEPATH`]
    // An empty variable stands for none, which the parser would refuse.
    #[arg(long, value_name = "DIR", global = true)]
    pub(crate) plugin_sockets: Option<PathBuf>,

    /// Pass more of this environment to plugins in process: a name, or a prefix that ends in `*`
    #[arg(long, value_name = "NAME|PREFIX*", global = true, env = "TIPHYS_PASS_ENV", value_delimiter = ',', action = ArgAction::Append)]
    pub(crate) pass_env: Vec<String>,

    /// DIR's files, uncommitted ones included, stand for the repository at HEAD; without URL: for all of DIR's remotes.
    /// `URL@REV=DIR` stands for that revision. Of a Helm repository or a registry it has the charts that are sources, not those
    /// that charts depend on
    #[arg(long, value_name = "[URL=]DIR", global = true, action = ArgAction::Append)]
    pub(crate) repo: Vec<String>,

    /// Accept settings and Secrets of the store that are in a repository that is rendered, although they widen what a render may do: all, or
    /// those below DIR. Without it only the files of the store outside of these repositories may set build options of kustomize, URL schemes
    /// of value files, credentials, proxies and certificates
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

    /// Let Applications of a repository, and submodules, name `file://` repositories below DIR; those of `--repo` are allowed
    #[arg(long, value_name = "DIR", global = true, action = ArgAction::Append)]
    pub(crate) allow_file_repositories: Vec<PathBuf>,

    /// Use your own git credentials also through the proxy of a repository Secret that has none; the proxy may read them if it is not trusted
    #[arg(long, global = true, env = "TIPHYS_OWN_CREDENTIALS_VIA_PROXY")]
    pub(crate) own_credentials_via_proxy: bool,

    /// A folder of live objects that stands for a destination cluster (its name or URL; without one, the cluster of Argo CD itself)
    #[arg(long, value_name = "[NAME=]DIR", global = true, env = "TIPHYS_CLUSTER_STATE", action = ArgAction::Append)]
    pub(crate) cluster_state: Vec<String>,

    /// The control plane's namespace; default that of the store's argocd-cm, else `argocd`
    #[arg(long, value_name = "NS", global = true)]
    pub(crate) argocd_namespace: Option<String>,

    /// Kubernetes version of a destination cluster (its name or URL; without one, of every cluster)
    #[arg(long, value_name = "[NAME=]VERSION", global = true, action = ArgAction::Append)]
    pub(crate) kube_version: Vec<String>,

    /// API versions of a destination cluster: `v1,apps/v1/Deployment,…`, or a file with one a line
    #[arg(long, value_name = "[NAME=]LIST|@FILE", global = true, action = ArgAction::Append)]
    pub(crate) api_versions: Vec<String>,

    /// How objects are marked as belonging to their application; default: the store's argocd-cm, else annotation
    #[arg(long, value_name = "METHOD", global = true)]
    pub(crate) tracking: Option<TrackingArg>,

    /// Where fetched sources are kept; default below the user's cache folder
    #[arg(long, value_name = "DIR", global = true, env = "TIPHYS_CACHE_DIR")]
    pub(crate) cache_dir: Option<PathBuf>,

    /// Use no network: only what was fetched before, from a cache that may be read-only. Plugins with a run context are told, as the
    /// Helm plugin; others may still fetch, as kustomize does for remote bases
    #[arg(long, global = true, conflicts_with = "refresh")]
    pub(crate) offline: bool,

    /// Fetch again what was fetched before
    #[arg(long, global = true)]
    pub(crate) refresh: bool,

    /// What to print
    #[arg(short, long, value_name = "FORMAT", global = true)]
    pub(crate) output: Option<OutputFormat>,

    #[command(flatten)]
    pub(crate) bounds: BoundArgs,

    /// How many plugin runs may be under way at once; default: the number of processors, and for `cmp-server`, whose plugins may wait for
    /// others, eight times as many and at least 16
    #[arg(long, value_name = "N", global = true, env = "TIPHYS_JOBS", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) jobs: Option<u16>,

    /// How each plugin run gets a private, writable view of the tree: an overlay where the system allows it, else a copy (`auto`); an
    /// overlay or an error; a full copy
    #[arg(
        long,
        value_name = "HOW",
        global = true,
        hide_short_help = true,
        env = "TIPHYS_PRIVATE_VIEW",
        default_value = "auto"
    )]
    pub(crate) private_view: PrivateViewArg,

    /// Say more on stderr; twice and thrice: even more
    #[arg(short, long, global = true, action = ArgAction::Count)]
    pub(crate) verbose: u8,
}

impl CommonArgs {
    /// Returns the options of the use cases. On a terminal, the progress of fetching is shown.
    pub(crate) fn service_options(&self, process: &Process) -> ServiceOptions {
        ServiceOptions {
            fetch_progress: process.stderr_is_terminal().then(progress::of_fetching),
            ..ServiceOptions::from(self)
        }
    }
}

impl From<&CommonArgs> for ServiceOptions {
    fn from(args: &CommonArgs) -> Self {
        Self {
            store: args.store.clone(),
            plugins: args.plugins.clone(),
            plugin_sockets: args.plugin_sockets.clone(),
            connect_plugins: Some(remote_plugins::connect),
            pass_env: args.pass_env.clone(),
            repo: args.repo.clone(),
            trust_repository_settings: args.trust_repository_settings.clone(),
            allow_file_repositories: args.allow_file_repositories.clone(),
            own_credentials_via_proxy: args.own_credentials_via_proxy,
            cluster_state: args.cluster_state.clone(),
            argocd_namespace: args.argocd_namespace.clone(),
            kube_version: args.kube_version.clone(),
            api_versions: args.api_versions.clone(),
            tracking: args.tracking.map(TrackingMethod::from),
            cache_dir: args.cache_dir.clone(),
            offline: args.offline,
            refresh: args.refresh,
            limits: ServiceLimits::from(&args.bounds),
            jobs: args.jobs,
            private_view: args.private_view.into(),
            fetch_progress: None,
        }
    }
}

/// Forms of output; not every command has every one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum OutputFormat {
    Yaml,
    Json,
    Table,
    Wide,
    Name,
    // Only of commands that compare.
    Diff,
    Markdown,
}

/// Ways of making a private view.
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

/// Tracking methods, with Argo CD's names.
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
