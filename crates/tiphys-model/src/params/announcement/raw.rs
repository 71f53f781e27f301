//! An announcement as in Argo CD's Go type, before validation.

use std::collections::{BTreeMap, BTreeSet};

use tiphys_yaml::{Data, DecodeError, Node, Object, Position};

use super::{Announcement, AnnouncementError, AnnouncementProblem, CollectionType, ItemType, Place};

/// An announcement with valid types; nothing else is validated. Argo CD's plugin server accepts and sends it in this form.
/// [`RawAnnouncement::check`] converts it to an [`Announcement`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "the fields are those of `Announcement`, as written")]
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

/// An entry of a list of announcements, with its location.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnnouncementEntry {
    /// Index in the list, from 0.
    pub index: usize,
    /// Position of the entry.
    pub position: Position,
    /// The announcement; `None` for `null`, which Argo CD's plugin file may contain.
    pub announcement: Option<RawAnnouncement>,
    /// Keys without effect, in document order.
    pub ignored: Vec<IgnoredKey>,
}

/// A key of an announcement that has no effect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IgnoredKey {
    /// The key as written.
    pub key: String,
    /// Position of the key.
    pub position: Position,
    /// The reason.
    pub reason: IgnoredReason,
}

/// The reason why a key has no effect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum IgnoredReason {
    /// The key is unknown.
    Unknown,
    /// The same key occurs again later.
    Repeated,
    /// `choices` is not a list of strings. This is not an error, because Argo CD does not know the key.
    InvalidChoices(DecodeError),
}

impl RawAnnouncement {
    /// Validates the name and the collection type, as the proposal requires. `index` and `position` are used in the error.
    pub fn check(self, index: usize, position: Option<Position>) -> Result<Announcement, AnnouncementError> {
        let name = self.name.filter(|name| !name.is_empty());
        let error = |name, problem| AnnouncementError {
            place: Place { index: Some(index), name, position },
            problem,
        };
        let Some(name) = name else { return Err(error(None, AnnouncementProblem::NoName)) };
        let word = self.collection_type.unwrap_or_default();
        let Some(collection_type) = CollectionType::from_word(&word) else {
            return Err(error(Some(name), AnnouncementProblem::UnknownCollectionType { found: word }));
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
    /// Decodes an entry of a list; `path` is the list's. The error for a wrong type names the field.
    pub fn decode(node: &Node, index: usize, path: &str) -> Result<Self, DecodeError> {
        Self::overlaid(&[node], index, path)
    }

    /// Like [`AnnouncementEntry::decode`], for the values at one index of several lists. As in Go, each is decoded over the previous ones,
    /// and `null` resets them.
    pub fn overlaid(nodes: &[&Node], index: usize, path: &str) -> Result<Self, DecodeError> {
        let position = nodes.last().map_or(Position::START, |node| node.position);
        // Types are checked everywhere, even in values before a `null`.
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

    /// Returns the validated announcement.
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

/// Decodes `choices`. Unlike in Argo CD's fields, `null` items are invalid. Duplicates are removed.
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
