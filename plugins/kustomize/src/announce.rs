//! Announces the parameters that depend on the kustomization: its images and labels, with their values as they are without parameters,
//! and its own name prefix and suffix.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};
use tiphys_model::params::Image;
use tiphys_tree::kustomization::KUSTOMIZATIONS;

use crate::call::Call;
use crate::images::changed;
use crate::kustomize::{Kustomize, KustomizeError};

/// An error of an announcement.
#[derive(Debug, thiserror::Error)]
pub(crate) enum AnnounceError {
    #[error("there is no {} in this folder", KUSTOMIZATIONS.join(", "))]
    NoKustomization,
    #[error("{0}")]
    Yaml(&'static str, #[source] tiphys_yaml::Error),
    #[error("the output of kustomize")]
    Output(#[source] tiphys_yaml::Error),
    #[error("{path}", path = path.display())]
    Io {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error(transparent)]
    Kustomize(#[from] KustomizeError),
}

/// Returns the announcement as a JSON list.
pub(crate) async fn announce(call: &Call) -> Result<Vec<u8>, AnnounceError> {
    let (name, kustomization) = read(&call.folder)?;
    // Overrides are looked up by the names that images have before the kustomization's own list renames them. So the build is one without
    // that list, in this private copy of the folder.
    write(&call.folder.join(name), &without_images(&kustomization))?;
    let kustomize = Kustomize::new(call, None).await?;
    let built = kustomize.build().await?;
    let objects = tiphys_yaml::read_documents(&built).map_err(AnnounceError::Output)?;
    let mut references = BTreeSet::new();
    for object in objects {
        collect_images(&object.to_value(), &mut references);
    }
    let announced = announcement(&kustomization, &references, &kustomize.version().await?);
    Ok(format!("{announced}\n").into_bytes())
}

/// Returns the name and content of the kustomization in a directory.
fn read(folder: &Path) -> Result<(&'static str, Value), AnnounceError> {
    let name = KUSTOMIZATIONS.into_iter().find(|name| folder.join(name).is_file());
    let name = name.ok_or(AnnounceError::NoKustomization)?;
    let path = folder.join(name);
    let text = std::fs::read(&path).map_err(|source| AnnounceError::Io { path, source })?;
    let document = tiphys_yaml::read_document(&text).map_err(|error| AnnounceError::Yaml(name, error))?;
    Ok((name, document.map_or(Value::Null, |node| node.to_value())))
}

/// Replaces a file, which may be a link.
fn write(path: &Path, content: &Value) -> Result<(), AnnounceError> {
    let written = std::fs::remove_file(path).and_then(|()| std::fs::write(path, content.to_string()));
    written.map_err(|source| AnnounceError::Io { path: path.to_path_buf(), source })
}

fn without_images(kustomization: &Value) -> Value {
    let mut without = kustomization.clone();
    if let Value::Object(fields) = &mut without {
        fields.remove("images");
    }
    without
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

/// Returns the announcement of a kustomization, the images in its objects without its own list of images, and the version of kustomize.
fn announcement(kustomization: &Value, references: &BTreeSet<String>, version: &str) -> Value {
    let mut list = vec![json!({"name": "version", "title": "VERSION", "string": version})];
    for (field, name, title) in
        [("namePrefix", "name-prefix", "NAME PREFIX"), ("nameSuffix", "name-suffix", "NAME SUFFIX")]
    {
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
