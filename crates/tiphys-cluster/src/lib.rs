//! Readers of live objects: a folder of YAML that stands for a cluster.
//!
//! What reads a cluster depends on [`ClusterReader`] only; Kubernetes itself becomes a second implementation.

mod argument;
mod folder;
mod reader;

pub use argument::{ClusterStateArgument, Clusters, IN_CLUSTER_NAME};
pub use folder::{FolderCluster, FolderError, ObjectProblem};
pub use reader::{ClusterError, ClusterReader};
