//! Destinations of Applications, and whether their clusters are known.

use serde_json::{Value, json};
use tiphys_model::resources::IN_CLUSTER_SERVER;

use super::PlanSettings;
use crate::appset::RESOURCES_FINALIZER;
use crate::appset::patch::go_quote;

/// The name of the cluster in which Argo CD runs, unless a Secret has it.
const IN_CLUSTER_NAME: &str = "in-cluster";

/// A cluster of a cluster Secret.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DestinationCluster {
    /// Name; empty if the Secret has none.
    pub name: String,
    /// URL of the API server.
    pub server: String,
}

/// Checks a destination. The error is in Argo CD's words.
pub(super) fn check(destination: &Value, settings: &PlanSettings) -> Result<(), String> {
    let text = |key: &str| destination[key].as_str().unwrap_or_default();
    let (name, server) = (text("name"), text("server"));
    let clusters = settings.clusters.as_deref();
    match (name, server) {
        ("", "") => Err("Destination server missing from app spec".to_owned()),
        ("", server) => {
            let url = server.trim_end_matches('/');
            let is_known = |clusters: &[DestinationCluster]| clusters.iter().any(|one| trimmed(one) == url);
            if url == IN_CLUSTER_SERVER || clusters.is_none_or(is_known) {
                return Ok(());
            }
            let (server, url) = (go_quote(server), go_quote(url));
            Err(format!(
                "error getting cluster by server {server}: rpc error: code = NotFound desc = cluster {url} not found"
            ))
        }
        (name, "") => {
            let Some(clusters) = clusters else { return Ok(()) };
            let mut servers: Vec<_> = clusters.iter().filter(|one| one.name == name).map(trimmed).collect();
            servers.sort_unstable();
            match servers.len() {
                0 if name == IN_CLUSTER_NAME => Ok(()),
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

/// Returns the patch that removes the resources finalizer of an Application before it is deleted: the finalizer of one with an unknown
/// destination could never end.
pub(super) fn finalizers_patch(application: &Value, settings: &PlanSettings) -> Option<Value> {
    let finalizers = application["metadata"]["finalizers"].as_array()?;
    if settings.clusters.is_none() || check(&application["spec"]["destination"], settings).is_ok() {
        return None;
    }
    let left: Vec<&Value> =
        finalizers.iter().filter(|finalizer| **finalizer != RESOURCES_FINALIZER).collect();
    if left.len() == finalizers.len() {
        return None;
    }
    let left = if left.is_empty() { Value::Null } else { json!(left) };
    Some(json!({"metadata": {"finalizers": left}}))
}

fn trimmed(cluster: &DestinationCluster) -> &str {
    cluster.server.trim_end_matches('/')
}
