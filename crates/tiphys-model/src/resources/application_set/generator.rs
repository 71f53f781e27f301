//! The generators of an ApplicationSet, as a tree of three levels.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};
use tiphys_yaml::DecodeError;

use super::{ApplicationSet, level};
use crate::resources::decode::UnknownField;
use crate::resources::fields::{APPLICATION_SET_GENERATOR, FieldPath, locate};

/// An entry of a list of generators. It should have one generator. At the top level, all are run in this order; below it, Argo CD reports
/// an error for none or more than one.
#[derive(Clone, Debug, PartialEq)]
pub struct GeneratorEntry {
    /// Path in the set, such as `spec.generators[0]`.
    pub path: FieldPath,
    /// The generators, in the order in which Argo CD runs them.
    pub generators: Vec<Generator>,
    /// Selects parameter sets of the result.
    pub selector: Option<LabelSelectorSpec>,
    /// Keys other than generators, such as misspelled ones and a `matrix` on the third level.
    pub unknown: Vec<UnknownField>,
    /// The entry in canonical form, see [`crate::resources::APPLICATION_SET_GENERATOR`]: what a matrix interpolates.
    pub value: Value,
}

/// A generator.
#[derive(Clone, Debug, PartialEq)]
pub struct Generator {
    /// Path in the set, such as `spec.generators[0].matrix`.
    pub path: FieldPath,
    /// Its kind and settings.
    pub kind: GeneratorKind,
    /// `values`, which become parameters.
    pub values: BTreeMap<String, String>,
    /// Seconds after which the set is generated again; `None` means the default of the kind.
    pub requeue_after_seconds: Option<i64>,
    /// Its template in canonical form, see [`crate::resources::APPLICATION_SET_TEMPLATE`]. `None` below the top level, where it has no effect.
    pub template: Option<Value>,
}

/// Kind and settings of a generator.
#[derive(Clone, Debug, PartialEq, strum::IntoStaticStr)]
#[strum(serialize_all = "camelCase")]
pub enum GeneratorKind {
    /// `list`
    List(ListGenerator),
    /// `clusters`
    Clusters(ClustersGenerator),
    /// `git`
    Git(RepositoryGenerator),
    /// `scmProvider`, in canonical form.
    ScmProvider(Value),
    /// `clusterDecisionResource`
    ClusterDecisionResource(DecisionsGenerator),
    /// `pullRequest`, in canonical form.
    PullRequest(Value),
    /// `matrix` with its generators.
    Matrix(Vec<GeneratorEntry>),
    /// `merge`
    Merge(MergeGenerator),
    /// `plugin`
    Plugin(PluginGenerator),
    /// `oci`
    Oci(RepositoryGenerator),
}

/// Settings of a `list` generator.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ListGenerator {
    /// Parameter sets.
    pub elements: Vec<Value>,
    /// A YAML list of parameter sets; empty if missing.
    pub elements_yaml: String,
}

/// Settings of a `clusters` generator.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClustersGenerator {
    /// Selects clusters by the labels of their Secrets.
    pub selector: LabelSelectorSpec,
    /// Whether one parameter set has the list of all clusters.
    pub is_flat_list: bool,
}

/// Settings of a `git` or `oci` generator.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RepositoryGenerator {
    /// URL of the repository, or of the artefact.
    pub repo_url: String,
    /// Revision. Empty means `HEAD` of a git repository. That of an artefact is a tag, a digest or a range of versions.
    pub revision: String,
    /// Patterns of directories.
    pub directories: Vec<PathPattern>,
    /// Patterns of files, which count if there are no directories.
    pub files: Vec<PathPattern>,
    /// First part of the names of the path parameters; empty if none.
    pub path_param_prefix: String,
}

/// A pattern of paths in a repository or an artefact.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PathPattern {
    /// The pattern.
    pub path: String,
    /// Whether matching paths are excluded.
    pub is_excluded: bool,
}

/// Settings of a `clusterDecisionResource` generator.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DecisionsGenerator {
    /// Name of the ConfigMap that describes the resource.
    pub config_map: String,
    /// Name of the resource; empty if it is selected by labels.
    pub name: String,
    /// Selects resources by label.
    pub label_selector: LabelSelectorSpec,
}

/// Settings of a `merge` generator.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MergeGenerator {
    /// The generators; the first one is the base.
    pub generators: Vec<GeneratorEntry>,
    /// Names of the parameters by which sets are matched.
    pub merge_keys: Vec<String>,
}

/// Settings of a `plugin` generator.
#[derive(Clone, Debug, PartialEq)]
pub struct PluginGenerator {
    /// The form of the block.
    pub contract: PluginContract,
    /// Name of the ConfigMap with the service's address.
    pub config_map: String,
    /// Parameters for the service.
    pub parameters: Map<String, Value>,
}

/// The two forms of a `plugin` block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PluginContract {
    /// `configMapRef: {name: …}` and `input.parameters`, as in Argo CD.
    Shipped,
    /// `configMapRef: …` and `params`, as in the proposal.
    Proposal {
        /// `name`, if set.
        name: Option<String>,
    },
}

/// A label selector as written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LabelSelectorSpec {
    /// `matchLabels`
    pub match_labels: BTreeMap<String, String>,
    /// `matchExpressions`
    pub match_expressions: Vec<SelectorExpression>,
}

/// An entry of `matchExpressions`. Its operator is not checked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SelectorExpression {
    /// Name of the label.
    pub key: String,
    /// `In`, `NotIn`, `Exists` or `DoesNotExist`.
    pub operator: String,
    /// Values for `In` and `NotIn`.
    pub values: Vec<String>,
}

/// The kinds in the order in which Argo CD runs those of one entry.
const KINDS: [&str; 10] = [
    "list",
    "clusters",
    "git",
    "scmProvider",
    "clusterDecisionResource",
    "pullRequest",
    "matrix",
    "merge",
    "plugin",
    "oci",
];

impl ApplicationSet {
    /// Builds an entry from its canonical form, for instance after a matrix has interpolated [`GeneratorEntry::value`]. The path determines
    /// the level and where the document is searched for unknown keys.
    pub fn generator_entry(&self, path: FieldPath, value: Value) -> Result<GeneratorEntry, DecodeError> {
        let mut generators = Vec::new();
        for name in KINDS {
            if let Some(settings) = value.get(name) {
                generators.push(self.generator(path.key(name), name, settings)?);
            }
        }
        let is_known = |key: &str| match APPLICATION_SET_GENERATOR.field(key).map(|field| field.name) {
            Some("matrix" | "merge") => level(&path) < 3,
            field => field.is_some(),
        };
        let unknown = self.keys_at(&path).into_iter().filter(|(key, _)| !is_known(key));
        Ok(GeneratorEntry {
            generators,
            selector: value.get("selector").map(LabelSelectorSpec::new),
            unknown: unknown
                .map(|(key, position)| UnknownField::new(path.key(&key).to_string(), &key, position, KINDS))
                .collect(),
            value,
            path,
        })
    }

    /// Returns the parameters of a `plugin` generator as JSON with sorted keys, and with numbers as written in the document. None if the
    /// generator does not have the document's values, for instance after a matrix has interpolated it.
    pub fn written_parameters(&self, path: &FieldPath, plugin: &PluginGenerator) -> Option<String> {
        let path = match plugin.contract {
            PluginContract::Shipped => path.key("input").key("parameters"),
            PluginContract::Proposal { .. } => path.key("params"),
        };
        let node = locate(&self.document, &path.0)?;
        (node.to_value().as_object() == Some(&plugin.parameters)).then(|| node.to_written_json())
    }

    fn generator(&self, path: FieldPath, name: &str, settings: &Value) -> Result<Generator, DecodeError> {
        let children = || self.entries(&path.key("generators"), list(settings, "generators"));
        let kind = match name {
            "list" => GeneratorKind::List(ListGenerator {
                elements: list(settings, "elements").to_vec(),
                elements_yaml: text(settings, "elementsYaml"),
            }),
            "clusters" => GeneratorKind::Clusters(ClustersGenerator {
                selector: LabelSelectorSpec::new(&settings["selector"]),
                is_flat_list: flag(settings, "flatList"),
            }),
            "git" => GeneratorKind::Git(RepositoryGenerator::new(settings)),
            "oci" => GeneratorKind::Oci(RepositoryGenerator::new(settings)),
            "scmProvider" => GeneratorKind::ScmProvider(settings.clone()),
            "clusterDecisionResource" => GeneratorKind::ClusterDecisionResource(DecisionsGenerator {
                config_map: text(settings, "configMapRef"),
                name: text(settings, "name"),
                label_selector: LabelSelectorSpec::new(&settings["labelSelector"]),
            }),
            "pullRequest" => GeneratorKind::PullRequest(settings.clone()),
            "matrix" => GeneratorKind::Matrix(children()?),
            "merge" => GeneratorKind::Merge(MergeGenerator {
                generators: children()?,
                merge_keys: strings(settings, "mergeKeys"),
            }),
            _ => GeneratorKind::Plugin(self.plugin(&path, settings)?),
        };
        Ok(Generator {
            kind,
            values: string_map(settings, "values"),
            requeue_after_seconds: settings["requeueAfterSeconds"].as_i64(),
            template: settings.get("template").filter(|_| level(&path) == 1).cloned(),
            path,
        })
    }

    fn plugin(&self, path: &FieldPath, settings: &Value) -> Result<PluginGenerator, DecodeError> {
        let failed = |field: &str, message: &str| {
            let path = path.key(field);
            DecodeError {
                position: self.position_of(&path),
                path: path.to_string(),
                message: message.to_owned(),
            }
        };
        let parameters = |value: &Value| value.as_object().cloned().unwrap_or_default();
        match &settings["configMapRef"] {
            Value::String(config_map) => {
                if !parameters(&settings["input"]["parameters"]).is_empty() {
                    let message = "belongs to `configMapRef: {name: NAME}`; use `params` with a string";
                    return Err(failed("input", message));
                }
                Ok(PluginGenerator {
                    contract: PluginContract::Proposal { name: settings["name"].as_str().map(str::to_owned) },
                    config_map: config_map.clone(),
                    parameters: parameters(&settings["params"]),
                })
            }
            reference @ (Value::Object(_) | Value::Null) => {
                let is_set = |field: &&&str| settings.get(**field).is_some();
                if let Some(field) = ["params", "name"].iter().find(is_set) {
                    let message = "belongs to `configMapRef: NAME`; use `input.parameters` with an object";
                    return Err(failed(field, message));
                }
                let name = reference
                    .as_object()
                    .and_then(|map| map.iter().find(|(key, _)| key.eq_ignore_ascii_case("name")))
                    .map_or(&Value::Null, |(_, name)| name);
                match name {
                    Value::Null | Value::String(_) => Ok(PluginGenerator {
                        contract: PluginContract::Shipped,
                        config_map: name.as_str().unwrap_or_default().to_owned(),
                        parameters: parameters(&settings["input"]["parameters"]),
                    }),
                    _ => Err(failed("configMapRef", "expected the name as a string")),
                }
            }
            _ => Err(failed("configMapRef", "expected an object with a name, or a string")),
        }
    }
}

impl GeneratorKind {
    /// Returns the key of the kind, such as `clusterDecisionResource`.
    pub fn name(&self) -> &'static str {
        self.into()
    }
}

impl RepositoryGenerator {
    fn new(settings: &Value) -> Self {
        Self {
            repo_url: text(settings, "repoURL"),
            revision: text(settings, "revision"),
            directories: patterns(settings, "directories"),
            files: patterns(settings, "files"),
            path_param_prefix: text(settings, "pathParamPrefix"),
        }
    }
}

impl LabelSelectorSpec {
    /// Reads a selector in canonical form.
    pub fn new(value: &Value) -> Self {
        Self {
            match_labels: string_map(value, "matchLabels"),
            match_expressions: list(value, "matchExpressions")
                .iter()
                .map(|expression| SelectorExpression {
                    key: text(expression, "key"),
                    operator: text(expression, "operator"),
                    values: strings(expression, "values"),
                })
                .collect(),
        }
    }

    /// Returns the selector in canonical form.
    pub fn to_value(&self) -> Value {
        let expressions = self.match_expressions.iter().map(|expression| {
            let SelectorExpression { key, operator, values } = expression;
            json!({"key": key, "operator": operator, "values": values})
        });
        json!({"matchLabels": self.match_labels, "matchExpressions": expressions.collect::<Vec<_>>()})
    }
}

fn patterns(settings: &Value, key: &str) -> Vec<PathPattern> {
    list(settings, key)
        .iter()
        .map(|entry| PathPattern { path: text(entry, "path"), is_excluded: flag(entry, "exclude") })
        .collect()
}

/// Returns a string of a canonical object; empty if missing.
pub(super) fn text(value: &Value, key: &str) -> String {
    value[key].as_str().unwrap_or_default().to_owned()
}

/// Returns a boolean of a canonical object; false if missing.
pub(super) fn flag(value: &Value, key: &str) -> bool {
    value[key].as_bool().unwrap_or_default()
}

/// Returns a list of a canonical object; empty if missing.
pub(super) fn list<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    value[key].as_array().map_or(&[], Vec::as_slice)
}

/// Returns a list of strings of a canonical object; empty if missing.
pub(super) fn strings(value: &Value, key: &str) -> Vec<String> {
    list(value, key).iter().filter_map(Value::as_str).map(str::to_owned).collect()
}

/// Returns a map of strings of a canonical object; empty if missing.
fn string_map(value: &Value, key: &str) -> BTreeMap<String, String> {
    let entry =
        |(key, value): (&String, &Value)| (key.clone(), value.as_str().unwrap_or_default().to_owned());
    value[key].as_object().into_iter().flatten().map(entry).collect()
}
