//! The client of Kubernetes API servers. No other crate knows a Kubernetes client.
//!
//! A [`KubeConnection`] comes from a kubeconfig ([`Kubeconfig`]), from the service account of a pod ([`KubeConnection::in_cluster`]) or
//! from a cluster Secret of Argo CD ([`KubeConnection::of_secret`]). [`KubeCluster`] reads and writes the cluster with it. An
//! [`Elector`] decides which of several processes may write.

mod cluster;
pub mod cluster_reader;
mod cluster_secret;
mod connection;
mod discovery;
mod exec;
mod kubeconfig;
mod lease;
mod options;
mod path;
mod session;
mod watch;
mod writer;

// kube needs this crate with a Kubernetes version. Nothing uses its types, because all objects are JSON here.
use k8s_openapi as _;

pub use cluster::KubeCluster;
pub use cluster_secret::ClusterSecretError;
pub use connection::{CaCertificates, ClientCertificate, KubeConnection, KubeIdentity, Pem};
pub use exec::{ExecError, ExecPlugin};
pub use kubeconfig::{Kubeconfig, KubeconfigError};
pub use lease::{Elector, Leadership, LeaseSettings};
pub use options::{KubeOptions, WriteOptions};
pub use writer::{ObjectPart, Preconditions, WriteError, WriteErrorKind, Written};
