//! Sources of trees: local folders, git repositories, and charts of Helm repositories and registries.
//!
//! [`Sources::resolve`] resolves a revision of a repository to a commit, [`Sources::tree`] returns that commit's files as a read-only
//! [`Tree`](tiphys_tree::Tree). The git program fetches; its objects are read in this process, without a checkout and so without a
//! lock: any number of revisions of a repository are read at once. Only files that git converts at checkout (`.gitattributes`) are
//! checked out, in a scratch repository. [`Sources::resolve_chart`] resolves a chart and downloads it over HTTP, without helm.

mod cache_files;
mod chart_limits;
mod charts;
mod checkout;
mod clone_key;
mod clone_names;
mod clones;
mod copy;
mod credential;
mod error;
#[doc(hidden)]
pub mod exposed;
mod file_url;
mod git;
mod identity;
mod lfs;
mod local;
mod lookup;
mod narrowing;
mod objects;
mod once_map;
mod options;
mod plan;
mod refs;
mod repository;
mod secret_file;
mod service;
mod sources;
mod submodule;
mod url;
mod work_tree;

pub use chart_limits::ChartLimits;
pub use charts::ChartFolders;
pub use charts::{ChartSource, PackedChart, PackedCharts};
pub use checkout::ATTRIBUTES_FILE;
pub use copy::{CheckoutBranches, CopyOrigin, LocalCopy, LocalCopyError};
pub use error::{ChartError, SourceError};
pub use git::{GIT_VERSION_MIN, UserSettings, is_supported_git};
pub use identity::FilesIdentity;
pub use local::base::{BasePoint, BaseRevision};
pub use narrowing::TreeScope;
pub use options::{Freshness, Network, OwnCredentials, Progress, ProgressSink, SourceOptions};
pub use service::{SourceRequest, SourceService};
pub use sources::{
    CheckoutUse, GitSource, HasContent, Nesting, ResolvedRevision, RevisionFile, RevisionIndex, Sources, Want,
};
pub use tiphys_model::access::{CredentialReach, Secret};
pub use tiphys_model::access::{normalize_git_url, redact_url};
pub use work_tree::{NotUtf8, PastFiles, WorkTreePath};
