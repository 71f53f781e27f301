//! Findings about static announcements; [`super::announced`] has those about dynamic ones.

use std::collections::BTreeMap;

use tiphys_model::params::{
    Announcement, AnnouncementEntry, AnnouncementProblem, IgnoredKey, IgnoredReason, ItemType, ProblemKind,
    announced_collisions, check_default, merge_announcements, suggest,
};
use tiphys_yaml::{Data, Node, Position};

use super::keys::did_you_mean;
use super::{Findings, PluginFile, Rule, field, nearest};

/// The keys of an announcement. `choices` is an extension of tiphys.
pub(in crate::config) const KEYS: [&str; 10] = [
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

/// Frequent wrong keys and their replacements, where spelling suggestions do not help.
const HINTS: [(&str, &str); 5] = [
    ("default", "`string`, `array` or `map`"),
    ("value", "`string`, `array` or `map`"),
    ("description", "`tooltip`"),
    ("type", "`itemType` or `collectionType`"),
    ("enum", "`choices`"),
];

/// Frequent wrong item types and their replacements.
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
        let node = item(list, entry.index);
        for (rule, at, message) in ignored(entry) {
            findings.add(rule, Some(at), format!("{}: {message}", title_of(entry)));
        }
        match entry.check() {
            Ok(announcement) => {
                checked.push((node, announcement));
            }
            Err(error) => {
                let (rule, field) = refusal(&error.problem);
                let at = field.map_or(node, |field| nearest(node, &[field]));
                let name = error.place.name.map(|name| format!(" `{name}`")).unwrap_or_default();
                let message = format!("static announcement {}{name}: {}", entry.index + 1, error.problem);
                findings.add(rule, Some(at.position), message);
            }
        }
    }
    check_values(&checked, file, findings);
    check_names(&checked, findings);
}

/// Adds what is wrong with the values of merged announcements. If there is a dynamic command, findings about defaults are undecided: it may
/// announce other defaults, choices and types.
fn check_values(checked: &[(&Node, Announcement)], file: &PluginFile, findings: &mut Findings<'_>) {
    let all = checked.iter().map(|(_, announcement)| announcement.clone()).collect();
    for merged in merge_announcements(all, Vec::new()) {
        let name = &merged.name;
        let nodes = || checked.iter().filter(|(_, one)| one.name == *name).map(|(node, _)| *node);
        for (rule, key, message) in problems(&merged) {
            let place = nodes().rfind(|node| field(node, key).is_some()).or(nodes().next());
            let position = place.map(|node| nearest(node, &[key]).position);
            let mut finding = findings.finding(rule, position, format!("`{name}`: {message}"));
            finding.statics.push(name.clone());
            let is_final = rule == Rule::UnknownItemType || !file.parameters_dynamic.is_given();
            let list = if is_final { &mut findings.list } else { &mut findings.undecided };
            list.push(finding);
        }
    }
}

/// Returns the item of a list, or the list itself if there is none.
pub(super) fn item(list: &Node, index: usize) -> &Node {
    match &list.data {
        Data::Sequence(items) => items.get(index).unwrap_or(list),
        _ => list,
    }
}

/// Returns the rule that an invalid announcement violates, and the field.
pub(super) fn refusal(problem: &AnnouncementProblem) -> (Rule, Option<&'static str>) {
    match problem {
        AnnouncementProblem::Null => (Rule::NullAnnouncement, None),
        AnnouncementProblem::NotAnObject { .. } | AnnouncementProblem::WrongType { .. } => {
            (Rule::WrongType, None)
        }
        AnnouncementProblem::UnknownCollectionType { .. } => {
            (Rule::UnknownCollectionType, Some("collectionType"))
        }
        AnnouncementProblem::NoName => (Rule::AnnouncementWithoutName, Some("name")),
    }
}

fn title_of(entry: &AnnouncementEntry) -> String {
    match entry.announcement.as_ref().and_then(|announcement| announcement.name.as_deref()) {
        None | Some("") => format!("static announcement {}", entry.index + 1),
        Some(name) => format!("`{name}`"),
    }
}

/// Returns the keys of an entry without an effect, with their positions.
pub(super) fn ignored(entry: &AnnouncementEntry) -> Vec<(Rule, Position, String)> {
    let describe = |ignored: &IgnoredKey| {
        let key = &ignored.key;
        let (rule, message) = match &ignored.reason {
            IgnoredReason::Unknown => {
                let hint = match HINTS.iter().find(|(written, _)| written == key) {
                    Some((_, meant)) => format!("did you mean {meant}?"),
                    None => did_you_mean(key, &KEYS),
                };
                (Rule::UnknownKey, format!("{key} is unknown and ignored; {hint}"))
            }
            IgnoredReason::Repeated => {
                (Rule::DuplicateKey, format!("{key} is given again in another letter case"))
            }
            IgnoredReason::InvalidChoices(error) => {
                (Rule::InvalidChoices, format!("choices: {}; the key is ignored", error.message))
            }
        };
        (rule, ignored.position, message)
    };
    entry.ignored.iter().map(describe).collect()
}

/// Returns the warnings about a merged announcement with the field of each.
pub(super) fn problems(announcement: &Announcement) -> Vec<(Rule, &'static str, String)> {
    let counted = announcement.collection_type.field();
    let mut found = Vec::new();
    for field in announcement.ignored_defaults() {
        let message =
            format!("the default in `{field}` is ignored, because the collectionType uses `{counted}` count");
        found.push((Rule::IgnoredDefault, field, message));
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
        let message = format!("the itemType `{word}` is unknown and treated as a string{hint}");
        found.push((Rule::UnknownItemType, "itemType", message));
    }
    if announcement.required == Some(true) && announcement.default_value().is_some() {
        let message = "`required` has no effect, since the default satisfies it".to_owned();
        found.push((Rule::RequiredWithDefault, "required", message));
    }
    for problem in check_default(announcement) {
        let rule = match problem.kind {
            ProblemKind::NotAChoice { .. } => Rule::DefaultNotInChoices,
            _ => Rule::DefaultNotOfItemType,
        };
        found.push((rule, counted, format!("invalid default: {}", problem.kind)));
    }
    found
}

fn check_names(checked: &[(&Node, Announcement)], findings: &mut Findings<'_>) {
    let mut first: BTreeMap<&str, usize> = BTreeMap::new();
    for (node, announcement) in checked {
        let position = nearest(node, &["name"]).position;
        match first.get(announcement.name.as_str()) {
            Some(line) => {
                let message = format!(
                    "`{}` is announced twice, first on line {line}; they become one entry, and the later fields take precedence",
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
            "`{}` and `{}` both set the variable {}; the one that is set later takes precedence",
            announcements[collision.first].name, announcements[collision.second].name, collision.variable
        );
        let position = nearest(checked[collision.second].0, &["name"]).position;
        let mut finding = findings.finding(Rule::VariableCollision, Some(position), message);
        finding
            .statics
            .extend([collision.first, collision.second].map(|index| announcements[index].name.clone()));
        findings.list.push(finding);
    }
}
