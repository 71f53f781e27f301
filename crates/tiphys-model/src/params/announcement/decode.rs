//! Decoding lists of announcements.

use tiphys_yaml::{Data, DecodeError, Node, Position, names_equal};

use super::raw::{AnnouncementEntry, IgnoredReason};
use super::{Announcement, AnnouncementError, AnnouncementProblem, Place};
use crate::params::Warning;

/// Validated announcements with their warnings.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Announcements {
    /// The announcements in the order of the document.
    pub list: Vec<Announcement>,
    /// Unknown keys, duplicate keys, invalid `choices`.
    pub warnings: Vec<Warning>,
}

/// An error in the output of `parameters.dynamic`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DynamicOutputError {
    /// The output is empty or only whitespace.
    #[error(
        "the command printed nothing; it has to print a JSON list of announcements (`[]` or `null` for none)"
    )]
    Empty,
    /// The output is not JSON.
    #[error("the command's output is not JSON")]
    NotJson(#[source] tiphys_yaml::Error),
    /// The output is JSON, but not a list.
    #[error("the command has to print a JSON list of announcements, found {found} (line {}, column {})", position.line, position.column)]
    NotAList {
        /// The type found, with an article.
        found: &'static str,
        /// Its position in the output.
        position: Position,
    },
    /// An announcement is invalid.
    #[error(transparent)]
    Announcement(#[from] AnnouncementError),
}

/// Decodes and validates a list of announcements (proposal, Q/A 5 and the schema): names, collection types, JSON types of all fields.
/// `null` is an empty list. `path` is the field path in the error for a value that is not a list.
///
/// Pass a list from YAML through [`Node::deduplicated`] first, as Kubernetes' conversion to JSON does.
pub fn decode_announcements(node: &Node, path: &str) -> Result<Announcements, AnnouncementError> {
    Announcements::from_entries(&decode_announcement_entries(node, path)?)
}

/// Like [`decode_announcements`], but accepts what Argo CD accepts: names and collection types are not checked. Entries must be objects or
/// `null`.
pub fn decode_announcement_entries(
    node: &Node,
    path: &str,
) -> Result<Vec<AnnouncementEntry>, AnnouncementError> {
    match &node.data {
        Data::Null => Ok(Vec::new()),
        Data::Sequence(items) => {
            items.iter().enumerate().map(|(index, item)| decode_entry(item, index)).collect()
        }
        _ => {
            let place = Place { index: None, name: None, position: Some(node.position) };
            let problem = AnnouncementProblem::WrongType {
                field: path.to_owned(),
                message: format!("expected a list, found {}", node.type_words()),
            };
            Err(AnnouncementError { place, problem })
        }
    }
}

impl Announcements {
    /// Validates decoded entries. Returns the first error.
    pub fn from_entries(entries: &[AnnouncementEntry]) -> Result<Self, AnnouncementError> {
        let mut read = Self::default();
        for entry in entries {
            let announcement = entry.check()?;
            read.warnings.extend(warnings(entry, &announcement));
            read.list.push(announcement);
        }
        Ok(read)
    }
}

/// Decodes the output of `parameters.dynamic`: a JSON list of announcements, or `null` for none.
pub fn decode_dynamic_output(stdout: &[u8]) -> Result<Announcements, DynamicOutputError> {
    if stdout.trim_ascii().is_empty() {
        return Err(DynamicOutputError::Empty);
    }
    let node = tiphys_yaml::read_json(stdout).map_err(DynamicOutputError::NotJson)?;
    match &node.data {
        Data::Null | Data::Sequence(_) => Ok(decode_announcements(&node, "")?),
        _ => Err(DynamicOutputError::NotAList { found: node.type_words(), position: node.position }),
    }
}

fn decode_entry(node: &Node, index: usize) -> Result<AnnouncementEntry, AnnouncementError> {
    let error = |name, position, problem| AnnouncementError {
        place: Place { index: Some(index), name, position: Some(position) },
        problem,
    };
    if !matches!(node.data, Data::Mapping(_) | Data::Null) {
        let problem = AnnouncementProblem::NotAnObject { found: node.type_words() };
        return Err(error(None, node.position, problem));
    }
    AnnouncementEntry::decode(node, index, "").map_err(|DecodeError { position, path, message }| {
        // `place` already has the index; the field is the part after `[index].`.
        let field = path.split_once("].").map_or(path.as_str(), |(_, field)| field).to_owned();
        error(name_of(node), position, AnnouncementProblem::WrongType { field, message })
    })
}

/// Returns the name of an entry that cannot be decoded, for its error.
fn name_of(node: &Node) -> Option<String> {
    let Data::Mapping(entries) = &node.data else { return None };
    let named = entries.iter().rev().find(|entry| names_equal(&entry.key.text, "name"))?;
    named.value.as_str().filter(|name| !name.is_empty()).map(str::to_owned)
}

fn warnings(entry: &AnnouncementEntry, announcement: &Announcement) -> Vec<Warning> {
    let name = &announcement.name;
    entry
        .ignored
        .iter()
        .map(|ignored| {
            let what = match &ignored.reason {
                IgnoredReason::Unknown => format!("the key `{}` is unknown and ignored", ignored.key),
                IgnoredReason::Repeated => {
                    format!("the key `{}` is given twice; the last one counts", ignored.key)
                }
                IgnoredReason::InvalidChoices(error) => format!("`choices` is ignored: {}", error.message),
            };
            Warning { message: format!("announcement `{name}`: {what}"), position: Some(ignored.position) }
        })
        .collect()
}
