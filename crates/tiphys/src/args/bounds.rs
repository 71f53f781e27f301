//! Bounds: whatever somebody else can make large or slow has one, with a unit, a default and an option.

use std::time::Duration;

use clap::Args;
use tiphys_source::ChartLimits;
use tiphys_tree::TreeLimits;

/// How long one plugin's commands may take where nobody says it: Argo CD's default of `ARGOCD_EXEC_TIMEOUT`.
const PLUGIN_TIMEOUT: Duration = Duration::from_secs(90);

/// Bounds of every command. `--help` shows all of them, `-h` those that people change.
#[derive(Debug, Args)]
#[command(next_help_heading = "Bounds")]
pub(crate) struct BoundArgs {
    /// How long one plugin's commands may take, in seconds; default `90`, which `cmp-server` reads from `ARGOCD_EXEC_TIMEOUT`
    #[arg(long, value_name = "SECONDS", global = true, env = "TIPHYS_PLUGIN_TIMEOUT", value_parser = clap::value_parser!(u64).range(1..=86_400))]
    plugin_timeout: Option<u64>,

    /// Time between SIGTERM and SIGKILL when a plugin's processes are ended, in seconds
    #[arg(long, value_name = "SECONDS", global = true, env = "TIPHYS_PLUGIN_GRACE", hide_short_help = true, default_value_t = 5, value_parser = clap::value_parser!(u64).range(0..=3_600))]
    plugin_grace: u64,

    /// Bytes that one plugin command may print on standard output
    #[arg(long, value_name = "BYTES", global = true, env = "TIPHYS_PLUGIN_OUTPUT_MAX", default_value_t = 100 * 1024 * 1024, value_parser = clap::value_parser!(u64).range(1..))]
    plugin_output_max: u64,

    /// Bytes of standard error that are kept of one plugin command: the first and the last half
    #[arg(long, value_name = "BYTES", global = true, env = "TIPHYS_PLUGIN_STDERR_MAX", hide_short_help = true, default_value_t = 64 * 1024, value_parser = clap::value_parser!(u64).range(1..))]
    plugin_stderr_max: u64,

    /// Files, folders and links of one repository's tree; default `1000000`, and `500000` of an archive that `cmp-server` receives
    #[arg(long, value_name = "N", global = true, env = "TIPHYS_TREE_ENTRIES_MAX", hide_short_help = true, value_parser = clap::value_parser!(u64).range(1..))]
    tree_entries_max: Option<u64>,

    /// Bytes of all files of one repository's tree together
    #[arg(long, value_name = "BYTES", global = true, env = "TIPHYS_TREE_BYTES_MAX", hide_short_help = true, default_value_t = TreeLimits::DEFAULT.bytes_max, value_parser = clap::value_parser!(u64).range(1..))]
    tree_bytes_max: u64,

    /// Bytes of all files of one `directory` source together
    #[arg(long, value_name = "BYTES", global = true, hide_short_help = true, default_value_t = 10 * 1024 * 1024, value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) directory_bytes_max: u64,

    /// Objects of one source
    #[arg(long, value_name = "N", global = true, hide_short_help = true, default_value_t = 100_000, value_parser = clap::value_parser!(u64).range(1..))]
    manifests_max: u64,

    /// How long connecting to a server of charts may take, TLS included, in seconds
    #[arg(long, value_name = "SECONDS", global = true, hide_short_help = true, default_value_t = tiphys_source::CONNECT_TIMEOUT.as_secs(), value_parser = clap::value_parser!(u64).range(1..=86_400))]
    connect_timeout: u64,

    /// How long looking up branches and tags, or one question to a server of charts, may take, in seconds
    #[arg(long, value_name = "SECONDS", global = true, hide_short_help = true, default_value_t = tiphys_source::LOOKUP_TIMEOUT.as_secs(), value_parser = clap::value_parser!(u64).range(1..=86_400))]
    lookup_timeout: u64,

    /// How long fetching one repository may take, or one chart with all that is looked up for it, in seconds
    #[arg(long, value_name = "SECONDS", global = true, hide_short_help = true, default_value_t = tiphys_source::FETCH_TIMEOUT.as_secs(), value_parser = clap::value_parser!(u64).range(1..=86_400))]
    fetch_timeout: u64,

    /// Bytes of the index of one Helm repository
    #[arg(long, value_name = "BYTES", global = true, hide_short_help = true, default_value_t = ChartLimits::DEFAULT.index_bytes_max, value_parser = clap::value_parser!(u64).range(1..))]
    chart_index_bytes_max: u64,

    /// Bytes of one packed chart, or of one artefact of a registry
    #[arg(long, value_name = "BYTES", global = true, hide_short_help = true, default_value_t = ChartLimits::DEFAULT.archive_bytes_max, value_parser = clap::value_parser!(u64).range(1..))]
    chart_bytes_max: u64,

    /// Bytes of one other answer of a registry: a manifest, a token, or a page of tags
    #[arg(long, value_name = "BYTES", global = true, hide_short_help = true, default_value_t = ChartLimits::DEFAULT.answer_bytes_max, value_parser = clap::value_parser!(u64).range(1..))]
    registry_answer_bytes_max: u64,

    /// Tags of one chart or artefact of a registry
    #[arg(long, value_name = "N", global = true, hide_short_help = true, default_value_t = ChartLimits::DEFAULT.tags_max, value_parser = clap::value_parser!(u64).range(1..))]
    registry_tags_max: u64,

    /// Pages that the tags of one chart or artefact come in
    #[arg(long, value_name = "N", global = true, hide_short_help = true, default_value_t = ChartLimits::DEFAULT.tag_pages_max, value_parser = clap::value_parser!(u64).range(1..))]
    registry_tag_pages_max: u64,
}

impl BoundArgs {
    /// How long one plugin's commands may take.
    pub(crate) fn plugin_timeout(&self) -> Duration {
        self.asked_plugin_timeout().unwrap_or(PLUGIN_TIMEOUT)
    }

    /// The same where somebody has said it.
    pub(crate) fn asked_plugin_timeout(&self) -> Option<Duration> {
        self.plugin_timeout.map(Duration::from_secs)
    }

    /// Bounds of a run.
    pub(crate) fn run(&self) -> tiphys_process::Limits {
        tiphys_process::Limits {
            stdout_bytes_max: size(self.plugin_output_max),
            stderr_bytes_max: size(self.plugin_stderr_max),
            grace: Duration::from_secs(self.plugin_grace),
        }
    }

    /// Bounds of a tree.
    pub(crate) fn tree(&self) -> TreeLimits {
        TreeLimits {
            entries_max: self.tree_entries_max.unwrap_or(TreeLimits::DEFAULT.entries_max),
            bytes_max: self.tree_bytes_max,
        }
    }

    /// Entries of a tree where somebody has said it.
    pub(crate) fn asked_tree_entries_max(&self) -> Option<u64> {
        self.tree_entries_max
    }

    /// Objects of one source.
    pub(crate) fn manifests_max(&self) -> usize {
        size(self.manifests_max)
    }

    /// Bounds of what is fetched of Helm repositories and registries.
    pub(crate) fn charts(&self) -> ChartLimits {
        ChartLimits {
            index_bytes_max: self.chart_index_bytes_max,
            archive_bytes_max: self.chart_bytes_max,
            answer_bytes_max: self.registry_answer_bytes_max,
            tags_max: self.registry_tags_max,
            tag_pages_max: self.registry_tag_pages_max,
        }
    }

    /// How long connecting to a server of charts may take.
    pub(crate) fn connect_timeout(&self) -> Duration {
        Duration::from_secs(self.connect_timeout)
    }

    /// How long looking something up may take. It is the first part of fetching.
    pub(crate) fn lookup_timeout(&self) -> Duration {
        self.lookup_bound().0
    }

    /// The same with the option that sets it.
    pub(crate) fn lookup_bound(&self) -> (Duration, &'static str) {
        let (lookup, fetch) =
            ((self.lookup_timeout, "--lookup-timeout"), (self.fetch_timeout, "--fetch-timeout"));
        let (seconds, option) = if lookup.0 <= fetch.0 { lookup } else { fetch };
        (Duration::from_secs(seconds), option)
    }

    /// How long fetching one repository may take.
    pub(crate) fn fetch_timeout(&self) -> Duration {
        Duration::from_secs(self.fetch_timeout)
    }
}

/// A bound that memory has to hold: more than can be addressed is as good as none.
fn size(bound: u64) -> usize {
    usize::try_from(bound).unwrap_or(usize::MAX)
}
