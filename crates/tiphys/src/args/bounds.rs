//! Limits: everything that others can make large or slow has one, with a unit, a default and an option.

use clap::Args;
use tiphys_service::ServiceLimits;

/// The defaults.
const DEFAULT: ServiceLimits = ServiceLimits::DEFAULT;

/// Limits of every command. `--help` shows all of them, `-h` the frequently used ones.
#[derive(Debug, Args)]
#[command(next_help_heading = "Bounds")]
pub(crate) struct BoundArgs {
    /// How long one plugin's commands may take, in seconds; default `90`, which `cmp-server` reads from `ARGOCD_EXEC_TIMEOUT`
    #[arg(long, value_name = "SECONDS", global = true, env = "TIPHYS_PLUGIN_TIMEOUT", value_parser = clap::value_parser!(u64).range(1..=86_400))]
    plugin_timeout: Option<u64>,

    /// Time between SIGTERM and SIGKILL when a plugin's processes are ended, in seconds
    #[arg(long, value_name = "SECONDS", global = true, env = "TIPHYS_PLUGIN_GRACE", hide_short_help = true, default_value_t = DEFAULT.plugin_grace, value_parser = clap::value_parser!(u64).range(0..=3_600))]
    plugin_grace: u64,

    /// Bytes that one plugin command may print on standard output
    #[arg(long, value_name = "BYTES", global = true, env = "TIPHYS_PLUGIN_OUTPUT_MAX", default_value_t = DEFAULT.plugin_output_max, value_parser = clap::value_parser!(u64).range(1..))]
    plugin_output_max: u64,

    /// Bytes of standard error that are kept of one plugin command: the first and the last half
    #[arg(long, value_name = "BYTES", global = true, env = "TIPHYS_PLUGIN_STDERR_MAX", hide_short_help = true, default_value_t = DEFAULT.plugin_stderr_max, value_parser = clap::value_parser!(u64).range(1..))]
    plugin_stderr_max: u64,

    /// Files, folders and links of one repository's tree; default `1000000`, and `500000` of an archive that `cmp-server` receives
    #[arg(long, value_name = "N", global = true, env = "TIPHYS_TREE_ENTRIES_MAX", hide_short_help = true, value_parser = clap::value_parser!(u64).range(1..))]
    tree_entries_max: Option<u64>,

    /// Bytes of all files of one repository's tree together
    #[arg(long, value_name = "BYTES", global = true, env = "TIPHYS_TREE_BYTES_MAX", hide_short_help = true, default_value_t = DEFAULT.tree_bytes_max, value_parser = clap::value_parser!(u64).range(1..))]
    tree_bytes_max: u64,

    /// Bytes of all files of one `directory` source together
    #[arg(long, value_name = "BYTES", global = true, hide_short_help = true, default_value_t = DEFAULT.directory_bytes_max, value_parser = clap::value_parser!(u64).range(1..))]
    directory_bytes_max: u64,

    /// Objects of one source
    #[arg(long, value_name = "N", global = true, hide_short_help = true, default_value_t = DEFAULT.manifests_max, value_parser = clap::value_parser!(u64).range(1..))]
    manifests_max: u64,

    /// How long connecting to a server of charts may take, TLS included, in seconds
    #[arg(long, value_name = "SECONDS", global = true, hide_short_help = true, default_value_t = DEFAULT.connect_timeout, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    connect_timeout: u64,

    /// How long looking up branches and tags, or one question to a server of charts, may take, in seconds
    #[arg(long, value_name = "SECONDS", global = true, hide_short_help = true, default_value_t = DEFAULT.lookup_timeout, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    lookup_timeout: u64,

    /// How long fetching one repository may take, or one chart with all that is looked up for it, in seconds
    #[arg(long, value_name = "SECONDS", global = true, hide_short_help = true, default_value_t = DEFAULT.fetch_timeout, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    fetch_timeout: u64,

    /// Bytes of the index of one Helm repository
    #[arg(long, value_name = "BYTES", global = true, hide_short_help = true, default_value_t = DEFAULT.chart_index_bytes_max, value_parser = clap::value_parser!(u64).range(1..))]
    chart_index_bytes_max: u64,

    /// Bytes of one packed chart, or of one artefact of a registry
    #[arg(long, value_name = "BYTES", global = true, hide_short_help = true, default_value_t = DEFAULT.chart_bytes_max, value_parser = clap::value_parser!(u64).range(1..))]
    chart_bytes_max: u64,

    /// Bytes of one other answer of a registry: a manifest, a token, or a page of tags
    #[arg(long, value_name = "BYTES", global = true, hide_short_help = true, default_value_t = DEFAULT.registry_answer_bytes_max, value_parser = clap::value_parser!(u64).range(1..))]
    registry_answer_bytes_max: u64,

    /// Tags of one chart or artefact of a registry
    #[arg(long, value_name = "N", global = true, hide_short_help = true, default_value_t = DEFAULT.registry_tags_max, value_parser = clap::value_parser!(u64).range(1..))]
    registry_tags_max: u64,

    /// Pages that the tags of one chart or artefact come in
    #[arg(long, value_name = "N", global = true, hide_short_help = true, default_value_t = DEFAULT.registry_tag_pages_max, value_parser = clap::value_parser!(u64).range(1..))]
    registry_tag_pages_max: u64,

    /// Bytes on disk of the cache. Once a day, a command removes the clones, charts and trees that were not used for longest; so does
    /// `cache prune`
    #[arg(long, value_name = "BYTES", global = true, env = "TIPHYS_CACHE_SIZE_MAX", hide_short_help = true, default_value_t = DEFAULT.cache_size_max)]
    cache_size_max: u64,
}

impl From<&BoundArgs> for ServiceLimits {
    fn from(args: &BoundArgs) -> Self {
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
            cache_size_max: args.cache_size_max,
        }
    }
}
