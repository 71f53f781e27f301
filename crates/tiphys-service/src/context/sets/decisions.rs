//! The answers of the `clusterDecisionResource` generator: clusters that the status of an object in Argo CD's cluster names.

use std::collections::BTreeMap;

use serde_json::{Map, Value};
use tiphys_engine::appset::{Answer, ParameterSelector};
use tiphys_engine::{Manifest, ServedKind};
use tiphys_generators::{ConfigObject, ConfigObjects};
use tiphys_kube::cluster_reader::ListContent;
use tiphys_model::access::Secret;
use tiphys_model::resources::LabelSelectorSpec;

use super::world::own_cluster;
use crate::context::clusters::{DestinationClusters, OpenCluster};
use crate::error::chain;

/// The list in the status, if the `ConfigMap` names none.
const DEFAULT_LIST: &str = "clusters";

/// Settings in the `ConfigMap` of a generator.
struct Decided {
    group: String,
    version: String,
    plural: String,
    list: String,
    match_key: String,
}

/// Answers a question: for each decision about a cluster that Argo CD knows, its `name` and `server`, and the strings of the decision.
/// `known` are the cluster Secrets' names and URLs.
pub(crate) async fn answer(
    clusters: &DestinationClusters,
    objects: &dyn ConfigObjects,
    control_plane: &str,
    request: &Value,
    known: &[Map<String, Value>],
) -> Answer {
    let config_map = request["configMap"].as_str().unwrap_or_default();
    let config = objects
        .config_map(control_plane, config_map)?
        .ok_or_else(|| format!("ConfigMap {config_map:?} not found"))?;
    let decided = Decided::read(&config)?;
    let known = servers(known);
    let cluster = clusters.open_own().map_err(|error| error.message())?.ok_or_else(|| {
        "the cluster of Argo CD cannot be read; name it, or a folder of its objects".to_owned()
    })?;
    let found = decided.objects(&cluster, control_plane, request).await?;
    if found.is_empty() {
        return Err("no clusterDecisionResources found".to_owned());
    }
    let mut answer = Vec::new();
    for object in &found {
        for decision in decided.decisions(object)? {
            answer.extend(parameters(decision, &decided.match_key, &known)?);
        }
    }
    Ok(answer)
}

impl Decided {
    fn read(config: &ConfigObject) -> Result<Self, String> {
        let text = |key: &str| config.data.get(key).map(Secret::expose).unwrap_or_default();
        let invalid = || {
            format!("There is a problem with the apiVersion, kind or resourceName provided: {}", config.name)
        };
        let (group, version) = text("apiVersion").split_once('/').ok_or_else(invalid)?;
        if group.is_empty() || text("kind").is_empty() {
            return Err(invalid());
        }
        if text("matchKey").is_empty() {
            return Err(format!("{} has no matchKey", config.name));
        }
        let list = Some(text("statusListKey")).filter(|list| !list.is_empty()).unwrap_or(DEFAULT_LIST);
        Ok(Self {
            group: group.to_owned(),
            version: version.to_owned(),
            plural: text("kind").to_owned(),
            list: list.to_owned(),
            match_key: text("matchKey").to_owned(),
        })
    }

    /// Returns the object with the name, or those with the labels, in the namespace of Argo CD.
    async fn objects(
        &self,
        cluster: &OpenCluster,
        namespace: &str,
        request: &Value,
    ) -> Result<Vec<Manifest>, String> {
        let Self { group, version, plural, .. } = self;
        let kinds = cluster.reader.kinds().await.map_err(|error| chain(&error))?;
        let is_kind = |kind: &&ServedKind| {
            kind.group == *group && kind.version == *version && kind.plural.eq_ignore_ascii_case(plural)
        };
        let kind = kinds.iter().find(is_kind).ok_or_else(|| {
            format!("cluster {}: it does not serve {plural} of {group}/{version}", cluster.name)
        })?;
        let name = request["name"].as_str().unwrap_or_default();
        if !name.is_empty() {
            let found = cluster.reader.get(kind, namespace, name).await.map_err(|error| chain(&error))?;
            return Ok(found.into_iter().collect());
        }
        let selector = LabelSelectorSpec::new(&request["labelSelector"]);
        let selector = ParameterSelector::of_labels(&selector)?;
        let mut all = cluster
            .reader
            .list(kind, Some(namespace), ListContent::Objects)
            .await
            .map_err(|error| chain(&error))?;
        all.retain(|object| selector.matches(&labels(object)));
        Ok(all)
    }

    /// Returns the decisions in the status; none if there is no status.
    fn decisions<'a>(&self, object: &'a Manifest) -> Result<&'a [Value], String> {
        let status = object
            .object()
            .get("status")
            .filter(|status| status.as_object().is_some_and(|map| !map.is_empty()));
        let Some(status) = status else { return Ok(&[]) };
        status[&self.list]
            .as_array()
            .map(Vec::as_slice)
            .ok_or_else(|| format!("{} {}: status.{} is not a list", self.plural, object.name(), self.list))
    }
}

/// Returns the parameters of a decision; none if Argo CD does not know the cluster.
fn parameters(
    decision: &Value,
    match_key: &str,
    servers: &BTreeMap<&str, &str>,
) -> Result<Option<Map<String, Value>>, String> {
    let Some(decision) = decision.as_object() else { return Err("a decision is not an object".to_owned()) };
    let name = decision.get(match_key).and_then(Value::as_str).unwrap_or_default();
    let Some(server) = servers.get(name) else { return Ok(None) };
    let mut parameters = Map::new();
    parameters.insert("name".to_owned(), Value::from(name));
    parameters.insert("server".to_owned(), Value::from(*server));
    for (key, value) in decision {
        if !value.is_string() {
            return Err(format!("{key} of the decision about {name:?} is not a string"));
        }
        parameters.insert(key.clone(), value.clone());
    }
    Ok(Some(parameters))
}

/// Returns the URLs of clusters by name, with that of Argo CD itself.
fn servers(known: &[Map<String, Value>]) -> BTreeMap<&str, &str> {
    let of = known
        .iter()
        .filter_map(|cluster| Some((cluster.get("name")?.as_str()?, cluster.get("server")?.as_str()?)));
    own_cluster(known).into_iter().chain(of).collect()
}

fn labels(object: &Manifest) -> BTreeMap<String, String> {
    let labels = object.object().get("metadata").and_then(|metadata| metadata.get("labels"));
    let labels = labels.and_then(Value::as_object).into_iter().flatten();
    labels.filter_map(|(key, value)| Some((key.clone(), value.as_str()?.to_owned()))).collect()
}
