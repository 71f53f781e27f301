//! Clusters that are read through their API servers.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use tiphys_kube::cluster_reader::{ClusterReader, Clusters, server_of};
use tiphys_kube::{KubeCluster, KubeConnection, Kubeconfig};
use tiphys_model::project_rules::ProjectCluster;
use tiphys_model::resources::IN_CLUSTER_SERVER;
use tiphys_store::{StoreInput, StoredSecret};

use super::unusable::UnusableCluster;
use crate::context::host::Host;
use crate::context::options::{KubernetesAccess, ServiceOptions, Setting};
use crate::context::service::Service;
use crate::context::store::load_inputs;
use crate::context::trust::FileOrigins;
use crate::error::{Input, Remedy, ServiceError, chain};

/// The connection of an option.
pub(super) struct NamedConnection {
    /// Names and URLs of the cluster in destinations.
    names: Vec<String>,
    /// The option's object, for messages.
    origin: String,
    connection: KubeConnection,
}

/// The origins of names and URLs of clusters.
#[derive(Default)]
struct Origins(BTreeMap<String, String>);

impl Origins {
    /// Adds a cluster. The error names another one with the same name or URL.
    fn add(&mut self, names: &[String], origin: &str, objects: &str) -> Result<(), String> {
        for name in names {
            let name = server_of(name);
            let other = self.0.insert(name.to_owned(), origin.to_owned());
            if let Some(other) = other.filter(|other| other != origin) {
                return Err(format!("cluster {name:?} has two {objects}: {other} and {origin}"));
            }
        }
        Ok(())
    }
}

/// Returns the connections of contexts and of the pod's own cluster. Nothing is contacted. Two connections with one name or URL are an error.
pub(super) fn connections(service: &Service) -> Result<Vec<NamedConnection>, ServiceError> {
    let (options, host) = (service.options(), service.host());
    let access = &options.kubernetes;
    if access.is_given() && options.offline {
        return Err(ServiceError::invalid_input(
            "clusters cannot be read without the network; use folders of live objects instead",
        )
        .of_input(Input::Setting(&Setting::OFFLINE.key)));
    }
    let mut all = Vec::new();
    for (cluster, connection) in contexts(access, host)? {
        let server = connection.server.trim_end_matches('/').to_owned();
        let origin = format!("context {:?}", connection.name);
        all.push(NamedConnection { names: vec![cluster, server], origin, connection });
    }
    if access.in_cluster {
        let variable = |name: &str| host.variable(name).map(str::to_owned);
        let connection = KubeConnection::in_cluster(variable).ok_or_else(|| {
            ServiceError::invalid_input("KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set")
                .of_input(Input::Setting(&Setting::IN_CLUSTER.key))
        })?;
        let origin = "the service account of the pod".to_owned();
        all.push(NamedConnection { names: vec![IN_CLUSTER_SERVER.to_owned()], origin, connection });
    }
    let mut origins = Origins::default();
    for NamedConnection { names, origin, .. } in &all {
        origins.add(names, origin, "connections").map_err(|problem| {
            ServiceError::invalid_input(format!("{problem}; remove one")).with_remedy(Remedy::NameContexts)
        })?;
    }
    Ok(all)
}

/// Checks that no two Secrets have one name or URL.
pub(super) fn check_secrets(secrets: &[StoredSecret]) -> Result<(), ServiceError> {
    let mut origins = Origins::default();
    for (stored, cluster) in clusters_of(secrets) {
        let origin = format!("{} ({})", stored.secret.metadata.name, stored.place);
        origins.add(&names(&cluster), &origin, "Secrets").map_err(|problem| {
            ServiceError::invalid_input(format!("{problem}; remove one"))
                .of_input(Input::Setting(&Setting::CLUSTER_SECRETS.key))
        })?;
    }
    Ok(())
}

/// Returns the clusters of Secrets, and those of contexts whose name no Secret has: a Secret says which URL a name stands for in Argo CD.
pub(super) fn known(secrets: &[StoredSecret], connections: &[NamedConnection]) -> Vec<ProjectCluster> {
    let mut known: Vec<ProjectCluster> = clusters_of(secrets).map(|(_, cluster)| cluster).collect();
    for NamedConnection { names, .. } in connections {
        if let [name, server] = &names[..]
            && !server_of(name).contains("://")
            && !known.iter().any(|cluster| cluster.name == *name)
        {
            known.push(ProjectCluster {
                name: name.clone(),
                server: server.clone(),
                ..ProjectCluster::default()
            });
        }
    }
    known
}

/// Adds the clusters of connections, and then those of cluster Secrets, unless one of their names is in use: a cluster that has two names must
/// not be read in two ways. Nothing is contacted yet.
pub(super) fn add(
    clusters: &mut Clusters,
    service: &Service,
    secrets: &[StoredSecret],
    connections: &[NamedConnection],
) {
    if secrets.is_empty() && connections.is_empty() {
        return;
    }
    let limits = service.kube_options();
    let live =
        |connection| -> Arc<dyn ClusterReader> { Arc::new(KubeCluster::new(connection, limits.clone())) };
    let connections = connections.iter().map(|one| (one.names.clone(), live(one.connection.clone())));
    add_unused(clusters, connections);
    let of_secrets = clusters_of(secrets).map(|(stored, cluster)| {
        let names = names(&cluster);
        match KubeConnection::of_secret(&stored.secret, &cluster.name, &cluster.server) {
            Ok(connection) => (names, live(connection)),
            Err(error) => {
                let problem = format!("{} ({})", chain(&error), stored.place);
                let name = names.last().cloned().unwrap_or_default();
                (names, Arc::new(UnusableCluster { name, problem }) as _)
            }
        }
    });
    add_unused(clusters, of_secrets);
}

/// Adds clusters of which no name was in use before.
fn add_unused(clusters: &mut Clusters, added: impl Iterator<Item = (Vec<String>, Arc<dyn ClusterReader>)>) {
    let before = clusters.clone();
    for (names, reader) in added.filter(|(names, _)| names.iter().all(|name| before.named(name).is_none())) {
        for name in &names {
            clusters.insert(name, Arc::clone(&reader));
        }
    }
}

/// Returns the clusters of Secrets.
fn clusters_of(secrets: &[StoredSecret]) -> impl Iterator<Item = (&StoredSecret, ProjectCluster)> {
    secrets.iter().filter_map(|stored| Some((stored, ProjectCluster::of_secret(&stored.secret)?)))
}

/// Returns URL and name of a cluster, without empty ones.
fn names(cluster: &ProjectCluster) -> Vec<String> {
    let names = [&cluster.server, &cluster.name].into_iter().filter(|name| !name.is_empty());
    names.cloned().collect()
}

/// Returns the connections of contexts, each with the name or URL of its cluster in destinations.
fn contexts(access: &KubernetesAccess, host: &Host) -> Result<Vec<(String, KubeConnection)>, ServiceError> {
    if access.kubeconfigs.is_empty() && access.contexts.is_empty() {
        return Ok(Vec::new());
    }
    let failed =
        |error| ServiceError::invalid_input_from(error).of_input(Input::Setting(&Setting::KUBECONFIG.key));
    let kubeconfig = Kubeconfig::load(&kubeconfigs(access, host)).map_err(failed)?;
    let connection = |context: Option<&str>| kubeconfig.connection(context).map_err(failed);
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
    host.kubeconfigs()
}

/// Reads the files with cluster Secrets of the options. They must not be in a repository that is rendered.
pub(crate) fn cluster_secrets(
    options: &ServiceOptions,
    origins: &FileOrigins,
) -> Result<Vec<StoredSecret>, ServiceError> {
    let secrets = read_cluster_secrets(options)?;
    if let Some(stored) = secrets.iter().find(|stored| origins.of(&stored.place.file).is_rendered()) {
        return Err(ServiceError::invalid_input(format!(
            "{} is in a repository that is rendered, which must not choose the clusters that are read; move it out of the checkout",
            stored.place.file
        ))
        .of_input(Input::Setting(&Setting::CLUSTER_SECRETS.key)));
    }
    Ok(secrets)
}

/// Reads the files with cluster Secrets of the options, wherever they are.
pub(crate) fn read_cluster_secrets(options: &ServiceOptions) -> Result<Vec<StoredSecret>, ServiceError> {
    let paths = &options.kubernetes.cluster_secrets;
    if paths.is_empty() {
        return Ok(Vec::new());
    }
    let inputs: Vec<StoreInput> = paths.iter().cloned().map(StoreInput::Path).collect();
    let resources = load_inputs(&inputs)
        .map_err(|error| error.of_input(Input::Setting(&Setting::CLUSTER_SECRETS.key)))?;
    let secrets = resources
        .secrets()
        .iter()
        .filter(|stored| stored.secret.secret_type == tiphys_model::resources::SecretType::Cluster);
    Ok(secrets.cloned().collect())
}

#[cfg(test)]
mod tests;
