//! The content of a project file.

use tiphys_source::redact_url;
use tiphys_yaml::{Data, DecodeError, Entry, Error, Node, Position};

use crate::error::ServiceError;

use crate::context::options::{Setting, SettingKind, read_limit, unknown_key};

/// A key with its values, as written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct WrittenKey {
    pub(super) setting: &'static Setting,
    /// Position of the key.
    pub(super) position: Position,
    /// The values, each with its position.
    pub(super) values: Vec<(String, Position)>,
}

/// An invalid project file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Invalid {
    pub(super) position: Position,
    pub(super) message: String,
}

impl Invalid {
    fn new(position: Position, message: impl Into<String>) -> Self {
        Self { position, message: message.into() }
    }
}

/// Parses a project file. An unknown key is an error: a mistake in it would otherwise change what a command does.
pub(super) fn parse(text: &[u8]) -> Result<Vec<WrittenKey>, Invalid> {
    let documents = tiphys_yaml::read_documents(text).map_err(|Error { position, message, .. }| {
        Invalid::new(position.unwrap_or(Position::START), message)
    })?;
    if let Some(second) = documents.get(1) {
        return Err(Invalid::new(second.position, "a project file has one document"));
    }
    let Some(document) = documents.first() else { return Ok(Vec::new()) };
    let Data::Mapping(entries) = &document.data else {
        return Err(mismatch(document, "", "an object"));
    };
    if let Some((path, key)) = document.repeated_keys().into_iter().next() {
        return Err(Invalid::new(key.position, format!("{path} is given twice")));
    }
    let written = entries.iter().map(written).collect::<Result<Vec<_>, _>>()?;
    Ok(written.into_iter().flatten().collect())
}

/// Returns a key with its values. `None` for a key without a value.
fn written(Entry { key, value }: &Entry) -> Result<Option<WrittenKey>, Invalid> {
    let Some(setting) = Setting::named(&key.text) else {
        return Err(Invalid::new(key.position, unknown_key(&key.text)));
    };
    if value.is_null() {
        return Ok(None);
    }
    let name = setting.key;
    let values = match setting.kind {
        SettingKind::Switch(_) => match value.data {
            Data::Bool(set) => vec![(set.to_string(), value.position)],
            _ => return Err(mismatch(value, name, "a boolean")),
        },
        SettingKind::Word(_) => {
            let (words, word) = (setting.words(), text(value, name, "a string")?);
            if !words.contains(&word.0.as_str()) {
                let message = format!("{name}: unknown {:?}; use {}", word.0, words.join(", "));
                return Err(Invalid::new(value.position, message));
            }
            vec![word]
        }
        SettingKind::Limits => limits(value, name)?,
        SettingKind::Path(_) | SettingKind::Value(_) => vec![checked(setting, value, name, "a string")?],
        SettingKind::Values(_) | SettingKind::Paths(_) | SettingKind::Parsed { .. } => match &value.data {
            Data::Sequence(items) => items
                .iter()
                .enumerate()
                .map(|(index, item)| checked(setting, item, &format!("{name}[{index}]"), "a string"))
                .collect::<Result<_, _>>()?,
            _ => vec![checked(setting, value, name, "a string or a list of strings")?],
        },
    };
    Ok(Some(WrittenKey { setting, position: key.position, values }))
}

/// Returns limits as `NAME=VALUE`.
fn limits(node: &Node, path: &str) -> Result<Vec<(String, Position)>, Invalid> {
    let Data::Mapping(entries) = &node.data else {
        return Err(mismatch(node, path, "an object with the names of limits"));
    };
    let limit = |Entry { key, value }: &Entry| {
        let written = match (&value.data, value.as_str()) {
            (Data::Integer(number), _) => number.to_string(),
            (Data::Unsigned(number), _) => number.to_string(),
            (_, Some(text)) => text.to_owned(),
            _ => return Err(mismatch(value, &format!("{path}.{}", key.text), "a whole number or a string")),
        };
        let argument = format!("{}={written}", key.text);
        let invalid =
            |error: ServiceError| Invalid::new(value.position, format!("{path}: {}", error.message()));
        read_limit(&argument).map_err(invalid)?;
        Ok((argument, value.position))
    };
    entries.iter().map(limit).collect()
}

/// Returns a value that may have a path.
fn checked(setting: &Setting, node: &Node, path: &str, due: &str) -> Result<(String, Position), Invalid> {
    let value = text(node, path, due)?;
    let wrong =
        |what: &str| Err(Invalid::new(node.position, format!("{path}: {:?} {what}", redact_url(&value.0))));
    match setting.split_path(&value.0) {
        // `-` is standard input among the values of options.
        Some((_, "" | "-")) => wrong("names no path"),
        None if setting.has_paths() => {
            wrong("names no folder; write DIR, @BRANCH=DIR, URL=DIR or URL@REV=DIR")
        }
        None if value.0.is_empty() => wrong("is empty"),
        // A file of the checkout may be any file of its user, and a comparison would read that of the head.
        None if setting == Setting::API_VERSIONS && names_file(&value.0) => {
            wrong("names a file; list the versions here")
        }
        _ => Ok(value),
    }
}

/// Whether API versions are in a file: `@FILE` or `NAME=@FILE`.
fn names_file(versions: &str) -> bool {
    versions.split_once('=').map_or(versions, |(_, list)| list).starts_with('@')
}

fn text(node: &Node, path: &str, due: &str) -> Result<(String, Position), Invalid> {
    match node.as_str() {
        Some(text) => Ok((text.to_owned(), node.position)),
        None => Err(mismatch(node, path, due)),
    }
}

fn mismatch(node: &Node, path: &str, due: &str) -> Invalid {
    let DecodeError { position, path, message } = DecodeError::mismatch(node, path, due);
    let path = if path.is_empty() { path } else { path + ": " };
    // Only a scalar that is not a string can be quoted.
    let is_scalar =
        matches!(node.data, Data::Integer(_) | Data::Unsigned(_) | Data::Float(_) | Data::Bool(_));
    let remedy = if is_scalar && due.starts_with("a string or") { "; put it in quotes" } else { "" };
    Invalid::new(position, format!("{path}{message}{remedy}"))
}

#[cfg(test)]
mod tests;
