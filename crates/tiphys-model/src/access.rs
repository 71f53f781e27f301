//! Access to repositories: URLs and how they are compared, connection settings and credentials, the run context that passes them to a
//! plugin, and the redaction of credentials in URLs.
//!
//! [`project_rules`](crate::project_rules) decides which project may use a repository.

pub(crate) mod known;
mod mounted;
mod repo_url;
mod repository;
mod run_context;
mod secret;
mod secret_reference;
mod trust_store;

pub use known::{FoundAccess, KnownRepositories, LoginOwner, RegistryLogin, RepositoryUse};
pub use mounted::{
    ChartProtocol, MountedLogins, MountedRepository, OtherShape, PemFiles, RegistryConfig, RegistryEntry,
};
pub use repo_url::{
    RepoUrl, canonical_addresses, canonical_patterns, credentials_end, fuzz_repo_url, normalize_git_url,
    percent_decode, redact_address, redact_url, refused_scheme, url_scheme,
};
pub use repository::{
    CredentialReach, FileRepositories, RepositoryAccess, RepositoryKind, certificates_of, same_address,
};
pub use run_context::{
    CONTEXT_FILE_VARIABLE, CONTEXT_VERSION, ContextError, ContextProject, ContextSource,
    DEFAULT_VALUES_FILE_SCHEMES, LocalChart, MountedCredentials, NetworkUse, RefTree, RunContext, SourceKind,
};
pub use secret::Secret;
pub use secret_reference::SecretReference;
pub use trust_store::SYSTEM_CA_BUNDLES;
