//! Findings about documents and keys without an effect.

use std::collections::BTreeMap;

use tiphys_model::params::suggest;
use tiphys_yaml::{Data, Node, Position};

use super::super::file::Ignored;
use super::{Findings, PluginFile, Rule, nearest};

/// The group and version in Argo CD's documentation. Argo CD does not check it.
const API_VERSION: &str = "argoproj.io/v1alpha1";

/// Keys of plugins in `argocd-cm`, removed in Argo CD 2.8.
const DEPRECATED: [&str; 2] = ["lockRepo", "allowConcurrency"];

/// Frequent wrong keys and their replacements, where spelling suggestions do not help.
const HINTS: [(&str, &str); 6] = [
    ("spec.parameters.command", "spec.parameters.dynamic.command"),
    ("spec.parameters.args", "spec.parameters.dynamic.args"),
    ("spec.discover.glob", "spec.discover.find.glob"),
    ("spec.discover.command", "spec.discover.find.command"),
    ("spec.command", "spec.generate.command"),
    ("name", "metadata.name"),
];

/// Only the first document of a file is read. Further ones are not even parsed.
pub(super) fn check_documents(text: &[u8], first_has_content: bool, findings: &mut Findings<'_>) {
    let message = "only the first document of a plugin's file is read; what follows is ignored";
    match tiphys_yaml::read_documents(text) {
        Ok(documents) if first_has_content => {
            if let Some(second) = documents.get(1) {
                findings.add(Rule::SeveralDocuments, Some(second.position), message);
            }
        }
        Ok(documents) => {
            if let Some(document) = documents.first() {
                let message = "the first document of the file is empty, and only the first one is read";
                findings.add(Rule::SeveralDocuments, Some(document.position), message);
            }
        }
        Err(error) => {
            findings.add(
                Rule::SeveralDocuments,
                error.position,
                format!("{message} (it cannot be read: {})", error.message),
            );
        }
    }
}

/// Keys that occur twice in one object: the last one takes effect completely.
pub(super) fn check_duplicates(node: &Node, path: &str, findings: &mut Findings<'_>) {
    match &node.data {
        Data::Sequence(items) => {
            for (index, item) in items.iter().enumerate() {
                check_duplicates(item, &format!("{path}[{index}]"), findings);
            }
        }
        Data::Mapping(entries) => {
            let mut first: BTreeMap<&str, Position> = BTreeMap::new();
            for entry in entries {
                let key = &entry.key;
                let path = if path.is_empty() { key.text.clone() } else { format!("{path}.{}", key.text) };
                match first.get(key.text.as_str()) {
                    Some(position) => findings.add(
                        Rule::DuplicateKey,
                        Some(key.position),
                        format!(
                            "{path} is given twice; this one takes precedence over line {}",
                            position.line
                        ),
                    ),
                    None => {
                        first.insert(&key.text, key.position);
                    }
                }
                check_duplicates(&entry.value, &path, findings);
            }
        }
        _ => {}
    }
}

/// Keys of the file's objects that are unknown or invalid.
pub(super) fn check_ignored(file: &PluginFile, findings: &mut Findings<'_>) {
    for ignored in &file.ignored {
        match ignored {
            Ignored::Unknown { key, path, .. } if DEPRECATED.contains(&key.text.as_str()) => {
                let message =
                    format!("{path} is a key of plugins in argocd-cm and has no effect any more; remove it");
                findings.add(Rule::DeprecatedKey, Some(key.position), message);
            }
            Ignored::Unknown { key, path, known } => {
                let message = format!("{path} is unknown and ignored; {}", hint(path, &key.text, known));
                findings.add(Rule::UnknownKey, Some(key.position), message);
            }
            Ignored::Repeated { key, path } => {
                let message = format!(
                    "{path} is given again in another letter case; both are read, in the order of their bytes"
                );
                findings.add(Rule::DuplicateKey, Some(key.position), message);
            }
            Ignored::Unusable(error) => {
                let message = format!("{}: {}; the key is ignored", error.path, error.message);
                findings.add(Rule::UnusableValue, Some(error.position), message);
            }
        }
    }
}

/// Argo CD does not check `apiVersion`, so a wrong one is not noticed there.
pub(super) fn check_api_version(document: &Node, file: &PluginFile, findings: &mut Findings<'_>) {
    if file.api_version != API_VERSION {
        let found = if file.api_version.is_empty() {
            "missing".to_owned()
        } else {
            format!("`{}`", file.api_version)
        };
        let message = format!("apiVersion is {found}; it must be `{API_VERSION}`");
        findings.add(Rule::WrongApiVersion, Some(nearest(document, &["apiVersion"]).position), message);
    }
}

fn hint(path: &str, key: &str, known: &[&'static str]) -> String {
    if let Some((_, meant)) = HINTS.iter().find(|(written, _)| *written == path) {
        return format!("did you mean `{meant}`?");
    }
    did_you_mean(key, known)
}

/// Returns similar known keys, or all known keys.
pub(super) fn did_you_mean(key: &str, known: &[&'static str]) -> String {
    let list = |keys: &[&str]| keys.iter().map(|key| format!("`{key}`")).collect::<Vec<_>>().join(", ");
    let near = suggest(key, known.iter().copied());
    if near.is_empty() {
        format!("known here: {}", list(known))
    } else {
        format!("did you mean {}?", list(&near))
    }
}
