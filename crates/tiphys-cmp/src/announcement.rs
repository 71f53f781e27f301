//! Announcements as protobuf messages. proto3 does not distinguish an empty string, list or map from an absent one.

use tiphys_model::params::{Announcement, CollectionType, ItemType};

use crate::generated::repository::ParameterAnnouncement;

/// Converts to a message.
pub(crate) fn to_message(announcement: &Announcement) -> ParameterAnnouncement {
    ParameterAnnouncement {
        name: announcement.name.clone(),
        title: announcement.title.clone().unwrap_or_default(),
        tooltip: announcement.tooltip.clone().unwrap_or_default(),
        required: announcement.required.unwrap_or_default(),
        item_type: announcement.item_type.as_ref().map(|item| item.word().into_owned()).unwrap_or_default(),
        collection_type: announcement.collection_type.word().to_owned(),
        string: announcement.string.clone().unwrap_or_default(),
        array: announcement.array.clone().unwrap_or_default(),
        map: announcement.map.clone().unwrap_or_default().into_iter().collect(),
        choices: announcement.choices.clone(),
    }
}

/// Converts from a message. The error names the entry by its index in the answer.
pub(crate) fn from_message(index: usize, message: ParameterAnnouncement) -> Result<Announcement, String> {
    if message.name.is_empty() {
        return Err(format!("announcement {index} has no name"));
    }
    let name = message.name;
    let collection_type = CollectionType::from_word(&message.collection_type).ok_or_else(|| {
        format!("announcement {name:?} has the unknown collectionType {:?}", message.collection_type)
    })?;
    Ok(Announcement {
        title: non_empty(message.title),
        tooltip: non_empty(message.tooltip),
        required: message.required.then_some(true),
        item_type: non_empty(message.item_type).and_then(|word| ItemType::from_word(&word)),
        collection_type,
        string: non_empty(message.string),
        array: (!message.array.is_empty()).then_some(message.array),
        map: (!message.map.is_empty()).then(|| message.map.into_iter().collect()),
        choices: message.choices,
        name,
    })
}

fn non_empty(text: String) -> Option<String> {
    (!text.is_empty()).then_some(text)
}
