//! Arguments of `appset-controller`: those of Argo CD's ApplicationSet controller, and the limits that only tiphys has.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Args;

use super::cmp_server::{LogFormatArg, LogLevelArg, listen_address};
use super::shared;

#[derive(Debug, Args)]
#[command(
    // As in Argo CD, the last of repeated flags wins.
    args_override_self = true,
    after_help = "Example, for the sets of one namespace of the current kubeconfig's cluster:
  tiphys appset-controller --namespace team-a --dry-run

Started as `argocd-applicationset-controller`, or with that name in ARGOCD_BINARY_NAME, the program runs this command, so that in Argo CD's
manifests only the image changes. In a pod it uses the pod's service account. At SIGTERM or SIGINT it ends running reconciles, releases
its lease, and exits with 0."
)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub(crate) struct AppSetControllerArgs {
    /// Namespace of Argo CD; default: that of the pod, else `argocd`
    #[arg(long, short = 'n', value_name = "NAME", env = "NAMESPACE")]
    pub(crate) namespace: Option<String>,

    /// Kubeconfig to use outside of a pod; default: those of KUBECONFIG, else `~/.kube/config`
    #[arg(long, value_name = "FILE", id = "controller-kubeconfig")]
    pub(crate) kubeconfig: Option<PathBuf>,

    /// Context of the kubeconfig
    #[arg(long = "kube-context", alias = "context", value_name = "NAME")]
    pub(crate) kube_context: Option<String>,

    /// Further namespaces of sets: names, globs, or regular expressions between slashes
    #[arg(
        long,
        value_name = "PATTERN,…",
        value_delimiter = ',',
        env = "ARGOCD_APPLICATIONSET_CONTROLLER_NAMESPACES"
    )]
    pub(crate) applicationset_namespaces: Vec<String>,

    /// Permitted changes of Applications: `sync`, `create-only`, `create-update` or `create-delete`; default: that of each set
    #[arg(
        long,
        value_name = "POLICY",
        value_parser = ["", "sync", "create-only", "create-update", "create-delete"],
        hide_possible_values = true,
        default_value = "",
        hide_default_value = true,
        env = "ARGOCD_APPLICATIONSET_CONTROLLER_POLICY"
    )]
    pub(crate) policy: String,

    /// Whether `spec.syncPolicy.applicationsSync` of a set replaces --policy; default: whether the variable of --policy is empty
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true", value_parser = boolean, env = "ARGOCD_APPLICATIONSET_CONTROLLER_ENABLE_POLICY_OVERRIDE")]
    pub(crate) enable_policy_override: Option<bool>,

    /// Annotations of Applications that are kept, whatever the templates have
    #[arg(
        long,
        value_name = "KEY,…",
        value_delimiter = ',',
        env = "ARGOCD_APPLICATIONSET_CONTROLLER_GLOBAL_PRESERVED_ANNOTATIONS"
    )]
    pub(crate) preserved_annotations: Vec<String>,

    /// Labels of Applications that are kept, whatever the templates have
    #[arg(
        long,
        value_name = "KEY,…",
        value_delimiter = ',',
        env = "ARGOCD_APPLICATIONSET_CONTROLLER_GLOBAL_PRESERVED_LABELS"
    )]
    pub(crate) preserved_labels: Vec<String>,

    /// Refuse a reconcile that deletes more than this percentage of the Applications of a set that owns ten or more
    #[arg(long, value_name = "PERCENT", default_value_t = 50, value_parser = clap::value_parser!(u8).range(0..=100))]
    pub(crate) max_deletions: u8,

    /// Write the parameters of each set's Applications into the `ConfigMap` SET-parameters beside the set, which `tiphys appset explain`
    /// prints. They may hold secrets
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_value = "false", default_missing_value = "true", value_parser = boolean)]
    pub(crate) record_parameters: bool,

    /// Send all writes as dry runs, which change nothing
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_value = "false", default_missing_value = "true", value_parser = boolean, env = "ARGOCD_APPLICATIONSET_CONTROLLER_DRY_RUN")]
    pub(crate) dry_run: bool,

    /// Write only while holding the lease that Argo CD's own controller uses, too
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_value = "false", default_missing_value = "true", value_parser = boolean, env = "ARGOCD_APPLICATIONSET_CONTROLLER_ENABLE_LEADER_ELECTION")]
    pub(crate) enable_leader_election: bool,

    /// The only addresses of forges (`api`) that sets may name
    #[arg(
        long,
        value_name = "URL,…",
        value_delimiter = ',',
        env = "ARGOCD_APPLICATIONSET_CONTROLLER_ALLOWED_SCM_PROVIDERS"
    )]
    pub(crate) allowed_scm_providers: Vec<String>,

    /// Whether sets may ask forges, by generators `scmProvider` and `pullRequest`
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_value = "true", default_missing_value = "true", value_parser = boolean, env = "ARGOCD_APPLICATIONSET_CONTROLLER_ENABLE_SCM_PROVIDERS")]
    pub(crate) enable_scm_providers: bool,

    /// Take tokens for forges only from Secrets with the label `argocd.argoproj.io/secret-type: scm-creds`
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_value = "false", default_missing_value = "true", value_parser = boolean, env = "ARGOCD_APPLICATIONSET_CONTROLLER_TOKENREF_STRICT_MODE")]
    pub(crate) token_ref_strict_mode: bool,

    /// Interval of `git`, `oci` and `clusterDecisionResource` generators without one of their own
    #[arg(long, value_name = "DURATION", default_value = "3m", value_parser = duration, env = "ARGOCD_APPLICATIONSET_CONTROLLER_REQUEUE_AFTER")]
    pub(crate) requeue_after: std::time::Duration,

    /// Read patterns of files of `git` generators with `**`, as the setting `gitFileGlobbing=new`
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true", value_parser = boolean, env = "ARGOCD_APPLICATIONSET_CONTROLLER_ENABLE_NEW_GIT_FILE_GLOBBING")]
    pub(crate) enable_new_git_file_globbing: Option<bool>,

    /// Sets that are reconciled at the same time
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u16).range(1..), env = "ARGOCD_APPLICATIONSET_CONTROLLER_CONCURRENT_RECONCILIATIONS")]
    pub(crate) concurrent_reconciliations: u16,

    /// Applications in the status of a set; 0: all
    #[arg(
        long,
        value_name = "N",
        default_value_t = 5000,
        env = "ARGOCD_APPLICATIONSET_CONTROLLER_MAX_RESOURCES_STATUS_COUNT"
    )]
    pub(crate) max_resources_status_count: usize,

    /// List all objects again after this time
    #[arg(long, value_name = "DURATION", default_value = "10m", value_parser = duration, env = "ARGOCD_APPLICATIONSET_CONTROLLER_CACHE_SYNC_PERIOD")]
    pub(crate) cache_sync_period: std::time::Duration,

    /// Address of `/metrics`: PORT on the loopback address, ADDR:PORT, or :PORT on all addresses
    #[arg(long, value_name = "ADDRESS", default_value = ":8080", value_parser = listen_address)]
    pub(crate) metrics_addr: SocketAddr,

    /// Address of `/healthz` and `/readyz`
    #[arg(long, value_name = "ADDRESS", default_value = ":8081", value_parser = listen_address)]
    pub(crate) probe_addr: SocketAddr,

    /// Address of the webhooks of forges, `/api/webhook`, and of plugin services, `/api/plugin/CONFIGMAP`
    #[arg(long, value_name = "ADDRESS", default_value = ":7000", value_parser = listen_address)]
    pub(crate) webhook_addr: SocketAddr,

    /// Log level
    #[arg(
        long,
        value_name = "LEVEL",
        ignore_case = true,
        default_value = "info",
        env = "ARGOCD_APPLICATIONSET_CONTROLLER_LOGLEVEL"
    )]
    pub(crate) loglevel: LogLevelArg,

    /// Log format
    #[arg(
        long,
        value_name = "FORMAT",
        ignore_case = true,
        default_value = "json",
        env = "ARGOCD_APPLICATIONSET_CONTROLLER_LOGFORMAT"
    )]
    pub(crate) logformat: LogFormatArg,

    /// Log at level `debug`, whatever --loglevel is
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_value = "false", default_missing_value = "true", value_parser = boolean, env = "ARGOCD_APPLICATIONSET_CONTROLLER_DEBUG")]
    pub(crate) debug: bool,

    #[command(flatten)]
    pub(crate) of_argo_cd: OfArgoCd,
    #[command(flatten)]
    pub(crate) shared: shared::Server,
}

// Flags of parts that tiphys does not have. They are accepted with a log line, so that Argo CD's manifests need no change.
#[derive(Debug, Args)]
pub(crate) struct OfArgoCd {
    #[arg(long, hide = true, env = "ARGOCD_APPLICATIONSET_CONTROLLER_REPO_SERVER", hide_env = true)]
    argocd_repo_server: Option<String>,
    #[arg(long, hide = true, num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    repo_server_plaintext: Option<String>,
    #[arg(long, hide = true, num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    repo_server_strict_tls: Option<String>,
    #[arg(long, hide = true)]
    repo_server_timeout_seconds: Option<String>,
    #[arg(long, hide = true)]
    repo_server_ca_cert_path: Option<String>,
    #[arg(long, hide = true, num_args = 0..=1, require_equals = true, default_missing_value = "true", env = "ARGOCD_APPLICATIONSET_CONTROLLER_ENABLE_PROGRESSIVE_SYNCS", hide_env = true)]
    enable_progressive_syncs: Option<String>,
    #[arg(long, hide = true, env = "ARGOCD_APPLICATIONSET_CONTROLLER_SCM_ROOT_CA_PATH", hide_env = true)]
    scm_root_ca_path: Option<String>,
    #[arg(long, hide = true)]
    scm_proxy_url: Option<String>,
    #[arg(long, hide = true)]
    scm_no_proxy: Option<String>,
    #[arg(long, hide = true, num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    enable_github_api_metrics: Option<String>,
    #[arg(long, hide = true)]
    metrics_applicationset_labels: Option<String>,
    #[arg(long, hide = true)]
    webhook_parallelism_limit: Option<String>,
    #[arg(long, hide = true)]
    concurrent_application_updates: Option<String>,
}

impl OfArgoCd {
    /// Returns the names of the flags that are set to something else than their default.
    pub(crate) fn given(&self) -> Vec<&'static str> {
        let off = |value: &Option<String>| {
            value.as_deref().is_none_or(|value| value.is_empty() || value == "false")
        };
        let flags = [
            ("--argocd-repo-server", &self.argocd_repo_server),
            ("--repo-server-plaintext", &self.repo_server_plaintext),
            ("--repo-server-strict-tls", &self.repo_server_strict_tls),
            ("--repo-server-timeout-seconds", &self.repo_server_timeout_seconds),
            ("--repo-server-ca-cert-path", &self.repo_server_ca_cert_path),
            ("--enable-progressive-syncs", &self.enable_progressive_syncs),
            ("--scm-root-ca-path", &self.scm_root_ca_path),
            ("--scm-proxy-url", &self.scm_proxy_url),
            ("--scm-no-proxy", &self.scm_no_proxy),
            ("--enable-github-api-metrics", &self.enable_github_api_metrics),
            ("--metrics-applicationset-labels", &self.metrics_applicationset_labels),
            ("--webhook-parallelism-limit", &self.webhook_parallelism_limit),
            ("--concurrent-application-updates", &self.concurrent_application_updates),
        ];
        flags.into_iter().filter(|(_, value)| !off(value)).map(|(name, _)| name).collect()
    }
}

/// Parses a boolean as Go does. An empty variable of a manifest counts as `false`.
fn boolean(text: &str) -> Result<bool, String> {
    if text.is_empty() {
        return Ok(false);
    }
    tiphys_model::resources::parse_bool(text).ok_or_else(|| "expected true or false".to_owned())
}

/// Parses a duration as Go does.
fn duration(text: &str) -> Result<std::time::Duration, String> {
    let duration = crate::go_values::duration(text).filter(|duration| !duration.is_zero());
    duration.ok_or_else(|| "expected a duration above 0, such as 3m or 90s".to_owned())
}
