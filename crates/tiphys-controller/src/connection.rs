//! The connection to the cluster of Argo CD.

use std::path::{Path, PathBuf};

use tiphys_kube::{KubeConnection, Kubeconfig, KubeconfigError};

/// The file with the namespace of a pod.
const POD_NAMESPACE: &str = "/var/run/secrets/kubernetes.io/serviceaccount/namespace";

/// The namespace of Argo CD outside of a pod.
const DEFAULT_NAMESPACE: &str = "argocd";

/// Returns the connection of the pod; of a kubeconfig if one is named, or outside of a pod. `default_files` are those of `kubectl`.
pub fn connection(
    kubeconfig: Option<PathBuf>,
    context: Option<&str>,
    default_files: Vec<PathBuf>,
    variable: impl Fn(&str) -> Option<String>,
) -> Result<KubeConnection, KubeconfigError> {
    let of_pod = KubeConnection::in_cluster(variable).filter(|_| kubeconfig.is_none() && context.is_none());
    match of_pod {
        Some(connection) => Ok(connection),
        None => Kubeconfig::load(&kubeconfig.map_or(default_files, |file| vec![file]))?.connection(context),
    }
}

/// Returns the namespace of the pod, or `argocd` outside of a pod.
pub fn default_namespace() -> String {
    let of_pod = std::fs::read_to_string(Path::new(POD_NAMESPACE)).unwrap_or_default();
    let of_pod = of_pod.trim();
    if of_pod.is_empty() { DEFAULT_NAMESPACE.to_owned() } else { of_pod.to_owned() }
}
