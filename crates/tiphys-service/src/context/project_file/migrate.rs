//! Migration of project files whose keys have other names now.

use tiphys_store::FileEdit;
use tiphys_yaml::{Data, Key, Position, read_documents};

use super::parse::{Invalid, parse};
use super::{FoundFile, ProjectFileChoice, find};
use crate::context::host::Host;
use crate::context::options::RENAMED_KEYS;
use crate::context::project_file::paths::relative;
use crate::error::ServiceError;

/// A project file with the present names of its keys.
#[derive(Debug)]
pub struct Migration {
    /// The file for messages.
    pub shown: String,
    /// The keys that were renamed, with their present names.
    pub renamed: Vec<(&'static str, &'static str)>,
}

/// Gives the keys of the project file their present names, and keeps every other byte. Returns `None` if there is no file. Nothing is written
/// if no key has another name, or if the result is invalid.
pub fn migrate(choice: &ProjectFileChoice, host: &Host) -> Result<Option<Migration>, ServiceError> {
    let found = match choice {
        ProjectFileChoice::Named(file) => Some(find::named(file, host)?),
        ProjectFileChoice::Search => find::search(host)?,
        ProjectFileChoice::None | ProjectFileChoice::Base => None,
    };
    let Some(FoundFile { path, real, content, .. }) = found else { return Ok(None) };
    let shown = relative(&path, &host.current_dir).display().to_string();
    let (migrated, renamed) = with_present_keys(&content).map_err(|Invalid { position, message }| {
        ServiceError::invalid_input(format!("{shown}:{position}: {message}"))
    })?;
    if !renamed.is_empty() {
        FileEdit::with_content(real, content, migrated).write().map_err(ServiceError::not_written)?;
    }
    Ok(Some(Migration { shown, renamed }))
}

pub(super) type Renamed = Vec<(&'static str, &'static str)>;

/// Renames the keys in the text of a project file.
pub(super) fn with_present_keys(content: &[u8]) -> Result<(Vec<u8>, Renamed), Invalid> {
    let invalid = |message: &str| Invalid { position: Position::START, message: message.to_owned() };
    let text = std::str::from_utf8(content).map_err(|_| invalid("expected UTF-8"))?;
    let documents = read_documents(content).map_err(|error| Invalid {
        position: error.position.unwrap_or(Position::START),
        message: error.message,
    })?;
    let keys: Vec<&Key> = match documents.first().map(|document| &document.data) {
        Some(Data::Mapping(entries)) => entries.iter().map(|entry| &entry.key).collect(),
        _ => Vec::new(),
    };
    let mut lines: Vec<String> = text.split_inclusive('\n').map(str::to_owned).collect();
    let mut renamed = Vec::new();
    for (old, new) in RENAMED_KEYS.iter().copied() {
        let Some(key) = keys.iter().find(|key| key.text == old) else { continue };
        if keys.iter().any(|key| key.text == new) {
            let message = format!("{old} and {new} are one key; merge their values and remove {old}");
            return Err(Invalid { position: key.position, message });
        }
        let line = key.position.line.checked_sub(1).and_then(|line| lines.get_mut(line));
        let start = line.as_ref().and_then(|line| {
            let (start, _) = line.char_indices().nth(key.position.column - 1)?;
            line[start..].find(old).map(|found| start + found)
        });
        let (Some(line), Some(start)) = (line, start) else {
            let message = format!("{old} is now {new}; rename it by hand");
            return Err(Invalid { position: key.position, message });
        };
        line.replace_range(start..start + old.len(), new);
        renamed.push((old, new));
    }
    let migrated = lines.concat().into_bytes();
    parse(&migrated)?;
    Ok((migrated, renamed))
}

#[cfg(test)]
mod tests;
