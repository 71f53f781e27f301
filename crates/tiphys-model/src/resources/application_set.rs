//! The `ApplicationSet` resource.

mod document;
mod generator;

use serde_json::Value;
use tiphys_yaml::{Data, DecodeError, Node, Position, Step};

pub use generator::{
    ClustersGenerator, DecisionsGenerator, Generator, GeneratorEntry, GeneratorKind, LabelSelectorSpec,
    ListGenerator, MergeGenerator, PathPattern, PluginContract, PluginGenerator, RepositoryGenerator,
    SelectorExpression,
};

use crate::resources::fields::{APPLICATION_SET, FieldPath, GoFields, decode_fields, locate};
use crate::resources::{Decoded, Findings, Metadata, ObjectRef, ResourceError};
use generator::{flag, list, strings, text};

/// An ApplicationSet. Strings are templates as written.
#[derive(Clone, Debug, PartialEq)]
pub struct ApplicationSet {
    /// Name, namespace, labels, annotations.
    pub metadata: Metadata,
    /// `metadata.uid`; empty unless the set comes from a cluster.
    pub uid: String,
    /// `metadata.finalizers`
    pub finalizers: Vec<String>,
    /// `spec.goTemplate`: Go templates instead of fasttemplate.
    pub go_template: bool,
    /// `spec.goTemplateOptions`
    pub go_template_options: Vec<String>,
    /// `spec.generators`
    pub generators: Vec<GeneratorEntry>,
    /// `spec.template` in canonical form, see [`crate::resources::APPLICATION_SET_TEMPLATE`].
    pub template: Value,
    /// `spec.templatePatch`
    pub template_patch: Option<String>,
    /// `spec.syncPolicy.preserveResourcesOnDeletion`
    pub preserves_resources_on_deletion: bool,
    /// `spec.syncPolicy.applicationsSync`, not checked.
    pub applications_sync: Option<String>,
    /// `spec.strategy` in canonical form.
    pub strategy: Option<Value>,
    /// `spec.preservedFields.annotations`
    pub preserved_annotations: Vec<String>,
    /// `spec.preservedFields.labels`
    pub preserved_labels: Vec<String>,
    /// `spec.ignoreApplicationDifferences`
    pub ignore_application_differences: Vec<IgnoreApplicationDifference>,
    document: Node,
}

/// An entry of `spec.ignoreApplicationDifferences`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IgnoreApplicationDifference {
    /// Name of the Application; empty means any.
    pub name: String,
    /// Fields by JSON pointer (RFC 6901).
    pub json_pointers: Vec<String>,
    /// Fields by jq expression.
    pub jq_path_expressions: Vec<String>,
}

impl ApplicationSet {
    /// Decodes an ApplicationSet from YAML by Go's rules: of a duplicate key, the last value counts. Fields that Argo CD does not have are
    /// ignored. Both are recorded as findings. Generators of unknown kinds are in [`GeneratorEntry::unknown`], too.
    pub fn decode(node: &Node) -> Result<Decoded<Self>, ResourceError> {
        let mut findings = Findings::default();
        findings.add_repeated_keys(node);
        Self::decode_fields(node.clone().deduplicated(), &mut findings)
            .map(|value| Decoded { value, findings: findings.sorted() })
            .map_err(|source| ResourceError { object: ObjectRef::of(node), source: Box::new(source) })
    }

    fn decode_fields(document: Node, findings: &mut Findings) -> Result<Self, DecodeError> {
        let decoded = decode_fields(&APPLICATION_SET, &document).map_err(|error| error.at)?;
        findings.unknown.extend(decoded.unknown);
        let (metadata, spec) = (&decoded.value["metadata"], &decoded.value["spec"]);
        let mut set = Self {
            metadata: Metadata::of_json(metadata)?,
            uid: text(metadata, "uid"),
            finalizers: strings(metadata, "finalizers"),
            go_template: flag(spec, "goTemplate"),
            go_template_options: strings(spec, "goTemplateOptions"),
            generators: Vec::new(),
            template: spec["template"].clone(),
            template_patch: spec["templatePatch"].as_str().map(str::to_owned),
            preserves_resources_on_deletion: flag(&spec["syncPolicy"], "preserveResourcesOnDeletion"),
            applications_sync: spec["syncPolicy"]["applicationsSync"].as_str().map(str::to_owned),
            strategy: spec.get("strategy").cloned(),
            preserved_annotations: strings(&spec["preservedFields"], "annotations"),
            preserved_labels: strings(&spec["preservedFields"], "labels"),
            ignore_application_differences: list(spec, "ignoreApplicationDifferences")
                .iter()
                .map(|entry| IgnoreApplicationDifference {
                    name: text(entry, "name"),
                    json_pointers: strings(entry, "jsonPointers"),
                    jq_path_expressions: strings(entry, "jqPathExpressions"),
                })
                .collect(),
            document,
        };
        let path = FieldPath::default().key("spec").key("generators");
        set.generators = set.entries(&path, list(spec, "generators"))?;
        Ok(set)
    }

    /// Returns the position of a field of the document, or of its nearest parent that exists.
    pub fn position_of(&self, path: &FieldPath) -> Position {
        let mut steps = path.0.as_slice();
        loop {
            match (locate(&self.document, steps), steps) {
                (Some(node), _) => return node.position,
                (None, [parent @ .., _]) => steps = parent,
                (None, []) => return self.document.position,
            }
        }
    }

    /// Returns the position of a field of the merged template: in the generator's own template if that sets it, else in the set's.
    pub fn template_position(&self, generator: &Generator, field: &FieldPath) -> Position {
        let below = |path: FieldPath| FieldPath([path.0, field.0.clone()].concat());
        let own = below(generator.path.key("template"));
        let is_set = |node: &Node| !node.is_null() && node.as_str() != Some("");
        match locate(&self.document, &own.0) {
            Some(node) if generator.template.is_some() && is_set(node) => node.position,
            _ => self.position_of(&below(FieldPath::default().key("spec").key("template"))),
        }
    }

    /// Returns the keys of an object of the document.
    fn keys_at(&self, path: &FieldPath) -> Vec<(String, Position)> {
        match locate(&self.document, &path.0).map(|node| &node.data) {
            Some(Data::Mapping(entries)) => {
                entries.iter().map(|entry| (entry.key.text.clone(), entry.key.position)).collect()
            }
            _ => Vec::new(),
        }
    }

    fn entries(&self, path: &FieldPath, values: &[Value]) -> Result<Vec<GeneratorEntry>, DecodeError> {
        let entry = |(index, value): (usize, &Value)| self.generator_entry(path.index(index), value.clone());
        values.iter().enumerate().map(entry).collect()
    }
}

/// Returns how deep a generator's entry is nested: 1 for entries of `spec.generators`, at most 3.
fn level(path: &FieldPath) -> usize {
    path.0.iter().filter(|step| matches!(step, Step::Key(key) if key == "generators")).count()
}

#[cfg(test)]
mod tests;
