//! The table of settings. A new setting is a row, and the field of [`ServiceOptions`] that the row changes.
//!
//! The options of the command line, `--config KEY=VALUE`, the variables, the project file with its JSON Schema and consent, `config show`,
//! `help options` and the reference are made from it.

use std::path::PathBuf;

use tiphys_engine::TrackingMethod;
use tiphys_http::ConnectTo;
use tiphys_kube::cluster_reader::ClusterStateArgument;
use tiphys_process::PrivateView;
use tiphys_source::{LocalCopy, redact_url};
use tiphys_tree::read_bounded;

use super::setting::{ConsentRule, Setting, SettingKind, ValueSource};
use super::{
    ClusterContext, FileGlobbing, ProjectEnforcement, RepositoryRevisions, ServiceOptions, SetInclusion,
    StorePath,
};
use crate::error::ServiceError;

use ConsentRule::{Never, PathsOut};
use SettingKind::{Limits, Parsed, Path, Paths, Switch, Value, Values, Word as Words};

/// Declares the settings, in the order in which they are listed.
macro_rules! settings {
    ($($constant:ident = $row:expr;)*) => {
        /// The settings by name.
        impl Setting {
            /// All settings.
            pub const ALL: &[&Self] = &[$(Self::$constant),*];
            $(
                #[expect(missing_docs, reason = "the row has the help")]
                pub const $constant: &Self = &$row;
            )*
        }
    };
}

settings! {
    STORE = Setting::new(
        "store",
        Parsed {
            add: |options, path, _| {
                options.store.push(match path {
                    STANDARD_INPUT => StorePath::StandardInput,
                    path => StorePath::Path(path.into()),
                });
                Ok(())
            },
            path: Some(|value| Some(value.into())),
        },
    )
    .option("store")
    .value("PATH")
    .default(".")
    .consent(PathsOut)
    .help(
        "Folder or file with the Applications; `-` is standard input",
        "Settings and Secrets from standard input are trusted",
    );
    STORE_RENDER = Setting::new(
        "storeRender",
        Parsed {
            add: |options, path, _| {
                options.store.push(StorePath::Rendered(path.into()));
                Ok(())
            },
            path: Some(|value| Some(value.into())),
        },
    )
    .value("DIR")
    .help(
        "Folder with a kustomization or a chart that renders the Applications",
        "It is rendered by the built-in plugins without parameters, in comparisons on both sides. `--store-render` of `render`, `diff` and \
             `check`",
    );
    REPO = Setting::new("repo", Parsed { add: add_repository, path: Some(folder_of_repository) })
        .option("repo")
        .value("[URL=]DIR")
        .accepts_empty()
        .consent(PathsOut)
        .help(
            "Use the files of DIR, uncommitted ones included, instead of URL",
            "Default for URL: all remotes of DIR. They stand for HEAD and the branch that was changed \
             (see repoRevision), with `@BRANCH=DIR` also for that branch, with `URL@REV=DIR` only for \
             REV. For a Helm repository or a registry, DIR replaces the charts of sources and of \
             dependencies. Default: the checkout around the current folder, for its remotes; an empty \
             value uses none",
        );
    REPO_REVISION = Setting::new(
        "repoRevision",
        Words(&[
            ("branches", |options| options.repository_revisions = RepositoryRevisions::Branches),
            ("exact", |options| options.repository_revisions = RepositoryRevisions::Exact),
        ]),
    )
    .value("RULE")
    .default("branches")
    .consent(Never)
    .help(
        "Branches for which the files of a checkout are used: `branches`, `exact`",
        "`branches` are the one that is checked out, the remote's default branch and that of \
             `diff --base`; `exact` is the one that is checked out",
    );
    PLUGINS = Setting::new(
        "plugins",
        Parsed {
            add: |options, path, source| {
                options.plugins.push(path.into());
                options.plugins_origin = source.origin;
                Ok(())
            },
            path: Some(|value| Some(value.into())),
        },
    )
    .option("plugins")
    .value("PATH")
    .separated_by(':')
    .help(
        "Plugins to run in process, in addition to helm and kustomize",
        "A folder with plugin.yaml, a folder of such folders, a plugin file, or a ConfigMap with \
             plugin files. One of them replaces a built-in plugin of the same name. The variable has \
             paths separated by `:`",
    );
    NO_DEFAULT_PLUGINS = Setting::new("noDefaultPlugins", Switch(|options| &mut options.no_default_plugins))
        .default("false")
        .consent(Never)
        .help("Do not use the built-in plugins", "");
    PLUGIN_SOCKETS = Setting::new("pluginSockets", Path(|options| &mut options.plugin_sockets))
        .value("DIR")
        .help(
            "Folder with the sockets of running plugin servers",
            "Without it, the folder of `ARGOCD_PLUGINSOCKFILEPATH`",
        );
    HELM_ENGINE = Setting::new(
        "helmEngine",
        Words(&[
            ("auto", |options| options.helm_engine = Some("auto")),
            ("builtin", |options| options.helm_engine = Some("builtin")),
            ("builtin-helm3", |options| options.helm_engine = Some("builtin-helm3")),
            ("program", |options| options.helm_engine = Some("program")),
            ("compare", |options| options.helm_engine = Some("compare")),
        ]),
    )
    .option("helm-engine")
    .value("ENGINE")
    .consent(Never)
    .help(
        "The engine that renders charts: `auto`, `builtin`, `builtin-helm3`, `program`, `compare`",
        "`auto` is the built-in engine, and the helm on PATH where only it can render a chart; `compare` renders with both, and a \
             difference is an error. Default: `auto`",
    );
    PASS_ENV = Setting::new("passEnv", Values(|options| &mut options.pass_env))
        .value("NAME|PREFIX*")
        .separated_by(',')
        .help(
            "Pass variables of this environment to plugins in process",
            "A name, or a prefix that ends in `*`. The variable has names separated by `,`",
        );
    PRIVATE_VIEW = Setting::new(
        "privateView",
        Words(&[
            ("auto", |options| options.private_view = PrivateView::Auto),
            ("overlay", |options| options.private_view = PrivateView::Overlay),
            ("copy", |options| options.private_view = PrivateView::Copy),
        ]),
    )
    .value("HOW")
    .default("auto")
    // A run in a copy is an ordinary process of the user.
    .consent(ConsentRule::Word("copy"))
    .help(
        "Private working copy of each plugin run: `overlay`, `copy`, `auto`",
        "`auto` is an overlay where the system allows it, and a copy otherwise",
    );
    CLUSTER_STATE = Setting::new(
        "clusterState",
        Parsed {
            add: |options, text, _| {
                options.cluster_state.push(ClusterStateArgument::parse(text));
                Ok(())
            },
            path: Some(|value| Some(ClusterStateArgument::parse(value).folder)),
        },
    )
    .option("cluster-state")
    .value("[NAME=]DIR")
    .reads_clusters()
        .help(
        "Folder with live objects of a cluster",
        "NAME is the cluster's name or URL in destinations; default: the cluster of Argo CD \
             itself",
    );
    CONTEXT = Setting::new(
        "context",
        Parsed {
            // Names of contexts may have `=` only after a name.
            add: |options, text, _| {
                let (cluster, context) = split_cluster(text);
                options.kubernetes.contexts.push(ClusterContext { cluster, context: context.to_owned() });
                Ok(())
            },
            path: None,
        },
    )
    .option("context")
    .value("[NAME=]CONTEXT")
    .reads_clusters()
        .help(
        "Context with which a live cluster is read",
        "NAME is the cluster's name or URL in destinations; default: the cluster of Argo CD \
             itself",
    );
    KUBECONFIG = Setting::new("kubeconfig", Paths(|options| &mut options.kubernetes.kubeconfigs))
        .value("FILE")
        .reads_clusters()
        .help(
            "File with contexts of live clusters",
            "Default with `context`: those of `KUBECONFIG`, else `~/.kube/config`. Without `context`, \
             its current context is used for the cluster of Argo CD itself",
        );
    IN_CLUSTER = Setting::new("inCluster", Switch(|options| &mut options.kubernetes.in_cluster))
        .default("false")
        .consent(ConsentRule::Word("true"))
        .reads_clusters()
        .help("Read the cluster of Argo CD with the service account of this pod", "");
    CLUSTER_SECRETS = Setting::new("clusterSecrets", Paths(|options| &mut options.kubernetes.cluster_secrets))
        .value("PATH")
        .reads_clusters()
        .help(
            "Folder or file with Argo CD's cluster Secrets",
            "Live clusters are read with them. They must be outside of the rendered repositories",
        );
    KUBE_VERSION = Setting::new(
        "kubeVersion",
        Parsed {
            add: |options, text, _| {
                let (cluster, version) = split_cluster(text);
                options.destinations.set_kube_version(cluster, version.to_owned());
                Ok(())
            },
            path: None,
        },
    )
    .value("[NAME=]VERSION")
    .consent(Never)
    .help(
        "Kubernetes version of a destination cluster",
        "NAME is the cluster's name or URL; default: all clusters",
    );
    API_VERSIONS = Setting::new("apiVersions", Parsed { add: add_api_versions, path: None })
        .value("[NAME=]LIST|@FILE")
        .consent(Never)
        .help(
            "API versions of a destination cluster: `v1,apps/v1/Deployment,…`",
            "Or a file with one per line, which the project file cannot name. NAME is the cluster's \
             name or URL; default: all clusters",
        );
    PROJECTS = Setting::new("projects", Paths(|options| &mut options.projects)).value("PATH").help(
        "Folder or file with projects, in addition to the store",
        "An application of a project that was not found is an error then",
    );
    PROJECT_RULES = Setting::new(
        "projectRules",
        Words(&[
            ("enforce", |options| options.project_rules = ProjectEnforcement::Enforce),
            ("warn", |options| options.project_rules = ProjectEnforcement::Warn),
        ]),
    )
    .value("MODE")
    .default("enforce")
    .consent(ConsentRule::Word("warn"))
    .help(
        "Applications that their project does not permit: `enforce`, `warn`",
        "`enforce` makes them an error; with `warn` they are a warning, and no values are read \
             from clusters",
    );
    STRICT = Setting::new("strict", Switch(|options| &mut options.strict))
        .option("strict")
        .default("false")
        .consent(Never)
        .help(
            "Refuse applications that Argo CD refuses, instead of a warning",
            "Those with unknown fields, no destination, neither path nor chart, and those of projects \
             that were not found",
        );
    APPSETS = Setting::new(
        "appsets",
        Words(&[
            ("auto", |options| options.sets = SetInclusion::Auto),
            ("all", |options| options.sets = SetInclusion::All),
            ("none", |options| options.sets = SetInclusion::None),
        ]),
    )
    .value("WHICH")
    .default("auto")
    .consent(ConsentRule::Word("all"))
    .help(
        "Application sets whose Applications take part: `auto`, `all`, `none`",
        "`auto` are those that need only the store and folders of `repo`; `all` also asks git \
             servers, registries, plugin services and forges",
    );
    ANSWERS = Setting::new("answers", Path(|options| &mut options.answers))
        .value("FILE")
        .consent(PathsOut)
        .help(
            "File with answers for the generators of application sets",
            "What it does not answer is asked as without it",
        );
    CONNECT_TO = Setting::new("connectTo", Parsed { add: add_connect_to, path: None })
        .value("HOST1:PORT1=HOST2:PORT2")
        .help(
            "Connect to HOST2:PORT2 instead of HOST1:PORT1",
            "For plugin services of application sets, for example through `kubectl port-forward`. The \
             name in certificates stays HOST1",
        );
    GIT_FILE_GLOBBING = Setting::new(
        "gitFileGlobbing",
        Words(&[
            ("git", |options| options.file_globbing = FileGlobbing::Git),
            ("new", |options| options.file_globbing = FileGlobbing::DoubleStar),
        ]),
    )
    .value("KIND")
    .default("git")
    .consent(Never)
    .help(
        "Patterns of files in `git` generators: `git`, `new`",
        "`git` are those of `git ls-files`, `new` those of Argo CD's \
             `--enable-new-git-file-globbing`",
    );
    ARGOCD_NAMESPACE = Setting::new("argocdNamespace", Value(|options| &mut options.argocd_namespace))
        .value("NS")
        .help("Namespace of Argo CD", "Default: the namespace of argocd-cm in the store, else `argocd`");
    TRACKING = Setting::new(
        "tracking",
        Words(&[
            ("annotation", |options| options.tracking = Some(TrackingMethod::Annotation)),
            ("label", |options| options.tracking = Some(TrackingMethod::Label)),
            ("annotation+label", |options| options.tracking = Some(TrackingMethod::AnnotationAndLabel)),
            ("none", |options| options.tracking = Some(TrackingMethod::None)),
        ]),
    )
    .value("METHOD")
    .consent(Never)
    .help(
        "Resource tracking method of Argo CD",
        "`annotation`, `label`, `annotation+label` or `none`. Default: that of argocd-cm in the \
             store, else `annotation`",
    );
    TRUST_REPOSITORY_SETTINGS = Setting::new(
        "trustRepositorySettings",
        Paths(|options| &mut options.trust_repository_settings),
    )
        .value("PATH")
        .consent(ConsentRule::Content)
        .help(
            "Trust settings and Secrets in rendered repositories below PATH",
            "`/` trusts all. By default, only files of the store outside of rendered repositories may \
             set kustomize build options, URL schemes of value files, credentials, proxies and \
             certificates. In the project file, consent also depends on the content of the files",
        );
    ALLOW_FILE_REPOSITORIES = Setting::new(
        "allowFileRepositories",
        Parsed { add: add_file_repositories, path: Some(|value| Some(value.into())) },
    )
    .value("DIR")
    .help(
        "Allow repositories to use `file://` repositories below DIR",
        "Applications in rendered repositories, and submodules. Those of `repo` are always \
             allowed",
    );
    OWN_CREDENTIALS_VIA_PROXY = Setting::new(
        "ownCredentialsViaProxy",
        Switch(|options| &mut options.own_credentials_via_proxy),
    )
        .default("false")
        .consent(ConsentRule::Word("true"))
        .help(
            "Send your own git credentials through proxies of Secrets",
            "Through the proxy of a repository Secret without credentials. An untrusted proxy may \
             read them",
        );
    CACHE_DIR = Setting::new("cacheDir", Path(|options| &mut options.cache_dir))
        .value("DIR")
        .help("Cache folder for fetched sources", "Default: below the user's cache folder");
    OFFLINE = Setting::new("offline", Switch(|options| &mut options.offline))
        .option("offline")
        .default("false")
        .consent(Never)
        .help(
            "Use no network, only the cache",
            "The cache may be read-only. The Helm plugin and other plugins with a run context comply; \
             others may still use the network, for example kustomize for remote bases",
        );
    REFRESH = Setting::new("refresh", Switch(|options| &mut options.refresh))
        .option("refresh")
        .default("false")
        .consent(Never)
        .help("Ignore cached look-ups and charts, and fetch them again", "");
    LIMITS = Setting::new("limits", Limits).option("limit").value("NAME=VALUE").separated_by(',').help(
        "Change a limit (`tiphys help limits`)",
        "Values are whole numbers, or have a unit, such as `90s`, `2m`, `64KiB` and `1GiB`. Each \
             limit has a variable, too",
    );
}

/// Maximum bytes of a file with API versions. Clusters with many custom resources have some 100 KiB.
const API_VERSIONS_BYTES_MAX: u64 = 4 << 20;

/// Standard input among the paths of a store. The project file cannot name it.
const STANDARD_INPUT: &str = "-";

/// Returns the directory of `[URL=]DIR`. None: there is none, as in a URL alone, which may have a password.
fn folder_of_repository(value: &str) -> Option<PathBuf> {
    let copy = LocalCopy::parse(value, std::path::Path::new("")).ok()?;
    (copy.url.is_some() || copy.revision.is_some() || !value.contains("://")).then_some(copy.dir)
}

fn add_repository(
    options: &mut ServiceOptions,
    text: &str,
    source: &ValueSource<'_>,
) -> Result<(), ServiceError> {
    if text.is_empty() {
        return Ok(());
    }
    if folder_of_repository(text).is_none() {
        let text = redact_url(text);
        return Err(ServiceError::invalid_input(format!(
            "{text:?} names no folder; write DIR, @BRANCH=DIR, URL=DIR or URL@REV=DIR"
        )));
    }
    let copy = LocalCopy::parse(text, &source.host.absolute(""))
        .map_err(|error| ServiceError::invalid_input(error.to_string()))?;
    require_directory(&copy.dir)?;
    options.repositories.push(if source.is_of_caller { copy } else { copy.of_checkout() });
    Ok(())
}

fn add_api_versions(
    options: &mut ServiceOptions,
    text: &str,
    source: &ValueSource<'_>,
) -> Result<(), ServiceError> {
    let (cluster, list) = split_cluster(text);
    let list = match list.strip_prefix('@') {
        Some(file) => read_api_versions(file, source)?,
        None => list.to_owned(),
    };
    let list = list.split([',', '\n']).map(str::trim).filter(|item| !item.is_empty()).map(str::to_owned);
    options.destinations.set_api_versions(cluster, list.collect());
    Ok(())
}

fn read_api_versions(file: &str, source: &ValueSource<'_>) -> Result<String, ServiceError> {
    let failed = |problem: &dyn std::fmt::Display| {
        ServiceError::invalid_input(format!("cannot read {file}: {problem}"))
    };
    let text =
        read_bounded(&source.host.absolute(file), API_VERSIONS_BYTES_MAX).map_err(|error| failed(&error))?;
    let text = text.ok_or_else(|| failed(&format!("it has more than {API_VERSIONS_BYTES_MAX} bytes")))?;
    String::from_utf8(text).map_err(|_| failed(&"it is not UTF-8"))
}

fn add_connect_to(options: &mut ServiceOptions, text: &str, _: &ValueSource<'_>) -> Result<(), ServiceError> {
    let entry: ConnectTo = text.parse().map_err(ServiceError::invalid_input_from)?;
    options.connect_to.push(entry);
    Ok(())
}

fn add_file_repositories(
    options: &mut ServiceOptions,
    dir: &str,
    source: &ValueSource<'_>,
) -> Result<(), ServiceError> {
    require_directory(&source.host.absolute(dir))?;
    options.allow_file_repositories.push(PathBuf::from(dir));
    Ok(())
}

fn require_directory(dir: &std::path::Path) -> Result<(), ServiceError> {
    if dir.is_dir() {
        return Ok(());
    }
    Err(ServiceError::invalid_input(format!("{} is not a folder", dir.display())))
}

/// Splits `NAME=VALUE` or `VALUE`.
fn split_cluster(text: &str) -> (Option<String>, &str) {
    match text.split_once('=') {
        Some((name, value)) => (Some(name.to_owned()), value),
        None => (None, text),
    }
}
