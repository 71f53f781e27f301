//! Names of the limits that a caller can change. An error that a limit causes has the [`Limit`] as its last source. Only a front end knows
//! how it is set: by an option, a variable or a value of a chart.

use std::error::Error;
use std::iter::successors;

/// A limit, identified by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
#[error("limit {0}")]
pub struct Limit(&'static str);

impl Limit {
    /// Bytes of one file that a `git` or `oci` generator reads.
    pub const APPSET_FILE_BYTES_MAX: Self = Self("appset-file-bytes-max");
    /// Parameter sets of one generator.
    pub const APPSET_PARAMETERS_MAX: Self = Self("appset-parameters-max");
    /// Bytes of one packed chart or artefact.
    pub const CHART_BYTES_MAX: Self = Self("chart-bytes-max");
    /// Bytes of the index of one Helm repository.
    pub const CHART_INDEX_BYTES_MAX: Self = Self("chart-index-bytes-max");
    /// Connections of a plugin server.
    pub const CONNECTIONS_MAX: Self = Self("connections-max");
    /// Time that a connection of a plugin server stays open without a call.
    pub const CONNECTION_IDLE_MAX: Self = Self("connection-idle-max");
    /// Time for the first frame of a connection of a plugin server.
    pub const CONNECTION_PREFACE_MAX: Self = Self("connection-preface-max");
    /// Time to connect to a chart server or a forge.
    pub const CONNECT_TIMEOUT: Self = Self("connect-timeout");
    /// Bytes of all files of one `directory` source.
    pub const DIRECTORY_BYTES_MAX: Self = Self("directory-bytes-max");
    /// Time to fetch one repository or chart.
    pub const FETCH_TIMEOUT: Self = Self("fetch-timeout");
    /// Bytes of all pages of one list of a forge; 64 MiB by default.
    pub const FORGE_LIST_BYTES_MAX: Self = Self("forge-list-bytes-max");
    /// Pages of one list of a forge; 100 by default.
    pub const FORGE_PAGES_MAX: Self = Self("forge-pages-max");
    /// Time of one request to a forge; 30 seconds by default.
    pub const FORGE_REQUEST_TIMEOUT: Self = Self("forge-request-timeout");
    /// Concurrent plugin runs.
    pub const JOBS: Self = Self("jobs");
    /// Time of one call of a credential plugin of a kubeconfig.
    pub const KUBE_EXEC_TIMEOUT: Self = Self("kube-exec-timeout");
    /// Bytes of all pages of one list of an API server.
    pub const KUBE_LIST_BYTES_MAX: Self = Self("kube-list-bytes-max");
    /// Time of one request to an API server.
    pub const KUBE_REQUEST_TIMEOUT: Self = Self("kube-request-timeout");
    /// Bytes of one response of an API server.
    pub const KUBE_RESPONSE_BYTES_MAX: Self = Self("kube-response-bytes-max");
    /// Concurrent watches of API servers.
    pub const KUBE_WATCHES_MAX: Self = Self("kube-watches-max");
    /// Time to look up branches and tags, or of one request to a chart server.
    pub const LOOKUP_TIMEOUT: Self = Self("lookup-timeout");
    /// Objects of one source.
    pub const MANIFESTS_MAX: Self = Self("manifests-max");
    /// Bytes of the archive of a call.
    pub const PACKED_BYTES_MAX: Self = Self("packed-bytes-max");
    /// Bytes of one answer of a plugin service of ApplicationSets.
    pub const PLUGIN_ANSWER_BYTES_MAX: Self = Self("plugin-answer-bytes-max");
    /// Concurrent questions to plugin services, and to forges, of ApplicationSets.
    pub const PLUGIN_JOBS: Self = Self("plugin-jobs");
    /// Bytes that one plugin command may print.
    pub const PLUGIN_OUTPUT_MAX: Self = Self("plugin-output-max");
    /// Plugin runs that wait.
    pub const PLUGIN_QUEUE_MAX: Self = Self("plugin-queue-max");
    /// Time that a plugin run waits.
    pub const PLUGIN_QUEUE_WAIT: Self = Self("plugin-queue-wait");
    /// Bytes of the body of one request to a plugin service that tiphys serves; 1 MiB by default.
    pub const PLUGIN_REQUEST_BYTES_MAX: Self = Self("plugin-request-bytes-max");
    /// Time of one question to a plugin service of ApplicationSets, with its repetitions.
    pub const PLUGIN_REQUEST_TIMEOUT: Self = Self("plugin-request-timeout");
    /// Time of the commands of one plugin.
    pub const PLUGIN_TIMEOUT: Self = Self("plugin-timeout");
    /// Bytes of one response of a registry.
    pub const REGISTRY_ANSWER_BYTES_MAX: Self = Self("registry-answer-bytes-max");
    /// Pages of tags of one artefact of a registry.
    pub const REGISTRY_TAG_PAGES_MAX: Self = Self("registry-tag-pages-max");
    /// Tags of one artefact of a registry.
    pub const REGISTRY_TAGS_MAX: Self = Self("registry-tags-max");
    /// Levels of nested blocks, parentheses, templates and values of a template.
    pub const TEMPLATE_DEPTH_MAX: Self = Self("template-depth-max");
    /// Bytes of the result of a template, and of each string in it.
    pub const TEMPLATE_OUTPUT_MAX: Self = Self("template-output-max");
    /// Steps of a template.
    pub const TEMPLATE_STEPS_MAX: Self = Self("template-steps-max");
    /// Bytes of all trees of concurrent calls.
    pub const STORE_BYTES_MAX: Self = Self("store-bytes-max");
    /// Bytes of the tree of a repository.
    pub const TREE_BYTES_MAX: Self = Self("tree-bytes-max");
    /// Entries of the tree of a repository.
    pub const TREE_ENTRIES_MAX: Self = Self("tree-entries-max");

    /// Archives that a plugin server unpacks concurrently.
    pub const UNPACKING_MAX: Self = Self("unpacking-max");
    /// Pause of a client within an archive while other archives wait.
    pub const UPLOAD_STALL_CROWDED_MAX: Self = Self("upload-stall-crowded-max");
    /// Pause of a client within an archive.
    pub const UPLOAD_STALL_MAX: Self = Self("upload-stall-max");

    /// Returns the name.
    pub fn name(self) -> &'static str {
        self.0
    }

    /// Returns the limit that caused an error.
    pub fn of(error: &(dyn Error + 'static)) -> Option<Self> {
        successors(Some(error), |&error| error.source()).find_map(|error| error.downcast_ref().copied())
    }
}
