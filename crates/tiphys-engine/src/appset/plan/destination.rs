//! Destinations of Applications, and whether their clusters are known.

use serde_json::Value;
use tiphys_go::strconv::quote;
use tiphys_model::project_rules::ProjectCluster;
use tiphys_model::resources::{IN_CLUSTER_NAME, IN_CLUSTER_SERVER, InCluster};

use super::{PlanSettings, deletion};

/// A cluster of a cluster Secret.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DestinationCluster {
    /// Name; empty if the Secret has none.
    pub name: String,
    /// URL of the API server.
    pub server: String,
}

impl From<&ProjectCluster> for DestinationCluster {
    fn from(cluster: &ProjectCluster) -> Self {
        Self { name: cluster.name.clone(), server: cluster.server.clone() }
    }
}

/// Finds the cluster of a destination by its name or its URL, as Argo CD does (`GetDestinationCluster`). `clusters` are those of the cluster
/// Secrets that it can decode; without them, only its own cluster is known. The error is in its words.
pub fn check_destination(
    name: &str,
    server: &str,
    clusters: Option<&[DestinationCluster]>,
    in_cluster: InCluster,
) -> Result<(), String> {
    let is_enabled = |url: &str| url != IN_CLUSTER_SERVER || in_cluster == InCluster::Enabled;
    match (name, server) {
        ("", "") => Err("Destination server missing from app spec".to_owned()),
        ("", server) => {
            let url = server.trim_end_matches('/');
            let problem = if url == IN_CLUSTER_SERVER {
                (!is_enabled(url)).then_some("is disabled")
            } else {
                let is_known =
                    |clusters: &[DestinationCluster]| clusters.iter().any(|one| trimmed(one) == url);
                (!clusters.is_none_or(is_known)).then_some("not found")
            };
            let Some(problem) = problem else { return Ok(()) };
            let (server, url) = (quote(server), quote(url));
            Err(format!(
                "error getting cluster by server {server}: rpc error: code = NotFound desc = cluster {url} {problem}"
            ))
        }
        (name, "") => {
            if clusters.is_none() && name != IN_CLUSTER_NAME {
                return Ok(());
            }
            let named = clusters.unwrap_or_default().iter().filter(|one| one.name == name);
            let mut servers: Vec<_> = named.map(trimmed).collect();
            if servers.is_empty() && name == IN_CLUSTER_NAME {
                servers.push(IN_CLUSTER_SERVER);
            }
            servers.retain(|url| is_enabled(url));
            servers.sort_unstable();
            match servers.len() {
                0 => Err(format!("there are no clusters with this name: {name}")),
                1 => Ok(()),
                count => {
                    let servers = servers.join(" ");
                    Err(format!("there are {count} clusters with the same name: [{servers}]"))
                }
            }
        }
        (name, server) => {
            Err(format!("application destination can't have both name and server defined: {name} {server}"))
        }
    }
}

/// Checks the destination of an Application.
pub(super) fn check(destination: &Value, settings: &PlanSettings) -> Result<(), String> {
    let text = |key: &str| destination[key].as_str().unwrap_or_default();
    check_destination(text("name"), text("server"), settings.clusters.as_deref(), settings.in_cluster)
}

/// Returns the patch that removes the resources finalizer of an Application before it is deleted: the finalizer of one with an unknown
/// destination could never end.
pub(super) fn finalizers_patch(application: &Value, settings: &PlanSettings) -> Option<Value> {
    let finalizers = application["metadata"]["finalizers"].as_array()?;
    if check(&application["spec"]["destination"], settings).is_ok() {
        return None;
    }
    deletion::finalizers_patch(finalizers)
}

fn trimmed(cluster: &DestinationCluster) -> &str {
    cluster.server.trim_end_matches('/')
}

#[cfg(test)]
mod tests;
