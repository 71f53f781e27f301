//! Access to repositories: URLs and how they are compared, connection settings and credentials, the run context that passes them to a
//! plugin, and the redaction of credentials in URLs.
//!
//! This crate does no I/O. `tiphys-project` decides which project may use a repository.

mod known;
mod mounted;
mod redact;
mod repository;
mod run_context;
mod secret;
mod trust_store;
mod url;

pub use known::{FoundAccess, KnownRepositories, LoginOwner, RegistryLogin, RepositoryUse, registry_key};
pub use mounted::{
    ChartProtocol, MountedLogins, MountedRepository, OtherShape, PemFiles, RegistryConfig, RegistryEntry,
};
pub use redact::{credentials_end, redact_address, redact_url};
pub use repository::{
    CredentialReach, FileRepositories, RepositoryAccess, RepositoryKind, certificates_of, same_address,
    server_name, without_oci,
};
pub use run_context::{
    CONTEXT_FILE_VARIABLE, CONTEXT_VERSION, ContextError, ContextProject, ContextSource,
    DEFAULT_VALUES_FILE_SCHEMES, MountedCredentials, NetworkUse, RefTree, RunContext, SourceKind,
};
pub use secret::Secret;
pub use trust_store::SYSTEM_CA_BUNDLES;
pub use url::{normalize_git_url, percent_decode};
