//! Limits on the size and duration of everything that others control. Each has a unit, a default and an option.

use clap::Args;
use tiphys_service::ServiceLimits;

/// The defaults.
const DEFAULT: ServiceLimits = ServiceLimits::DEFAULT;

// Limits of every command. `--help` shows all of them, `-h` the frequently used ones.
#[derive(Debug, Args)]
#[command(next_help_heading = "Limits")]
pub(crate) struct LimitArgs {
    /// Maximum duration of one plugin's commands, in seconds; default `90`, for `cmp-server` the value of `ARGOCD_EXEC_TIMEOUT`
    #[arg(long, value_name = "SECONDS", global = true, env = "TIPHYS_PLUGIN_TIMEOUT", value_parser = clap::value_parser!(u64).range(1..=86_400))]
    plugin_timeout: Option<u64>,

    /// Time between SIGTERM and SIGKILL when a plugin's processes are stopped, in seconds
    #[arg(long, value_name = "SECONDS", global = true, env = "TIPHYS_PLUGIN_GRACE", hide_short_help = true, default_value_t = DEFAULT.plugin_grace, value_parser = clap::value_parser!(u64).range(0..=3_600))]
    plugin_grace: u64,

    /// Maximum standard output of one plugin command, in bytes
    #[arg(long, value_name = "BYTES", global = true, env = "TIPHYS_PLUGIN_OUTPUT_MAX", default_value_t = DEFAULT.plugin_output_max, value_parser = clap::value_parser!(u64).range(1..))]
    plugin_output_max: u64,

    /// Maximum standard error that is kept of one plugin command, in bytes: its beginning and its end
    #[arg(long, value_name = "BYTES", global = true, env = "TIPHYS_PLUGIN_STDERR_MAX", hide_short_help = true, default_value_t = DEFAULT.plugin_stderr_max, value_parser = clap::value_parser!(u64).range(1..))]
    plugin_stderr_max: u64,

    /// Maximum number of files, folders and links in a repository's tree; default `1000000`, for archives that `cmp-server` receives `500000`
    #[arg(long, value_name = "N", global = true, env = "TIPHYS_TREE_ENTRIES_MAX", hide_short_help = true, value_parser = clap::value_parser!(u64).range(1..))]
    tree_entries_max: Option<u64>,

    /// Maximum total size of the files in a repository's tree, in bytes
    #[arg(long, value_name = "BYTES", global = true, env = "TIPHYS_TREE_BYTES_MAX", hide_short_help = true, default_value_t = DEFAULT.tree_bytes_max, value_parser = clap::value_parser!(u64).range(1..))]
    tree_bytes_max: u64,

    /// Maximum total size of the files of a `directory` source, in bytes
    #[arg(long, value_name = "BYTES", global = true, hide_short_help = true, default_value_t = DEFAULT.directory_bytes_max, value_parser = clap::value_parser!(u64).range(1..))]
    directory_bytes_max: u64,

    /// Maximum number of objects of a source
    #[arg(long, value_name = "N", global = true, hide_short_help = true, default_value_t = DEFAULT.manifests_max, value_parser = clap::value_parser!(u64).range(1..))]
    manifests_max: u64,

    /// Timeout for connecting to a chart server, TLS handshake included, in seconds
    #[arg(long, value_name = "SECONDS", global = true, hide_short_help = true, default_value_t = DEFAULT.connect_timeout, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    connect_timeout: u64,

    /// Timeout for listing the branches and tags of a repository, or for one request to a chart server, in seconds
    #[arg(long, value_name = "SECONDS", global = true, hide_short_help = true, default_value_t = DEFAULT.lookup_timeout, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    lookup_timeout: u64,

    /// Timeout for fetching a repository, or a chart with all its look-ups, in seconds
    #[arg(long, value_name = "SECONDS", global = true, hide_short_help = true, default_value_t = DEFAULT.fetch_timeout, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    fetch_timeout: u64,

    /// Timeout for one request to a Kubernetes API server with its repetitions, in seconds
    #[arg(long, value_name = "SECONDS", global = true, hide_short_help = true, default_value_t = DEFAULT.kube_request_timeout, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    kube_request_timeout: u64,

    /// Timeout for one call of a credential plugin of a kubeconfig, in seconds
    #[arg(long, value_name = "SECONDS", global = true, hide_short_help = true, default_value_t = DEFAULT.kube_exec_timeout, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    kube_exec_timeout: u64,

    /// Maximum size of one response of a Kubernetes API server, in bytes
    #[arg(long, value_name = "BYTES", global = true, hide_short_help = true, default_value_t = DEFAULT.kube_response_bytes_max, value_parser = clap::value_parser!(u64).range(1..))]
    kube_response_bytes_max: u64,

    /// Maximum total size of all pages of one list of a Kubernetes API server, in bytes
    #[arg(long, value_name = "BYTES", global = true, hide_short_help = true, default_value_t = DEFAULT.kube_list_bytes_max, value_parser = clap::value_parser!(u64).range(1..))]
    kube_list_bytes_max: u64,

    /// Maximum number of concurrent watches of Kubernetes API servers (`render --watch`). Each has a connection
    #[arg(long, value_name = "N", global = true, hide_short_help = true, default_value_t = DEFAULT.kube_watches_max, value_parser = clap::value_parser!(u64).range(1..))]
    kube_watches_max: u64,

    /// Maximum size of the index of a Helm repository, in bytes
    #[arg(long, value_name = "BYTES", global = true, hide_short_help = true, default_value_t = DEFAULT.chart_index_bytes_max, value_parser = clap::value_parser!(u64).range(1..))]
    chart_index_bytes_max: u64,

    /// Maximum size of a packed chart, or of an OCI artifact, in bytes
    #[arg(long, value_name = "BYTES", global = true, hide_short_help = true, default_value_t = DEFAULT.chart_bytes_max, value_parser = clap::value_parser!(u64).range(1..))]
    chart_bytes_max: u64,

    /// Maximum size of any other response of a registry (manifest, token, page of tags), in bytes
    #[arg(long, value_name = "BYTES", global = true, hide_short_help = true, default_value_t = DEFAULT.registry_answer_bytes_max, value_parser = clap::value_parser!(u64).range(1..))]
    registry_answer_bytes_max: u64,

    /// Maximum number of tags of a chart or OCI artifact
    #[arg(long, value_name = "N", global = true, hide_short_help = true, default_value_t = DEFAULT.registry_tags_max, value_parser = clap::value_parser!(u64).range(1..))]
    registry_tags_max: u64,

    /// Maximum number of pages of a tag list
    #[arg(long, value_name = "N", global = true, hide_short_help = true, default_value_t = DEFAULT.registry_tag_pages_max, value_parser = clap::value_parser!(u64).range(1..))]
    registry_tag_pages_max: u64,

    /// Timeout for one question to a plugin service of application sets with its repetitions, unless its ConfigMap has another, in seconds
    #[arg(long, value_name = "SECONDS", global = true, hide_short_help = true, default_value_t = DEFAULT.plugin_request_timeout, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    plugin_request_timeout: u64,

    /// Maximum size of one answer of a plugin service of application sets, decompressed, in bytes
    #[arg(long, value_name = "BYTES", global = true, hide_short_help = true, default_value_t = DEFAULT.plugin_answer_bytes_max, value_parser = clap::value_parser!(u64).range(1..))]
    plugin_answer_bytes_max: u64,

    /// Maximum number of concurrent questions to plugin services, and to forges, of application sets
    #[arg(long, value_name = "N", global = true, hide_short_help = true, default_value_t = DEFAULT.plugin_jobs, value_parser = clap::value_parser!(u64).range(1..))]
    plugin_jobs: u64,

    /// Timeout for one request to a forge (GitHub, GitLab, Gitea), in seconds
    #[arg(long, value_name = "SECONDS", global = true, hide_short_help = true, default_value_t = DEFAULT.forge_request_timeout, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    forge_request_timeout: u64,

    /// Maximum total size of all pages of one list of a forge, in bytes
    #[arg(long, value_name = "BYTES", global = true, hide_short_help = true, default_value_t = DEFAULT.forge_list_bytes_max, value_parser = clap::value_parser!(u64).range(1..))]
    forge_list_bytes_max: u64,

    /// Maximum number of pages of one list of a forge
    #[arg(long, value_name = "N", global = true, hide_short_help = true, default_value_t = DEFAULT.forge_pages_max, value_parser = clap::value_parser!(u64).range(1..))]
    forge_pages_max: u64,

    /// Maximum number of parameter sets of one generator of an application set
    #[arg(long, value_name = "N", global = true, hide_short_help = true, default_value_t = DEFAULT.appset_parameters_max, value_parser = clap::value_parser!(u64).range(1..))]
    appset_parameters_max: u64,

    /// Maximum size of a file that a `git` or `oci` generator reads, in bytes
    #[arg(long, value_name = "BYTES", global = true, hide_short_help = true, default_value_t = DEFAULT.appset_file_bytes_max, value_parser = clap::value_parser!(u64).range(1..))]
    appset_file_bytes_max: u64,

    /// Maximum number of steps of one template of an application set: evaluated nodes, iterations, and items that functions create
    #[arg(long, value_name = "N", global = true, hide_short_help = true, default_value_t = DEFAULT.template_steps_max, value_parser = clap::value_parser!(u64).range(1..))]
    template_steps_max: u64,

    /// Maximum size of the result of one template, and of each string in it, in bytes
    #[arg(long, value_name = "BYTES", global = true, hide_short_help = true, default_value_t = DEFAULT.template_output_max, value_parser = clap::value_parser!(u64).range(1..))]
    template_output_max: u64,

    /// Maximum depth of nested blocks, parentheses, templates and values of one template
    #[arg(long, value_name = "N", global = true, hide_short_help = true, default_value_t = DEFAULT.template_depth_max, value_parser = clap::value_parser!(u64).range(1..))]
    template_depth_max: u64,

    /// Maximum size of the cache on disk, in bytes. Once a day, and with `cache prune`, the least recently used clones, charts and trees are
    /// removed
    #[arg(long, value_name = "BYTES", global = true, env = "TIPHYS_CACHE_SIZE_MAX", hide_short_help = true, default_value_t = DEFAULT.cache_size_max)]
    cache_size_max: u64,
}

impl From<&LimitArgs> for ServiceLimits {
    fn from(args: &LimitArgs) -> Self {
        Self {
            plugin_timeout: args.plugin_timeout,
            plugin_grace: args.plugin_grace,
            plugin_output_max: args.plugin_output_max,
            plugin_stderr_max: args.plugin_stderr_max,
            tree_entries_max: args.tree_entries_max,
            tree_bytes_max: args.tree_bytes_max,
            directory_bytes_max: args.directory_bytes_max,
            manifests_max: args.manifests_max,
            connect_timeout: args.connect_timeout,
            lookup_timeout: args.lookup_timeout,
            fetch_timeout: args.fetch_timeout,
            chart_index_bytes_max: args.chart_index_bytes_max,
            chart_bytes_max: args.chart_bytes_max,
            registry_answer_bytes_max: args.registry_answer_bytes_max,
            registry_tags_max: args.registry_tags_max,
            registry_tag_pages_max: args.registry_tag_pages_max,
            kube_request_timeout: args.kube_request_timeout,
            kube_exec_timeout: args.kube_exec_timeout,
            kube_response_bytes_max: args.kube_response_bytes_max,
            kube_list_bytes_max: args.kube_list_bytes_max,
            kube_watches_max: args.kube_watches_max,
            plugin_request_timeout: args.plugin_request_timeout,
            plugin_answer_bytes_max: args.plugin_answer_bytes_max,
            plugin_jobs: args.plugin_jobs,
            forge_request_timeout: args.forge_request_timeout,
            forge_list_bytes_max: args.forge_list_bytes_max,
            forge_pages_max: args.forge_pages_max,
            appset_parameters_max: args.appset_parameters_max,
            appset_file_bytes_max: args.appset_file_bytes_max,
            template_steps_max: args.template_steps_max,
            template_output_max: args.template_output_max,
            template_depth_max: args.template_depth_max,
            cache_size_max: args.cache_size_max,
        }
    }
}
