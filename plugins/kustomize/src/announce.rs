//! Announces the parameters that depend on the kustomization: its images and labels, with their values as they are without parameters,
//! and its own name prefix and suffix.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};
use tiphys_model::params::Image;
use tiphys_yaml::Node;

use crate::call::Call;
use crate::edits::HelmVersions;
use crate::images::changed;
use crate::kustomization::{KustomizationError, read, write};
use crate::kustomize::{Kustomize, KustomizeError};

/// An error of an announcement.
#[derive(Debug, thiserror::Error)]
pub(crate) enum AnnounceError {
    #[error(transparent)]
    Kustomization(#[from] KustomizationError),
    #[error("the output of kustomize")]
    Output(#[source] tiphys_yaml::Error),
    #[error(transparent)]
    Kustomize(#[from] KustomizeError),
}

/// Returns the announcement as a JSON list.
pub(crate) async fn announce(call: &Call) -> Result<Vec<u8>, AnnounceError> {
    let (name, kustomization) = read(&call.folder)?;
    // Overrides are looked up by the names that images and workloads have before the kustomization itself renames them. So the build is one
    // without these fields, in this private copy of the folder.
    write(&call.folder.join(name), &without_overrides(&kustomization))?;
    let kustomize = Kustomize::new(call, None).await?;
    let built = kustomize.build(&HelmVersions::default()).await?;
    let objects = tiphys_yaml::read_documents(&built).map_err(AnnounceError::Output)?;
    let (mut references, mut replicas) = (BTreeSet::new(), own_replicas(&kustomization));
    for object in objects.iter().map(Node::to_value) {
        collect_images(&object, &mut references);
        if let Some((name, count)) = replicas_of(&object) {
            replicas.entry(name.to_owned()).or_insert_with(|| count.to_string().into());
        }
    }
    let announced = announcement(&kustomization, &references, replicas, &kustomize.version().await?);
    Ok(format!("{announced}\n").into_bytes())
}

fn without_overrides(kustomization: &Value) -> Value {
    let mut without = kustomization.clone();
    if let Value::Object(fields) = &mut without {
        for field in ["images", "replicas", "namePrefix", "nameSuffix"] {
            fields.remove(field);
        }
    }
    without
}

/// Returns the replica counts that the kustomization itself sets.
fn own_replicas(kustomization: &Value) -> Map<String, Value> {
    let own = kustomization.get("replicas").and_then(Value::as_array).into_iter().flatten();
    let entries = own.filter_map(|entry| {
        let count = entry.get("count").map(Value::to_string)?;
        Some((entry.get("name")?.as_str()?.to_owned(), Value::String(count)))
    });
    entries.collect()
}

/// Returns the name and replica count of an object that has one. Argo CD's `replicas` sets these kinds.
fn replicas_of(object: &Value) -> Option<(&str, u64)> {
    let kind = object.get("kind")?.as_str()?;
    let name = object.pointer("/metadata/name")?.as_str()?;
    let has_count = ["Deployment", "ReplicaSet", "ReplicationController", "StatefulSet"].contains(&kind);
    has_count.then(|| (name, object.pointer("/spec/replicas").and_then(Value::as_u64).unwrap_or(1)))
}

/// Adds the images of the containers in an object.
fn collect_images(value: &Value, images: &mut BTreeSet<String>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| collect_images(item, images)),
        Value::Object(fields) => {
            let lists =
                ["containers", "initContainers"].into_iter().filter_map(|name| fields.get(name)?.as_array());
            let found = lists.flatten().filter_map(|container| container.get("image")?.as_str());
            images.extend(found.map(str::to_owned));
            fields.values().for_each(|field| collect_images(field, images));
        }
        _ => {}
    }
}

/// Returns the announcement of a kustomization, the images in its objects without its own list of images, the replica counts by the names of
/// workloads, and the version of kustomize.
fn announcement(
    kustomization: &Value,
    references: &BTreeSet<String>,
    replicas: Map<String, Value>,
    version: &str,
) -> Value {
    let mut list = vec![json!({"name": "version", "title": "VERSION", "string": version})];
    for (field, name, title) in [
        ("namePrefix", "name-prefix", "NAME PREFIX"),
        ("nameSuffix", "name-suffix", "NAME SUFFIX"),
        ("namespace", "namespace", "NAMESPACE"),
    ] {
        if let Some(text) = kustomization.get(field).and_then(Value::as_str) {
            list.push(json!({"name": name, "title": title, "string": text}));
        }
    }
    list.push(announced_map(
        "images",
        "Image Overrides",
        "From the name of an image to what is used instead: name:tag or name@digest, with * for the name as it is.",
        announced_images(kustomization, references),
    ));
    list.push(announced_map(
        "replicas",
        "Replicas",
        "Number of replicas by the name of the workload.",
        replicas,
    ));
    list.push(announced_map(
        "labels",
        "Labels",
        "Labels of every object, pod template and selector.",
        announced_labels(kustomization),
    ));
    Value::Array(list)
}

/// Announces a map. An empty default is the same as none, and the protocol does not carry the difference.
fn announced_map(name: &str, title: &str, tooltip: &str, map: Map<String, Value>) -> Value {
    let mut announced = json!({"name": name, "title": title, "tooltip": tooltip, "collectionType": "map"});
    if let (false, Value::Object(fields)) = (map.is_empty(), &mut announced) {
        fields.insert("map".to_owned(), Value::Object(map));
    }
    announced
}

/// Returns each image with its reference after the kustomization's own list. Two tags of one image are two entries: kustomize matches a
/// name with a tag with that very reference.
fn announced_images(kustomization: &Value, references: &BTreeSet<String>) -> Map<String, Value> {
    let mut by_name: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for reference in references {
        by_name.entry(Image::parse(reference).name).or_default().push(reference);
    }
    let own = kustomization.get("images").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    // A transformer may know images elsewhere than in containers.
    for name in own.iter().filter_map(|entry| entry.get("name")?.as_str()) {
        let known = by_name.entry(Image::parse(name).name).or_default();
        if known.is_empty() {
            known.push(name);
        }
    }
    let mut map = Map::new();
    for (name, references) in by_name {
        for reference in &references {
            let key = if references.len() == 1 { name } else { reference };
            let value =
                own.iter().fold((*reference).to_owned(), |reference, entry| changed(&reference, entry));
            map.insert(key.to_owned(), Value::String(value));
        }
    }
    map
}

/// Returns the labels that kustomize also adds to selectors.
fn announced_labels(kustomization: &Value) -> Map<String, Value> {
    let labels = kustomization.get("labels").and_then(Value::as_array).into_iter().flatten();
    let of_selectors = labels.filter(|entry| entry.get("includeSelectors") == Some(&Value::Bool(true)));
    let pairs = of_selectors.filter_map(|entry| entry.get("pairs")).chain(kustomization.get("commonLabels"));
    let text = |value: &Value| match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let entries = pairs.filter_map(Value::as_object).flatten();
    entries.map(|(name, value)| (name.clone(), Value::String(text(value)))).collect()
}
