//! One parameter of an application: what is announced of it, what is set, and what is wrong with it.

use serde_json::{Value, json};
use tiphys_params::{Announcement, ItemType, Parameter};
use tiphys_render::AnnouncedSource;
use tiphys_store::FileVersion;

use super::origin::{Chain, Layers, Location, Origin, by_name, default_of};
use super::problems::{Problems, Trouble};

/// Whether the source's plugin said what it accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Announced {
    /// It did.
    Known,
    /// It gave no answer.
    Unknown,
}

/// One row of `params list`.
pub(super) struct Row<'a> {
    pub(super) name: &'a str,
    pub(super) announcement: Option<&'a Announcement>,
    announced: Announced,
    /// The value that is set, override files included.
    pub(super) parameter: Option<&'a Parameter>,
    /// Everything that gives a value.
    pub(super) chain: Chain,
    /// What is wrong.
    pub(super) trouble: Trouble,
    pub(super) source: &'a AnnouncedSource,
    /// What the Application's own file was when it was read.
    version: Option<FileVersion>,
}

/// The rows of one source: announced parameters in their order, then the others that are set.
pub(super) fn rows<'a>(
    source: &'a AnnouncedSource,
    layers: &Layers<'_>,
    announced: Announced,
) -> Vec<Row<'a>> {
    let values = by_name(&source.parameters);
    let mut problems = match announced {
        Announced::Known => Problems::of(source),
        Announced::Unknown => Problems::unchecked(source),
    };
    let mut seen = std::collections::HashSet::new();
    let announcements =
        source.announcements.iter().map(|announcement| (announcement.name.as_str(), Some(announcement)));
    let set = source.parameters.iter().map(|parameter| (parameter.name.as_str(), None));
    let names = announcements.chain(set).filter(|(name, _)| seen.insert(*name));
    names
        .map(|(name, announcement)| {
            let parameter = values.get(name).copied();
            let chain = layers.chain(name, announcement, parameter);
            let (trouble, version) = (problems.take(name), layers.version);
            Row { name, announcement, announced, parameter, chain, trouble, source, version }
        })
        .collect()
}

impl Row<'_> {
    /// What the value that is in effect comes from; of none the announcement, which has no default.
    pub(super) fn origin(&self) -> Origin {
        self.chain.in_effect().map_or(Origin::Default, |link| link.origin)
    }

    /// Where the value in effect stands.
    pub(super) fn location(&self) -> Option<&Location> {
        self.chain.in_effect()?.location.as_ref()
    }

    /// The value that is in effect: `{"string" | "array" | "map": …}`.
    pub(super) fn value(&self) -> Option<&Value> {
        self.chain.in_effect().map(|link| &link.value)
    }

    /// The announced default.
    pub(super) fn default(&self) -> Option<Value> {
        Some(default_of(&self.announcement?.default_value()?))
    }

    /// The value in one line.
    pub(super) fn shown_value(&self) -> String {
        match self.value() {
            Some(value) => value_text(value),
            None if self.trouble.missing => "(required, missing)".to_owned(),
            None => String::new(),
        }
    }

    /// `map of number`, `array`, `choice`, `string`; `not announced`, `unknown`.
    pub(super) fn kind(&self) -> String {
        let Some(announcement) = self.announcement else {
            return match self.announced {
                Announced::Known => "not announced".to_owned(),
                Announced::Unknown => "unknown".to_owned(),
            };
        };
        let item = announcement.item_type.as_ref().map_or("string".into(), ItemType::word);
        match announcement.collection_type.field() {
            "string" if announcement.choices.is_empty() => item.into_owned(),
            "string" => "choice".to_owned(),
            collection if item == "string" => collection.to_owned(),
            collection => format!("{collection} of {item}"),
        }
    }

    /// `yes` or `no`; nothing if it is not announced.
    pub(super) fn required(&self) -> &'static str {
        match self.announcement.map(|announcement| announcement.required) {
            Some(Some(true)) => "yes",
            Some(_) => "no",
            None => "",
        }
    }

    /// A text of the announcement, empty if there is none.
    pub(super) fn text(&self, field: fn(&Announcement) -> Option<&str>) -> &str {
        self.announcement.and_then(field).unwrap_or_default()
    }

    /// The shape of `params list -o json` (`design.md` section 4).
    pub(super) fn to_json(&self) -> Value {
        let announcement = self.announcement;
        json!({
            "name": self.name,
            "title": self.text(|a| a.title.as_deref()),
            "tooltip": self.text(|a| a.tooltip.as_deref()),
            "required": announcement.is_some_and(|a| a.required == Some(true)),
            "itemType": announcement.and_then(|a| a.item_type.as_ref()).map(ItemType::word).unwrap_or_default(),
            "collectionType": announcement.map_or("", |a| a.collection_type.word()),
            "choices": announcement.map(|a| a.choices.clone()).unwrap_or_default(),
            "announced": announcement.is_some(),
            "origin": self.origin().name(),
            "value": self.value(),
            "default": self.default(),
            "location": self.location().map(Location::to_json),
            "missing": self.trouble.missing,
            "problems": self.trouble.texts,
            "suggestions": self.trouble.suggestions,
            "sourcePosition": self.source.position,
            "sourceName": self.source.name,
            "version": self.version.map(|version| version.to_string()),
        })
    }
}

/// A value in one line: a text as it is, or as JSON writes it if it has line breaks and the like; lists and maps as JSON.
pub(super) fn value_text(value: &Value) -> String {
    let Some(inner) = value.as_object().and_then(|parts| parts.values().next()) else {
        return String::new();
    };
    match inner.as_str() {
        Some(text) if !text.contains(char::is_control) => text.to_owned(),
        _ => inner.to_string(),
    }
}

#[cfg(test)]
mod tests;
