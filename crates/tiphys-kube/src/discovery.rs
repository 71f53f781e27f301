//! The kinds that an API server serves.

use crate::cluster_reader::{ClusterError, ClusterErrorKind, REQUESTS_MAX};
use futures_util::{StreamExt as _, stream};
use serde_json::Value;
use tiphys_engine::{Scope, ServedKind, ServedKinds};

use crate::session::{Call, JSON, Session};

/// All kinds in one response, since Kubernetes 1.30; other servers send the names of the groups.
const AGGREGATED: &str =
    "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json";

/// Asks a server for its kinds.
pub(crate) async fn discover(session: &Session) -> Result<ServedKinds, ClusterError> {
    let mut kinds = ServedKinds::default();
    for path in ["/api", "/apis"] {
        let call = call(path, AGGREGATED);
        let list = session.json(&call).await?.map_err(|status| session.status_error(&call, status))?;
        if list["kind"] == "APIGroupDiscoveryList" {
            add_groups(&mut kinds, &list);
        } else {
            for (group, versions) in groups(&list) {
                kinds.prefer(&group, versions);
            }
            add_lists(&mut kinds, session, group_versions(&list)).await?;
        }
    }
    Ok(kinds)
}

fn call(path: &str, accept: &'static str) -> Call {
    Call::read("list its kinds".to_owned(), path.to_owned(), accept)
}

/// Adds the kinds of an `APIGroupDiscoveryList`.
fn add_groups(kinds: &mut ServedKinds, list: &Value) {
    for item in items(&list["items"]) {
        let group = item["metadata"]["name"].as_str().unwrap_or_default();
        let versions = || items(&item["versions"]);
        let name = |version: &Value| version["version"].as_str().unwrap_or_default().to_owned();
        kinds.prefer(group, versions().map(name).collect());
        for version in versions() {
            if version["freshness"] == "Stale" {
                kinds.set_failed(group);
            }
            for resource in items(&version["resources"]) {
                let string = |value: &Value| value.as_str().unwrap_or_default().to_owned();
                let kind = string(&resource["responseKind"]["kind"]);
                // A resource without a kind exists only for its subresources.
                if kind.is_empty() {
                    continue;
                }
                let is_namespaced = resource["scope"] == "Namespaced";
                kinds.insert(ServedKind {
                    group: group.to_owned(),
                    version: name(version),
                    kind,
                    plural: string(&resource["resource"]),
                    scope: if is_namespaced { Scope::Namespaced } else { Scope::Cluster },
                    verbs: items(&resource["verbs"]).map(string).collect(),
                });
            }
        }
    }
}

/// Returns the groups of an `APIGroupList` with their versions, the preferred one first.
fn groups(list: &Value) -> Vec<(String, Vec<String>)> {
    let group = |group: &Value| {
        let preferred = group["preferredVersion"]["version"].as_str()?.to_owned();
        let others = items(&group["versions"]).filter_map(|version| version["version"].as_str());
        let others = others.filter(|version| *version != preferred).map(str::to_owned);
        let versions = [preferred.clone()].into_iter().chain(others).collect();
        Some((group["name"].as_str()?.to_owned(), versions))
    };
    items(&list["groups"]).filter_map(group).collect()
}

/// Returns the groups and paths of an `APIGroupList`, or of the `APIVersions` of the core group.
fn group_versions(list: &Value) -> Vec<(String, String)> {
    let core = items(&list["versions"]).filter_map(Value::as_str);
    let core = core.map(|version| (String::new(), format!("/api/{version}")));
    let versions = items(&list["groups"]).flat_map(|group| {
        let name = group["name"].as_str().unwrap_or_default();
        let versions = items(&group["versions"]).filter_map(|version| version["groupVersion"].as_str());
        versions.map(|version| (name.to_owned(), format!("/apis/{version}")))
    });
    core.chain(versions).collect()
}

/// Adds the `APIResourceList` of each path. A group whose list cannot be read has failed.
async fn add_lists(
    kinds: &mut ServedKinds,
    session: &Session,
    paths: Vec<(String, String)>,
) -> Result<(), ClusterError> {
    let lists = stream::iter(paths).map(async |(group, path)| {
        let call = call(&path, JSON);
        (group, session.json(&call).await)
    });
    let mut lists = std::pin::pin!(lists.buffered(REQUESTS_MAX));
    while let Some((group, list)) = lists.next().await {
        match list {
            Ok(Ok(Value::Object(list))) if kinds.add_resource_list(&list).is_ok() => {}
            Ok(_)
            | Err(ClusterError { kind: ClusterErrorKind::Failed | ClusterErrorKind::Interrupted, .. }) => {
                kinds.set_failed(&group);
            }
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

fn items(list: &Value) -> impl Iterator<Item = &Value> {
    list.as_array().into_iter().flatten()
}

#[cfg(test)]
mod tests;
