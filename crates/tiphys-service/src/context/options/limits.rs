//! Limits on time, size and number.

use std::ffi::OsString;
use std::time::{Duration, SystemTime};

use tiphys_engine::appset::{GenerateOptions, TemplateProject};
use tiphys_generators::{ForgeSettings, PluginLimits};
use tiphys_go::gotemplate::Options;
use tiphys_kube::KubeOptions;
use tiphys_source::ChartLimits;
use tiphys_tree::TreeLimits;

/// Default timeout of one plugin's commands: Argo CD's default of `ARGOCD_EXEC_TIMEOUT`.
const PLUGIN_TIMEOUT: Duration = Duration::from_secs(90);

/// Limits that all use cases share. Durations are in seconds. The fields have the names of the options that set them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServiceLimits {
    /// Seconds that one plugin's commands may take, if configured.
    pub plugin_timeout: Option<u64>,
    /// Seconds between SIGTERM and SIGKILL when a plugin's processes are stopped.
    pub plugin_grace: u64,
    /// Bytes that one plugin command may print on standard output.
    pub plugin_output_max: u64,
    /// Bytes of standard error that are kept of one plugin command.
    pub plugin_stderr_max: u64,
    /// Files, directories and links in the tree of one repository, if configured.
    pub tree_entries_max: Option<u64>,
    /// Total bytes of the files in the tree of one repository.
    pub tree_bytes_max: u64,
    /// Total bytes of the files of one `directory` source.
    pub directory_bytes_max: u64,
    /// Objects of one source.
    pub manifests_max: u64,
    /// Seconds that connecting to a chart server may take, TLS included.
    pub connect_timeout: u64,
    /// Seconds that listing branches and tags, or one request to a chart server, may take.
    pub lookup_timeout: u64,
    /// Seconds that fetching one repository or chart may take.
    pub fetch_timeout: u64,
    /// Bytes of the index of one Helm repository.
    pub chart_index_bytes_max: u64,
    /// Bytes of one packed chart or registry artefact.
    pub chart_bytes_max: u64,
    /// Bytes of any other response of a registry.
    pub registry_answer_bytes_max: u64,
    /// Tags of one chart or artefact of a registry.
    pub registry_tags_max: u64,
    /// Pages of tags of one chart or artefact of a registry.
    pub registry_tag_pages_max: u64,
    /// Seconds that one request to a Kubernetes API server may take, with its repetitions.
    pub kube_request_timeout: u64,
    /// Seconds that one call of a credential plugin of a kubeconfig may take.
    pub kube_exec_timeout: u64,
    /// Bytes of one response of a Kubernetes API server.
    pub kube_response_bytes_max: u64,
    /// Bytes of all pages of one list of a Kubernetes API server.
    pub kube_list_bytes_max: u64,
    /// Concurrent watches of Kubernetes API servers. Each has a connection.
    pub kube_watches_max: u64,
    /// Seconds that one question to a plugin service of application sets may take, with its repetitions, unless its `ConfigMap` says otherwise.
    pub plugin_request_timeout: u64,
    /// Bytes of one answer of a plugin service.
    pub plugin_answer_bytes_max: u64,
    /// Concurrent questions to plugin services, and to forges.
    pub plugin_jobs: u64,
    /// Seconds that one request to a forge may take.
    pub forge_request_timeout: u64,
    /// Bytes of all pages of one list of a forge.
    pub forge_list_bytes_max: u64,
    /// Pages of one list of a forge.
    pub forge_pages_max: u64,
    /// Parameter sets of one generator.
    pub appset_parameters_max: u64,
    /// Bytes of one file that a `git` or `oci` generator reads.
    pub appset_file_bytes_max: u64,
    /// Steps of one template of an application set.
    pub template_steps_max: u64,
    /// Bytes of the result of one template, and of each string in it.
    pub template_output_max: u64,
    /// Levels of nested blocks, parentheses, templates and values of one template.
    pub template_depth_max: u64,
    /// Bytes on disk of the cache. A command removes what was not used for longest, once a day.
    pub cache_size_max: u64,
}

impl Default for ServiceLimits {
    fn default() -> Self {
        Self::DEFAULT
    }
}

impl ServiceLimits {
    /// The defaults.
    pub const DEFAULT: Self = Self {
        plugin_timeout: None,
        plugin_grace: 5,
        plugin_output_max: 100 * 1024 * 1024,
        plugin_stderr_max: 64 * 1024,
        tree_entries_max: None,
        tree_bytes_max: TreeLimits::DEFAULT.bytes_max,
        directory_bytes_max: 10 * 1024 * 1024,
        manifests_max: 100_000,
        connect_timeout: tiphys_source::CONNECT_TIMEOUT.as_secs(),
        lookup_timeout: tiphys_source::LOOKUP_TIMEOUT.as_secs(),
        fetch_timeout: tiphys_source::FETCH_TIMEOUT.as_secs(),
        chart_index_bytes_max: ChartLimits::DEFAULT.index_bytes_max,
        chart_bytes_max: ChartLimits::DEFAULT.archive_bytes_max,
        registry_answer_bytes_max: ChartLimits::DEFAULT.answer_bytes_max,
        registry_tags_max: ChartLimits::DEFAULT.tags_max,
        registry_tag_pages_max: ChartLimits::DEFAULT.tag_pages_max,
        kube_request_timeout: 60,
        kube_exec_timeout: 60,
        kube_response_bytes_max: 256 << 20,
        kube_list_bytes_max: 1 << 30,
        kube_watches_max: 200,
        plugin_request_timeout: 30,
        plugin_answer_bytes_max: 64 << 20,
        plugin_jobs: 16,
        forge_request_timeout: 30,
        forge_list_bytes_max: 64 << 20,
        forge_pages_max: 100,
        appset_parameters_max: 100_000,
        appset_file_bytes_max: 16 << 20,
        template_steps_max: 1_000_000,
        template_output_max: 4 << 20,
        template_depth_max: 100,
        cache_size_max: 20 << 30,
    };

    /// Returns the limits of connections to Kubernetes API servers. `environment` are the variables of credential plugins.
    pub(crate) fn kubernetes(&self, environment: Vec<(OsString, OsString)>) -> KubeOptions {
        KubeOptions {
            connect_timeout: Duration::from_secs(self.connect_timeout),
            request_timeout: Duration::from_secs(self.kube_request_timeout),
            exec_timeout: Duration::from_secs(self.kube_exec_timeout),
            response_bytes_max: size(self.kube_response_bytes_max),
            list_bytes_max: size(self.kube_list_bytes_max),
            environment,
            ..KubeOptions::default()
        }
    }

    /// Returns the limits of questions to plugin services.
    pub fn plugin_services(&self) -> PluginLimits {
        PluginLimits {
            request_timeout: Duration::from_secs(self.plugin_request_timeout),
            answer_bytes_max: self.plugin_answer_bytes_max,
            jobs: size(self.plugin_jobs),
            ..PluginLimits::default()
        }
    }

    /// Returns the limits of requests to forges. `environment` are variables of the process.
    pub(crate) fn forges(&self, environment: Vec<(OsString, OsString)>) -> ForgeSettings {
        ForgeSettings {
            connect_timeout: self.connect_timeout(),
            request_timeout: Duration::from_secs(self.forge_request_timeout),
            list_bytes_max: self.forge_list_bytes_max,
            pages_max: size(self.forge_pages_max),
            jobs: size(self.plugin_jobs),
            environment,
        }
    }

    /// Returns the limits of templates.
    pub fn templates(&self) -> tiphys_go::gotemplate::Limits {
        tiphys_go::gotemplate::Limits {
            steps: self.template_steps_max,
            output_bytes: size(self.template_output_max),
            depth: size(self.template_depth_max),
        }
    }

    /// Returns the options of generating application sets at a time.
    pub(crate) fn generating(&self, now: SystemTime) -> GenerateOptions {
        let templates = Options { limits: self.templates(), ..Options::at(now) };
        GenerateOptions {
            templates,
            parameters_max: size(self.appset_parameters_max),
            template_project: TemplateProject::Assumed,
        }
    }

    /// Returns the timeout of one plugin's commands.
    pub fn plugin_timeout(&self) -> Duration {
        self.plugin_timeout.map_or(PLUGIN_TIMEOUT, Duration::from_secs)
    }

    /// Returns the limits of a plugin run.
    pub fn run(&self) -> tiphys_process::Limits {
        tiphys_process::Limits {
            stdout_bytes_max: size(self.plugin_output_max),
            stderr_bytes_max: size(self.plugin_stderr_max),
            grace: Duration::from_secs(self.plugin_grace),
        }
    }

    /// Returns the limits of a tree.
    pub fn tree(&self) -> TreeLimits {
        TreeLimits {
            entries_max: self.tree_entries_max.unwrap_or(TreeLimits::DEFAULT.entries_max),
            bytes_max: self.tree_bytes_max,
        }
    }

    /// Returns the maximum number of objects of one source.
    pub(crate) fn manifests_max(&self) -> usize {
        size(self.manifests_max)
    }

    /// Returns the maximum number of concurrent watches of API servers.
    pub(crate) fn kube_watches_max(&self) -> usize {
        size(self.kube_watches_max)
    }

    /// Returns the limits of charts and registries.
    pub(crate) fn charts(&self) -> ChartLimits {
        ChartLimits {
            index_bytes_max: self.chart_index_bytes_max,
            archive_bytes_max: self.chart_bytes_max,
            answer_bytes_max: self.registry_answer_bytes_max,
            tags_max: self.registry_tags_max,
            tag_pages_max: self.registry_tag_pages_max,
        }
    }

    /// Returns the timeout of connecting to a chart server.
    pub(crate) fn connect_timeout(&self) -> Duration {
        Duration::from_secs(self.connect_timeout)
    }

    /// Returns the timeout of a look-up, and the option that sets it. A look-up is a part of fetching, so the shorter timeout applies.
    pub(crate) fn lookup_timeout(&self) -> (Duration, &'static str) {
        let (lookup, fetch) =
            ((self.lookup_timeout, "--lookup-timeout"), (self.fetch_timeout, "--fetch-timeout"));
        let (seconds, option) = if lookup.0 <= fetch.0 { lookup } else { fetch };
        (Duration::from_secs(seconds), option)
    }

    /// Returns the timeout of fetching one repository.
    pub(crate) fn fetch_timeout(&self) -> Duration {
        Duration::from_secs(self.fetch_timeout)
    }
}

/// Converts a limit on data in memory. A value above the address space means no limit.
fn size(limit: u64) -> usize {
    usize::try_from(limit).unwrap_or(usize::MAX)
}
