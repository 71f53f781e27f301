//! Clusters that are read through their API servers.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tiphys_api::IN_CLUSTER_SERVER;
use tiphys_cluster::Clusters;
use tiphys_kube::{KubeCluster, KubeConnection, Kubeconfig};
use tiphys_project::ProjectCluster;
use tiphys_store::{StoreInput, StoredSecret};

use crate::error::{Input, ServiceError, chain};
use crate::host::Host;
use crate::options::{KubernetesAccess, ServiceOptions};
use crate::service::Service;
use crate::store::load_inputs;

/// The connection of an option, and the names and URLs of its cluster in destinations.
pub(super) type NamedConnection = (Vec<String>, KubeConnection);

/// Returns the connections of contexts and of the pod's own cluster. Nothing is contacted.
pub(super) fn connections(service: &Service) -> Result<Vec<NamedConnection>, ServiceError> {
    let (options, host) = (service.options(), service.host());
    let access = &options.kubernetes;
    if access.is_given() && options.offline {
        return Err(ServiceError::invalid_input(
            "clusters cannot be read without the network; use folders of live objects instead",
        )
        .of_input(Input::Kubernetes));
    }
    let mut all = Vec::new();
    for (cluster, connection) in contexts(access, host)? {
        let server = connection.server.trim_end_matches('/').to_owned();
        all.push((vec![server, cluster], connection));
    }
    if access.in_cluster {
        let variable = |name: &str| host.variable(name).map(str::to_owned);
        let connection = KubeConnection::in_cluster(variable).ok_or_else(|| {
            ServiceError::invalid_input("KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set")
                .of_input(Input::InCluster)
        })?;
        all.push((vec![IN_CLUSTER_SERVER.to_owned()], connection));
    }
    Ok(all)
}

/// Adds the clusters of connections, and before them those of cluster Secrets. Nothing is contacted yet.
pub(super) fn add(
    clusters: &mut Clusters,
    service: &Service,
    secrets: &[StoredSecret],
    connections: &[NamedConnection],
) -> Result<(), ServiceError> {
    if secrets.is_empty() && connections.is_empty() {
        return Ok(());
    }
    let (options, host) = (service.options(), service.host());
    let environment = host.variables().map(|(name, value)| (OsString::from(name), OsString::from(value)));
    let limits = options.limits.kubernetes(environment.collect());
    let mut insert = |names: &[String], connection: KubeConnection| {
        let reader = Arc::new(KubeCluster::new(connection, limits.clone()));
        for name in names {
            clusters.insert(name, Arc::clone(&reader) as _);
        }
    };
    for stored in secrets {
        let Some(cluster) = ProjectCluster::of_secret(&stored.secret) else { continue };
        let connection = KubeConnection::of_secret(&stored.secret, &cluster.name, &cluster.server);
        let connection = connection.map_err(|error| {
            ServiceError::invalid_input(format!("{} ({})", chain(&error), stored.place))
                .of_input(Input::ClusterSecrets)
        })?;
        let names = [cluster.server, cluster.name].into_iter().filter(|name| !name.is_empty());
        insert(&names.collect::<Vec<_>>(), connection);
    }
    for (names, connection) in connections {
        insert(names, connection.clone());
    }
    Ok(())
}

/// Returns the connections of contexts, each with the name or URL of its cluster in destinations.
fn contexts(access: &KubernetesAccess, host: &Host) -> Result<Vec<(String, KubeConnection)>, ServiceError> {
    if access.kubeconfigs.is_empty() && access.contexts.is_empty() {
        return Ok(Vec::new());
    }
    let failed =
        |error: &dyn std::error::Error| ServiceError::invalid_input_from(error).of_input(Input::Kubeconfig);
    let kubeconfig = Kubeconfig::load(&kubeconfigs(access, host)).map_err(|error| failed(&error))?;
    let connection = |context: Option<&str>| kubeconfig.connection(context).map_err(|error| failed(&error));
    if access.contexts.is_empty() {
        return Ok(vec![(IN_CLUSTER_SERVER.to_owned(), connection(None)?)]);
    }
    let contexts = access.contexts.iter().map(|one| {
        let cluster = one.cluster.clone().unwrap_or_else(|| IN_CLUSTER_SERVER.to_owned());
        Ok((cluster, connection(Some(&one.context))?))
    });
    contexts.collect()
}

/// Returns the kubeconfigs of the options, else those of `kubectl`.
fn kubeconfigs(access: &KubernetesAccess, host: &Host) -> Vec<PathBuf> {
    if !access.kubeconfigs.is_empty() {
        return access.kubeconfigs.iter().map(|path| host.absolute(path)).collect();
    }
    match (host.variable("KUBECONFIG"), host.variable("HOME")) {
        (Some(list), _) => {
            list.split(':').filter(|path| !path.is_empty()).map(|path| host.absolute(path)).collect()
        }
        (None, Some(home)) => vec![PathBuf::from(home).join(".kube/config")],
        (None, None) => Vec::new(),
    }
}

/// Reads the files with cluster Secrets of the options. They must not be in a repository that is rendered, which `is_rendered` decides.
pub(crate) fn cluster_secrets(
    options: &ServiceOptions,
    host: &Host,
    is_rendered: impl Fn(&Path) -> bool,
) -> Result<Vec<StoredSecret>, ServiceError> {
    let paths = &options.kubernetes.cluster_secrets;
    let absolute: Vec<PathBuf> = paths.iter().map(|path| host.absolute(path)).collect();
    if let Some(path) = absolute.iter().find(|path| is_rendered(path)) {
        return Err(ServiceError::invalid_input(format!(
            "{} is in a repository that is rendered, which must not choose the clusters that are read; move it out of the checkout",
            path.display()
        ))
        .of_input(Input::ClusterSecrets));
    }
    if paths.is_empty() {
        return Ok(Vec::new());
    }
    let inputs: Vec<StoreInput> = paths.iter().cloned().map(StoreInput::Path).collect();
    let resources = load_inputs(&inputs).map_err(|error| error.of_input(Input::ClusterSecrets))?;
    let secrets = resources
        .secrets()
        .iter()
        .filter(|stored| stored.secret.secret_type == tiphys_api::SecretType::Cluster);
    Ok(secrets.cloned().collect())
}
