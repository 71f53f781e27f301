//! An announcement as Argo CD's type can hold it, before it is checked.

use std::collections::{BTreeMap, BTreeSet};

use tiphys_yaml::{Data, DecodeError, Node, Object, Position};

use super::{Announcement, AnnouncementError, AnnouncementProblem, CollectionType, ItemType, Place};

/// An announcement as it was written: types hold, nothing else is checked. It is what Argo CD's plugin server starts with, and what
/// is on the wire; [`RawAnnouncement::check`] makes an [`Announcement`] of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "the fields are those of `Announcement`, each absent or as it was written")]
pub struct RawAnnouncement {
    pub name: Option<String>,
    pub title: Option<String>,
    pub tooltip: Option<String>,
    pub required: Option<bool>,
    pub item_type: Option<String>,
    pub collection_type: Option<String>,
    pub string: Option<String>,
    pub array: Option<Vec<String>>,
    pub map: Option<BTreeMap<String, String>>,
    pub choices: Option<Vec<String>>,
}

/// One entry of a list of announcements and its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnnouncementEntry {
    /// Index in the list, from 0.
    pub index: usize,
    /// Where it begins.
    pub position: Position,
    /// What was written; `None` is a `null`, which Argo CD's plugin file may hold too.
    pub announcement: Option<RawAnnouncement>,
    /// What has no effect, in the order of the document.
    pub ignored: Vec<IgnoredKey>,
}

/// A key of an announcement that has no effect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IgnoredKey {
    /// The key as it was written.
    pub key: String,
    /// Where the key begins.
    pub position: Position,
    /// Why it has none.
    pub reason: IgnoredReason,
}

/// Why a key has no effect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum IgnoredReason {
    /// No such key is known.
    Unknown,
    /// The same key comes again later.
    Repeated,
    /// `choices` is no list of texts. Argo CD does not know this key, so that it is no error.
    InvalidChoices(DecodeError),
}

impl RawAnnouncement {
    /// Checks what the proposal demands: a name, and a known collection type. `index` and `position` are for the error.
    pub fn check(self, index: usize, position: Option<Position>) -> Result<Announcement, AnnouncementError> {
        let name = self.name.filter(|name| !name.is_empty());
        let refuse = |name, problem| AnnouncementError {
            place: Place { index: Some(index), name, position },
            problem,
        };
        let Some(name) = name else { return Err(refuse(None, AnnouncementProblem::NoName)) };
        let word = self.collection_type.unwrap_or_default();
        let Some(collection_type) = CollectionType::from_word(&word) else {
            return Err(refuse(Some(name), AnnouncementProblem::UnknownCollectionType { found: word }));
        };
        Ok(Announcement {
            name,
            title: self.title,
            tooltip: self.tooltip,
            required: self.required,
            item_type: self.item_type.as_deref().and_then(ItemType::from_word),
            collection_type,
            string: self.string,
            array: self.array,
            map: self.map,
            choices: self.choices.unwrap_or_default(),
        })
    }

    fn decode(object: &mut Object<'_>) -> Result<(Self, Vec<IgnoredKey>), DecodeError> {
        let text = |object: &mut Object<'_>, key| object.text(key).map(|text| text.map(str::to_owned));
        let mut announcement = Self {
            name: text(object, "name")?,
            title: text(object, "title")?,
            tooltip: text(object, "tooltip")?,
            required: object.boolean("required")?,
            item_type: text(object, "itemType")?,
            collection_type: text(object, "collectionType")?,
            string: text(object, "string")?,
            array: object.texts("array")?,
            map: object.text_map("map")?,
            choices: None,
        };
        let mut ignored = Vec::new();
        for value in object.all("choices") {
            match read_choices(value, &object.path_of("choices")) {
                Ok(choices) => announcement.choices = choices,
                Err(error) => ignored.push(IgnoredKey {
                    key: "choices".to_owned(),
                    position: value.position,
                    reason: IgnoredReason::InvalidChoices(error),
                }),
            }
        }
        ignored.extend(object.unknown().into_iter().map(|entry| IgnoredKey {
            key: entry.key.text.clone(),
            position: entry.key.position,
            reason: IgnoredReason::Unknown,
        }));
        ignored.extend(object.duplicates().into_iter().map(|key| IgnoredKey {
            key: key.text.clone(),
            position: key.position,
            reason: IgnoredReason::Repeated,
        }));
        ignored.sort_by_key(|ignored| ignored.position);
        Ok((announcement, ignored))
    }
}

impl AnnouncementEntry {
    /// Reads one entry of a list; `path` is the list's. A wrong type is an error that names the field.
    pub fn decode(node: &Node, index: usize, path: &str) -> Result<Self, DecodeError> {
        Self::overlaid(&[node], index, path)
    }

    /// As [`AnnouncementEntry::decode`], of what several lists have at the index, in their order: Go reads each over the ones before
    /// it, and a `null` takes them away.
    pub fn overlaid(nodes: &[&Node], index: usize, path: &str) -> Result<Self, DecodeError> {
        let position = nodes.last().map_or(Position::START, |node| node.position);
        // Types count everywhere, also in what a later `null` takes away.
        let after_null = nodes.iter().rposition(|node| node.is_null()).map_or(0, |null| null + 1);
        let (replaced, nodes) = nodes.split_at(after_null);
        let path = format!("{path}[{index}]");
        for node in replaced {
            RawAnnouncement::decode(&mut Object::new(node, path.clone())?)?;
        }
        if nodes.is_empty() {
            return Ok(Self { index, position, announcement: None, ignored: Vec::new() });
        }
        let (announcement, ignored) = RawAnnouncement::decode(&mut Object::overlaid(nodes, path)?)?;
        Ok(Self { index, position, announcement: Some(announcement), ignored })
    }

    /// The checked announcement.
    pub fn check(&self) -> Result<Announcement, AnnouncementError> {
        match &self.announcement {
            Some(announcement) => announcement.clone().check(self.index, Some(self.position)),
            None => Err(AnnouncementError {
                place: Place { index: Some(self.index), name: None, position: Some(self.position) },
                problem: AnnouncementProblem::Null,
            }),
        }
    }
}

/// Reads `choices`; unlike in the fields that Argo CD knows, `null` items are refused, and equal ones are counted once.
fn read_choices(node: &Node, path: &str) -> Result<Option<Vec<String>>, DecodeError> {
    let items = match &node.data {
        Data::Null => return Ok(None),
        Data::Sequence(items) => items,
        _ => return Err(DecodeError::mismatch(node, path, "a list of strings")),
    };
    let mut list: Vec<String> = Vec::with_capacity(items.len());
    let mut seen = BTreeSet::new();
    for (index, item) in items.iter().enumerate() {
        let text = item
            .as_str()
            .ok_or_else(|| DecodeError::mismatch(item, &format!("{path}[{index}]"), "a string"))?;
        if seen.insert(text) {
            list.push(text.to_owned());
        }
    }
    Ok(Some(list))
}
