//! Readers of live objects: a directory of YAML files as the state of a cluster.
//!
//! Callers depend on [`ClusterReader`] only: a directory and a Kubernetes API server (`tiphys-kube`) implement it.

mod argument;
mod error;
mod folder;
mod reader;

pub use argument::{ClusterStateArgument, Clusters, server_of};
pub use error::{ClusterError, ClusterErrorKind};
pub use folder::{FolderCluster, FolderError, FolderState, ObjectProblem};
pub use reader::{ClusterReader, ListContent, REQUESTS_MAX, WatchEvent};
