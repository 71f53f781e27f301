//! Static announcements that the proposal refuses, or parts of them that have no effect.

use std::collections::BTreeMap;

use tiphys_params::{
    Announcement, AnnouncementEntry, AnnouncementProblem, IgnoredReason, ItemType, ProblemKind,
    announced_collisions, check_default, suggest,
};
use tiphys_yaml::{Data, Node};

use super::keys::did_you_mean;
use super::{Findings, PluginFile, Rule, nearest};

/// The keys of an announcement, `choices` being our own.
const KEYS: [&str; 10] = [
    "name",
    "title",
    "tooltip",
    "required",
    "itemType",
    "collectionType",
    "string",
    "array",
    "map",
    "choices",
];

/// Keys that people write, and what they mean, where the words alone are not near enough.
const HINTS: [(&str, &str); 5] = [
    ("default", "`string`, `array` or `map`"),
    ("value", "`string`, `array` or `map`"),
    ("description", "`tooltip`"),
    ("type", "`itemType` or `collectionType`"),
    ("enum", "`choices`"),
];

/// Words for the types of items, and the known ones that they mean.
const ITEM_TYPES: [(&str, &str); 6] = [
    ("bool", "boolean"),
    ("int", "number"),
    ("integer", "number"),
    ("float", "number"),
    ("double", "number"),
    ("text", "string"),
];

pub(super) fn check(document: &Node, file: &PluginFile, findings: &mut Findings<'_>) {
    let entries = file.parameters_static.as_deref().unwrap_or_default();
    let list = nearest(document, &["spec", "parameters", "static"]);
    let mut checked: Vec<(&Node, Announcement)> = Vec::new();
    for entry in entries {
        let node = match &list.data {
            Data::Sequence(items) => items.get(entry.index).unwrap_or(list),
            _ => list,
        };
        check_ignored(entry, findings);
        match entry.check() {
            Ok(announcement) => {
                check_announcement(node, &announcement, findings);
                checked.push((node, announcement));
            }
            Err(error) => {
                let (rule, at) = match error.problem {
                    AnnouncementProblem::Null => (Rule::NullAnnouncement, node),
                    AnnouncementProblem::UnknownCollectionType { .. } => {
                        (Rule::UnknownCollectionType, nearest(node, &["collectionType"]))
                    }
                    _ => (Rule::AnnouncementWithoutName, nearest(node, &["name"])),
                };
                let name = error.place.name.map(|name| format!(" `{name}`")).unwrap_or_default();
                let message = format!("static announcement {}{name}: {}", entry.index + 1, error.problem);
                findings.add(rule, Some(at.position), message);
            }
        }
    }
    check_names(&checked, findings);
}

fn check_ignored(entry: &AnnouncementEntry, findings: &mut Findings<'_>) {
    let name =
        entry.announcement.as_ref().and_then(|announcement| announcement.name.as_deref()).unwrap_or_default();
    let title = if name.is_empty() {
        format!("static announcement {}", entry.index + 1)
    } else {
        format!("`{name}`")
    };
    for ignored in &entry.ignored {
        let (rule, message) = match &ignored.reason {
            IgnoredReason::Unknown => {
                let hint = match HINTS.iter().find(|(written, _)| *written == ignored.key) {
                    Some((_, meant)) => format!("did you mean {meant}?"),
                    None => did_you_mean(&ignored.key, &KEYS),
                };
                (Rule::UnknownKey, format!("{title}: {} is unknown and ignored; {hint}", ignored.key))
            }
            IgnoredReason::Repeated => {
                let message = format!("{title}: {} is given again in another letter case", ignored.key);
                (Rule::DuplicateKey, message)
            }
            IgnoredReason::InvalidChoices(error) => {
                (Rule::InvalidChoices, format!("{title}: choices: {}; the key is ignored", error.message))
            }
        };
        findings.add(rule, Some(ignored.position), message);
    }
}

fn check_announcement(node: &Node, announcement: &Announcement, findings: &mut Findings<'_>) {
    let name = &announcement.name;
    let counted = announcement.collection_type.field();
    for field in announcement.ignored_defaults() {
        let message = format!(
            "`{name}`: the default in `{field}` is ignored, since the collectionType makes `{counted}` count"
        );
        findings.add(Rule::IgnoredDefault, Some(nearest(node, &[field]).position), message);
    }
    if let Some(ItemType::String(word)) = &announcement.item_type
        && word != "string"
    {
        let meant = ITEM_TYPES
            .iter()
            .find(|(written, _)| written.eq_ignore_ascii_case(word))
            .map(|(_, known)| *known)
            .or_else(|| suggest(word, ["number", "boolean", "string"]).first().copied());
        let hint = meant.map(|known| format!("; did you mean `{known}`?")).unwrap_or_default();
        let message = format!("`{name}`: the itemType `{word}` is unknown and treated as a string{hint}");
        findings.add(Rule::UnknownItemType, Some(nearest(node, &["itemType"]).position), message);
    }
    for problem in check_default(announcement) {
        let rule = match problem.kind {
            ProblemKind::NotAChoice { .. } => Rule::DefaultNotInChoices,
            _ => Rule::DefaultNotOfItemType,
        };
        let message = format!("`{name}`: the default does not hold: {}", problem.kind);
        findings.add(rule, Some(nearest(node, &[counted]).position), message);
    }
}

fn check_names(checked: &[(&Node, Announcement)], findings: &mut Findings<'_>) {
    let mut first: BTreeMap<&str, usize> = BTreeMap::new();
    for (node, announcement) in checked {
        let position = nearest(node, &["name"]).position;
        match first.get(announcement.name.as_str()) {
            Some(line) => {
                let message = format!(
                    "`{}` is announced twice, first on line {line}; both become one entry, the later fields winning",
                    announcement.name
                );
                findings.add(Rule::DuplicateAnnouncement, Some(position), message);
            }
            None => {
                first.insert(&announcement.name, position.line);
            }
        }
    }
    let announcements: Vec<Announcement> =
        checked.iter().map(|(_, announcement)| announcement.clone()).collect();
    for collision in announced_collisions(&announcements) {
        let message = format!(
            "`{}` and `{}` both set the variable {}; the one that is set later wins",
            announcements[collision.first].name, announcements[collision.second].name, collision.variable
        );
        let position = nearest(checked[collision.second].0, &["name"]).position;
        findings.add(Rule::VariableCollision, Some(position), message);
    }
}
