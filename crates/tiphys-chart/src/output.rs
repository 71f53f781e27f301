//! From rendered files to what `helm template` prints: objects in the order of their installation, then hooks.

use std::collections::BTreeMap;

use tiphys_helm_values::HelmVersion;
use tiphys_yaml::{Data, Node, names_equal, read_document};

use crate::data::base;
use crate::error::RenderError;

/// The annotation that makes an object a hook.
const HOOK: &str = "helm.sh/hook";

/// Events of hooks that Helm knows. A hook with another one is dropped.
const EVENTS: [&str; 10] = [
    "pre-install",
    "post-install",
    "pre-delete",
    "post-delete",
    "pre-upgrade",
    "post-upgrade",
    "pre-rollback",
    "post-rollback",
    "test",
    "test-success",
];

/// Kinds in the order in which Helm installs them. Others follow, by name.
const INSTALL_ORDER: [&str; 38] = [
    "PriorityClass",
    "Namespace",
    "NetworkPolicy",
    "ResourceQuota",
    "LimitRange",
    "PodSecurityPolicy",
    "PodDisruptionBudget",
    "ServiceAccount",
    "Secret",
    "SecretList",
    "ConfigMap",
    "StorageClass",
    "PersistentVolume",
    "PersistentVolumeClaim",
    "CustomResourceDefinition",
    "ClusterRole",
    "ClusterRoleList",
    "ClusterRoleBinding",
    "ClusterRoleBindingList",
    "Role",
    "RoleList",
    "RoleBinding",
    "RoleBindingList",
    "Service",
    "DaemonSet",
    "Pod",
    "ReplicationController",
    "ReplicaSet",
    "Deployment",
    "HorizontalPodAutoscaler",
    "StatefulSet",
    "Job",
    "CronJob",
    "IngressClass",
    "Ingress",
    "APIService",
    "MutatingWebhookConfiguration",
    "ValidatingWebhookConfiguration",
];

/// How many kinds Helm 3 does not have at the end of the order.
const SINCE_HELM_4: usize = 2;

/// Begins a document.
const SEPARATOR: &str = "---";

/// White space in Go's regular expressions.
const WHITE_SPACE: [char; 5] = ['\t', '\n', '\x0C', '\r', ' '];

/// The output of a template.
#[derive(Clone, Debug)]
pub(crate) struct RenderedFile {
    /// The full name of the template.
    pub(crate) name: String,
    pub(crate) content: String,
    /// Whether the content is as its template wrote it; invalid bytes are replaced with U+FFFD.
    pub(crate) is_utf8: bool,
}

/// An object, as its template wrote it.
#[derive(Debug)]
struct Manifest<'a> {
    source: &'a str,
    content: &'a str,
    kind: String,
    is_test: bool,
}

/// Writes rendered files as `helm template` prints them. `crds` are files of custom resource definitions.
pub(crate) fn written(
    crds: &[RenderedFile],
    mut files: Vec<RenderedFile>,
    with_tests: bool,
    rules: HelmVersion,
) -> Result<String, RenderError> {
    files.sort_by(|one, other| one.name.cmp(&other.name));
    let (mut manifests, mut hooks) = (Vec::new(), Vec::new());
    for file in &files {
        if base(&file.name).starts_with('_') || file.name.ends_with("NOTES.txt") {
            continue;
        }
        for content in split(&file.content, rules) {
            if !file.is_utf8 && content.contains(char::REPLACEMENT_CHARACTER) {
                return Err(RenderError::Refused(format!(
                    "YAML parse error on {}: error converting YAML to JSON: yaml: invalid UTF-8",
                    file.name
                )));
            }
            let head = Head::read(&file.name, content)?;
            let (source, kind) = (file.name.as_str(), head.kind);
            match head.hook {
                None => manifests.push(Manifest { source, content, kind, is_test: false }),
                Some(events) => {
                    let events: Vec<String> =
                        events.split(',').map(|event| event.trim().to_lowercase()).collect();
                    if events.iter().all(|event| EVENTS.contains(&event.as_str())) {
                        let is_test = events.iter().any(|event| event.starts_with("test"));
                        hooks.push(Manifest { source, content, kind, is_test });
                    }
                }
            }
        }
    }
    for list in [&mut manifests, &mut hooks] {
        list.sort_by(|one, other| rank(&one.kind, rules).cmp(&rank(&other.kind, rules)));
    }
    hooks.retain(|hook| with_tests || !hook.is_test);
    let mut out = String::new();
    for crd in crds {
        add(&mut out, &crd.name, &crd.content);
    }
    for manifest in &manifests {
        add(&mut out, manifest.source, manifest.content);
    }
    out.truncate(out.trim_end().len());
    out.push('\n');
    for hook in &hooks {
        add(&mut out, hook.source, hook.content);
    }
    Ok(out)
}

fn add(out: &mut String, source: &str, content: &str) {
    for part in ["---\n# Source: ", source, "\n", content, "\n"] {
        out.push_str(part);
    }
}

/// Returns the position of a kind, and its name if the order does not have it.
fn rank(kind: &str, rules: HelmVersion) -> (usize, &str) {
    let order = match rules {
        HelmVersion::V3 => &INSTALL_ORDER[..INSTALL_ORDER.len() - SINCE_HELM_4],
        HelmVersion::V4 => &INSTALL_ORDER[..],
    };
    match order.iter().position(|known| *known == kind) {
        Some(position) => (position, ""),
        None => (order.len(), kind),
    }
}

/// Splits a file at lines that begin with `---`, also within strings, as Helm does. White space before a document is removed, in Helm 3 also
/// after it.
fn split(content: &str, rules: HelmVersion) -> Vec<&str> {
    match rules {
        HelmVersion::V3 => split_of_helm_3(content),
        HelmVersion::V4 => split_of_helm_4(content),
    }
}

fn split_of_helm_3(content: &str) -> Vec<&str> {
    let mut documents = Vec::new();
    let mut rest = content.trim();
    rest = rest.strip_prefix(SEPARATOR).map_or(rest, |rest| rest.trim_start_matches(WHITE_SPACE));
    // A line break that ends a separator begins no other one.
    while let Some((document, next)) = rest.split_once("\n---") {
        documents.push(document.trim());
        rest = next.trim_start_matches(WHITE_SPACE);
    }
    documents.push(rest.trim());
    documents.retain(|document| !document.is_empty());
    documents
}

fn split_of_helm_4(content: &str) -> Vec<&str> {
    let content = content.trim_start();
    let mut documents = Vec::new();
    let mut begin = 0;
    let mut line = 0;
    for text in content.split_inclusive('\n') {
        if let Some(rest) = text.strip_prefix(SEPARATOR) {
            documents.push(&content[begin..line]);
            begin = line + text.len() - rest.trim_start_matches([' ', '\t']).len();
        }
        line += text.len();
    }
    documents.push(&content[begin..]);
    let documents = documents.into_iter().map(str::trim_start);
    documents.filter(|document| !document.is_empty()).collect()
}

/// The fields of an object that decide its place.
#[derive(Debug, Default)]
struct Head {
    kind: String,
    /// The annotation [`HOOK`].
    hook: Option<String>,
}

impl Head {
    /// Reads the first document of a manifest.
    fn read(name: &str, content: &str) -> Result<Self, RenderError> {
        let failed = |problem: String| RenderError::Refused(format!("YAML parse error on {name}: {problem}"));
        check_characters(content).map_err(failed)?;
        let node = read_document(content.as_bytes())
            .map_err(|error| failed(format!("error converting YAML to JSON: yaml: {error}")))?;
        let Some(node) = node.filter(|node| !node.is_null()) else { return Ok(Self::default()) };
        let unmarshal = |node: &Node, into: &str| {
            let found = node.json_type();
            failed(format!(
                "error unmarshaling JSON: while decoding JSON: json: cannot unmarshal {found} into Go {into}"
            ))
        };
        if !matches!(node.data, Data::Mapping(_)) {
            return Err(unmarshal(&node, "value of type util.SimpleHead"));
        }
        let string = |node: &Node, key: &str, owner: &str| {
            let into = || format!("struct field {owner}{key} of type string");
            fields(node, key)
                .into_iter()
                .map(|value| text(value).ok_or_else(|| unmarshal(value, &into())))
                .try_fold(String::new(), |_, text| text)
        };
        string(&node, "apiVersion", "SimpleHead.")?;
        let kind = string(&node, "kind", "SimpleHead.")?;
        let metadata = match &*fields(&node, "metadata") {
            [] => return Ok(Self { kind, hook: None }),
            [metadata] => *metadata,
            _ => return Err(RenderError::Unsupported(format!("{name}: has several fields metadata"))),
        };
        if !matches!(metadata.data, Data::Mapping(_)) {
            let into = "struct field SimpleHead.metadata of type struct { Name string \"json:\\\"name\\\"\"; \
                        Annotations map[string]string \"json:\\\"annotations\\\"\" }";
            return Err(unmarshal(metadata, into));
        }
        string(metadata, "name", ".metadata.")?;
        let mut hook = None;
        for annotations in fields(metadata, "annotations") {
            let Data::Mapping(entries) = &annotations.data else {
                return Err(unmarshal(
                    annotations,
                    "struct field .metadata.annotations of type map[string]string",
                ));
            };
            for entry in entries {
                let value = match &entry.value.data {
                    Data::Null => String::new(),
                    _ => text(&entry.value).ok_or_else(|| {
                        unmarshal(&entry.value, "struct field .metadata.annotations of type string")
                    })?,
                };
                if entry.key.text == HOOK {
                    hook = Some(value);
                }
            }
        }
        Ok(Self { kind, hook })
    }
}

/// Checks that YAML permits all characters, also those in comments.
fn check_characters(content: &str) -> Result<(), String> {
    let is_allowed = |character: char| {
        matches!(character,
            '\t' | '\n' | '\r' | ' '..='~' | '\u{85}' | '\u{A0}'..='\u{D7FF}' | '\u{E000}'..='\u{FFFD}' | '\u{10000}'..)
    };
    // Nearly all texts are plain ASCII, which can be checked without decoding.
    let is_plain = content.bytes().all(|byte| matches!(byte, b'\t' | b'\n' | b'\r' | b' '..=b'~'));
    if is_plain || content.chars().all(is_allowed) {
        return Ok(());
    }
    Err("error converting YAML to JSON: yaml: control characters are not allowed".to_owned())
}

/// Returns the fields with a name in any case, in Go's order: the last one counts. Null has no effect.
fn fields<'a>(node: &'a Node, name: &str) -> Vec<&'a Node> {
    let Data::Mapping(entries) = &node.data else { return Vec::new() };
    // Go decodes JSON, whose keys are sorted. Of equal keys of YAML, the last counts.
    let named = entries.iter().filter(|entry| names_equal(name, &entry.key.text));
    let values: BTreeMap<&str, &Node> = named.map(|entry| (&*entry.key.text, &entry.value)).collect();
    values.into_values().filter(|node| !node.is_null()).collect()
}

/// Returns a scalar as a string; numbers and booleans are converted.
fn text(node: &Node) -> Option<String> {
    match &node.data {
        Data::String(text) => Some(text.clone()),
        Data::Mapping(_) | Data::Sequence(_) => None,
        _ => Some(node.to_value().to_string()),
    }
}
