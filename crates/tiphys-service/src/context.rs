//! State of use cases: the long-lived [`Service`](service::Service), and for each request a [`Workspace`](workspace::Workspace) with the
//! store, its settings and their trust, projects, clusters, plugins and the generated application sets.

pub(crate) mod assignments;
pub(crate) mod base;
pub(crate) mod cache;
pub(crate) mod checkouts;
pub(crate) mod cluster_references;
pub(crate) mod clusters;
pub(crate) mod credentials;
pub(crate) mod default_branch;
pub(crate) mod dynamic;
pub(crate) mod follow;
pub(crate) mod host;
pub(crate) mod options;
pub(crate) mod overlooked;
pub(crate) mod plugins;
pub(crate) mod project_file;
pub(crate) mod projects;
pub(crate) mod service;
pub(crate) mod sets;
pub(crate) mod settings;
pub(crate) mod store;
pub(crate) mod trust;
pub(crate) mod workspace;
