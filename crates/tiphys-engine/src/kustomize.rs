//! The fields of a `kustomize` block and the parameters of the kustomize plugin. A new field is a row.

use std::collections::BTreeMap;

use tiphys_model::params::Parameter;
use tiphys_model::resources::{
    GoFields as _, KustomizePatch, KustomizeReplica, KustomizeSource, ReplicaCount,
};

use crate::image::image_entry;
use crate::parameter_edit::NoPlaceError;

use Value::{List, Map, Switch, Text};

/// A field of the block.
pub(crate) struct KustomizeField {
    /// The name in the block.
    pub(crate) field: &'static str,
    /// The name of the parameter.
    pub(crate) parameter: &'static str,
    value: Value,
}

/// The value of a field.
enum Value {
    /// A string; empty if it is not set.
    Text(fn(&mut KustomizeSource) -> &mut String),
    /// A boolean.
    Switch(fn(&mut KustomizeSource) -> &mut bool),
    /// Strings.
    List(fn(&mut KustomizeSource) -> &mut Vec<String>),
    /// Labels or annotations.
    Map(fn(&mut KustomizeSource) -> &mut BTreeMap<String, String>),
    /// Images by the names of the replaced ones.
    Images,
    /// Replica counts by the names of workloads.
    Replicas,
    /// Patches, each as JSON.
    Patches,
}

/// All fields but `commonAnnotationsEnvsubst`, which is about the translation itself.
pub(crate) const KUSTOMIZE_FIELDS: &[KustomizeField] = &[
    row("version", "version", Text(|block| &mut block.version)),
    row("namePrefix", "name-prefix", Text(|block| &mut block.name_prefix)),
    row("nameSuffix", "name-suffix", Text(|block| &mut block.name_suffix)),
    row("namespace", "namespace", Text(|block| &mut block.namespace)),
    row("forceCommonLabels", "force-labels", Switch(|block| &mut block.force_common_labels)),
    row("labelWithoutSelector", "labels-without-selector", Switch(|block| &mut block.label_without_selector)),
    row(
        "labelIncludeTemplates",
        "labels-include-templates",
        Switch(|block| &mut block.label_include_templates),
    ),
    row("forceCommonAnnotations", "force-annotations", Switch(|block| &mut block.force_common_annotations)),
    row(
        "ignoreMissingComponents",
        "ignore-missing-components",
        Switch(|block| &mut block.ignore_missing_components),
    ),
    row("kubeVersion", "kube-version", Text(|block| &mut block.kube_version)),
    row("apiVersions", "api-versions", List(|block| &mut block.api_versions)),
    row("components", "components", List(|block| &mut block.components)),
    row("patches", "patches", Value::Patches),
    row("images", "images", Value::Images),
    row("replicas", "replicas", Value::Replicas),
    row("commonLabels", "labels", Map(|block| &mut block.common_labels)),
    row("commonAnnotations", "annotations", Map(|block| &mut block.common_annotations)),
];

const fn row(field: &'static str, parameter: &'static str, value: Value) -> KustomizeField {
    KustomizeField { field, parameter, value }
}

/// Returns the parameters of a block, with variables replaced by `expand` where Argo CD does so: in images, labels, and annotations with
/// `commonAnnotationsEnvsubst`.
pub(crate) fn kustomize_parameters(
    block: &KustomizeSource,
    expand: &dyn Fn(&str) -> String,
) -> Vec<Parameter> {
    let mut block = block.clone();
    block.images = block.images.iter().map(|image| expand(image)).collect();
    block.common_labels.values_mut().for_each(|value| *value = expand(value));
    if block.common_annotations_envsubst {
        block.common_annotations.values_mut().for_each(|value| *value = expand(value));
    }
    KUSTOMIZE_FIELDS.iter().filter_map(|field| field.of(&mut block)).collect()
}

/// Sets the field of a parameter.
pub(crate) fn set_kustomize_field(
    block: &mut KustomizeSource,
    name: &str,
    before: Option<&Parameter>,
    after: Option<&Parameter>,
) -> Result<(), NoPlaceError> {
    let field = KUSTOMIZE_FIELDS.iter().find(|field| field.parameter == name);
    let field = field.ok_or_else(|| NoPlaceError::Kustomize(name.to_owned()))?;
    field.set(block, before, after)
}

impl KustomizeField {
    /// Returns the parameter of a block; `None` if the field is not set.
    fn of(&self, block: &mut KustomizeSource) -> Option<Parameter> {
        let named = |parameter: Parameter| Parameter { name: self.parameter.to_owned(), ..parameter };
        let string = |text: String| Parameter { string: Some(text), ..Parameter::default() };
        let array = |items: Vec<String>| {
            (!items.is_empty()).then(|| Parameter { array: Some(items), ..Parameter::default() })
        };
        let map = |entries: BTreeMap<String, String>| {
            (!entries.is_empty()).then(|| Parameter { map: Some(entries), ..Parameter::default() })
        };
        let parameter = match self.value {
            Text(text) => Some(text(block).clone()).filter(|text| !text.is_empty()).map(string),
            Switch(switch) => switch(block).then(|| string("true".to_owned())),
            List(items) => array(items(block).clone()),
            Map(entries) => {
                map(entries(block).iter().map(|(key, value)| metadata_entry(key, value)).collect())
            }
            Value::Images => map(block.images.iter().map(|image| image_entry(image)).collect()),
            Value::Replicas => {
                map(block.replicas.iter().map(|one| (one.name.clone(), one.count.to_string())).collect())
            }
            Value::Patches => {
                let json = |patch| serde_json::to_string(patch).unwrap_or_default();
                array(block.patches.iter().map(json).collect())
            }
        };
        parameter.map(named)
    }

    fn set(
        &self,
        block: &mut KustomizeSource,
        before: Option<&Parameter>,
        after: Option<&Parameter>,
    ) -> Result<(), NoPlaceError> {
        let kind = |due| NoPlaceError::Kind(self.parameter.to_owned(), "kustomize", due);
        let text = || match after {
            None => Ok(String::new()),
            Some(parameter) => parameter.string.clone().ok_or_else(|| kind("string")),
        };
        let list = || match after {
            None => Ok(Vec::new()),
            Some(parameter) => parameter.array.clone().ok_or_else(|| kind("list")),
        };
        let map = |parameter: Option<&Parameter>| match parameter {
            None => Ok(BTreeMap::new()),
            Some(parameter) => parameter.map.clone().ok_or_else(|| kind("map")),
        };
        match self.value {
            Text(field) => *field(block) = text()?,
            Switch(field) => {
                *field(block) = match text()?.as_str() {
                    "true" => true,
                    "" | "false" => false,
                    _ => return Err(NoPlaceError::Switch(self.parameter.to_owned(), "kustomize")),
                };
            }
            List(field) => *field(block) = list()?,
            Map(field) => {
                let (old, new, entries) = (map(before)?, map(after)?, field(block));
                entries.retain(|key, _| new.contains_key(key) || !old.contains_key(key));
                entries.extend(new.into_iter().filter(|(key, value)| old.get(key) != Some(value)));
            }
            Value::Images => set_images(block, &map(before)?, &map(after)?),
            Value::Replicas => set_replicas(block, &map(after)?),
            Value::Patches => {
                let patch = |text: String| {
                    let value = serde_json::from_str(&text).ok();
                    value.and_then(|value| KustomizePatch::of_json(&value).ok())
                };
                let patches: Option<Vec<KustomizePatch>> = list()?.into_iter().map(patch).collect();
                block.patches = patches.ok_or_else(|| NoPlaceError::Json(self.parameter.to_owned()))?;
            }
        }
        Ok(())
    }
}

/// Sets images. The last item of an image takes effect, so that one is changed.
fn set_images(block: &mut KustomizeSource, old: &BTreeMap<String, String>, new: &BTreeMap<String, String>) {
    block
        .images
        .retain(|image| new.contains_key(&image_entry(image).0) || !old.contains_key(&image_entry(image).0));
    for (image, replacement) in new.iter().filter(|(image, value)| old.get(*image) != Some(value)) {
        let item = image_item(image, replacement);
        match block.images.iter_mut().rfind(|known| image_entry(known).0 == *image) {
            Some(known) => *known = item,
            None => block.images.push(item),
        }
    }
}

/// Sets replica counts, and keeps the order of known workloads.
fn set_replicas(block: &mut KustomizeSource, new: &BTreeMap<String, String>) {
    block.replicas.retain(|one| new.contains_key(&one.name));
    for (name, count) in new {
        let count = count.parse().map_or_else(|_| ReplicaCount::Text(count.clone()), ReplicaCount::Number);
        match block.replicas.iter_mut().rfind(|one| one.name == *name) {
            Some(known) => known.count = count,
            None => block.replicas.push(KustomizeReplica { name: name.clone(), count }),
        }
    }
}

/// Returns an entry of the map of images as an item of a kustomize block's list.
fn image_item(image: &str, replacement: &str) -> String {
    if image_entry(replacement) == (image.to_owned(), replacement.to_owned()) {
        replacement.to_owned()
    } else {
        format!("{image}={replacement}")
    }
}

/// Returns a label or annotation as kustomize reads Argo CD's argument `KEY:VALUE`: it ends the key at the first colon and removes one pair
/// of double quotes around the value.
fn metadata_entry(key: &str, value: &str) -> (String, String) {
    let argument = format!("{key}:{value}");
    let (key, value) = argument.split_once(':').unwrap_or((&argument, ""));
    let unquoted = value.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
    (key.to_owned(), unquoted.unwrap_or(value).to_owned())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use tiphys_model::resources::GoFields as _;

    use super::*;

    #[test]
    fn every_field_of_the_block_has_a_row() {
        let rows: BTreeSet<&str> = KUSTOMIZE_FIELDS.iter().map(|row| row.field).collect();
        let fields = KustomizeSource::GO.fields.iter().map(|field| field.name);
        let others: Vec<&str> = fields.filter(|name| !rows.contains(name)).collect();
        assert_eq!(others, ["commonAnnotationsEnvsubst"]);
        assert_eq!(rows.len() + others.len(), KustomizeSource::GO.fields.len());
    }

    #[test]
    fn parameters_of_a_block_set_the_same_block() {
        let block = serde_json::json!({
            "version": "v5.8.3", "namePrefix": "a-", "nameSuffix": "-b", "namespace": "ns",
            "forceCommonLabels": true, "labelWithoutSelector": true, "labelIncludeTemplates": true,
            "forceCommonAnnotations": true, "ignoreMissingComponents": true, "kubeVersion": "1.30",
            "apiVersions": ["v1", "x/v1"], "components": ["c"],
            "patches": [{"patch": "x", "target": {"kind": "Deployment"}, "options": {"allowNameChange": true}}],
            "images": ["nginx:1", "a=b@sha256:0"],
            "replicas": [{"name": "w", "count": 3}, {"name": "x", "count": "many"}],
            "commonLabels": {"a": "b"}, "commonAnnotations": {"c": "d"},
        });
        let block = KustomizeSource::of_json(&block).expect("a block");
        let parameters = kustomize_parameters(&block, &str::to_owned);
        assert_eq!(parameters.len(), KUSTOMIZE_FIELDS.len());
        let mut set = KustomizeSource::default();
        for parameter in &parameters {
            set_kustomize_field(&mut set, &parameter.name, None, Some(parameter)).expect(&parameter.name);
        }
        set.images.reverse();
        assert_eq!(set, block);
    }

    #[test]
    fn labels_and_annotations_are_read_as_by_kustomize() {
        for (key, value, expected) in [
            ("a", "b", ("a", "b")),
            ("a:b", "c", ("a", "b:c")),
            ("a", "\"b\"", ("a", "b")),
            ("a", "\"", ("a", "\"")),
            ("a", "\"\"", ("a", "")),
        ] {
            assert_eq!(metadata_entry(key, value), (expected.0.to_owned(), expected.1.to_owned()));
        }
    }
}
