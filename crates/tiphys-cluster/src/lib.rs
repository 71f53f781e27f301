//! Readers of live objects: a directory of YAML files as the state of a cluster.
//!
//! Callers depend on [`ClusterReader`] only, so that a Kubernetes client can be a second implementation.

mod argument;
mod folder;
mod reader;

pub use argument::{ClusterStateArgument, Clusters, IN_CLUSTER_NAME};
pub use folder::{FolderCluster, FolderError, ObjectProblem};
pub use reader::{ClusterError, ClusterReader};
