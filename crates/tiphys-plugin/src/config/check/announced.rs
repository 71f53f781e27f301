//! Checks the announcements of a plugin for one application. Unlike [`crate::Plugin::announce`] this continues after the first mistake, and
//! omits only the invalid entries.

use std::collections::{BTreeMap, BTreeSet};

use tiphys_model::params::{
    Announcement, AnnouncementEntry, CollectionType, announced_collisions, merge_announcements,
};
use tiphys_yaml::{Data, Node};

use super::announcements::{ignored, problems, refusal};
use super::report::AnnouncementIndex;
use super::{Finding, Report, Rule};
use crate::config::PluginConfig;

/// Checks the output of the dynamic command, without one final newline; `None` if the plugin has no such command. `file` is the name of the
/// plugin's file in the findings. Findings about merged announcements replace those of [`super::check`] about static ones. Returns the
/// merged announcements without the invalid entries.
pub fn check_announced(
    config: &PluginConfig,
    file: &str,
    stdout: Option<&[u8]>,
    report: &mut Report,
) -> Vec<Announcement> {
    let fixed: Vec<Announcement> =
        config.static_announcements.iter().filter_map(|entry| entry.check().ok()).collect();
    let mut found = DynamicFindings { file, list: Vec::new() };
    let dynamic = stdout.map(|stdout| entries(stdout, &mut found)).unwrap_or_default();
    let mut list: Vec<Announcement> = Vec::new();
    let mut indexes: BTreeMap<String, (usize, usize)> = BTreeMap::new();
    for (index, node, entry) in dynamic {
        let name = node.at(["name"]).and_then(Node::as_str).filter(|name| !name.is_empty());
        let mut add = |rule, message: String| found.entry(rule, index, name, &message);
        for (rule, _, message) in ignored(&entry) {
            add(rule, message);
        }
        let announcement = match entry.check() {
            Ok(announcement) => announcement,
            Err(error) => {
                add(refusal(&error.problem).0, error.problem.to_string());
                continue;
            }
        };
        if let Some((earlier, last)) = indexes.get_mut(&announcement.name) {
            let message = format!(
                "is announced twice, first by entry {}; they become one, and the later fields take precedence",
                *earlier + 1
            );
            add(Rule::DuplicateAnnouncement, message);
            *last = index;
        } else {
            indexes.insert(announcement.name.clone(), (index, index));
        }
        if let Some((one, other)) = differing_types(&fixed, &announcement) {
            let message = format!(
                "the collectionType is `{other}` here and `{one}` in plugin.yaml; the one here takes precedence"
            );
            add(Rule::CollectionTypeDiffers, message);
        }
        list.push(announcement);
    }
    let is_completed = |name: &String| indexes.contains_key(name);
    report.decide(&is_completed);
    let known: BTreeSet<String> = announced_collisions(&fixed)
        .into_iter()
        .filter(|both| ![both.first, both.second].iter().any(|index| is_completed(&fixed[*index].name)))
        .map(|both| both.variable)
        .collect();
    let announcements = merge_announcements(fixed.clone(), list.clone());
    for merged in &announcements {
        let Some((_, last)) = indexes.get(&merged.name) else { continue };
        for (rule, _, message) in problems(merged) {
            if rule == Rule::RequiredWithDefault && is_default_of_application(merged, &fixed, &list) {
                continue;
            }
            found.entry(rule, *last, Some(&merged.name), &message);
        }
    }
    for both in announced_collisions(&announcements) {
        if known.contains(&both.variable) {
            continue;
        }
        let names = [&announcements[both.first].name, &announcements[both.second].name];
        // At least one of them is announced by the command.
        let [at, other] = if indexes.contains_key(names[1]) { [names[1], names[0]] } else { names };
        let index = indexes.get(at).map(|(first, _)| *first).unwrap_or_default();
        let message = format!(
            "sets the variable {}, as `{other}` does; the one that is set later takes precedence",
            both.variable
        );
        found.entry(Rule::VariableCollision, index, Some(at), &message);
    }
    found.list.sort_by_key(|finding| finding.announcement.as_ref().map(|place| place.index));
    report.findings.extend(found.list);
    announcements
}

/// Returns the finding that the dynamic command failed, or could not be started.
pub fn announcing_failed(file: &str, message: &str) -> Finding {
    whole(file, Rule::AnnouncementFailed, message)
}

/// Returns whether the static announcement requires a value and the command has a default for this application only.
fn is_default_of_application(merged: &Announcement, fixed: &[Announcement], list: &[Announcement]) -> bool {
    let has_default = |one: &Announcement| {
        let as_merged = Announcement { collection_type: merged.collection_type, ..one.clone() };
        as_merged.default_value().is_some()
    };
    let mut fixed = fixed.iter().filter(|one| one.name == merged.name);
    let mut dynamic = list.iter().filter(|one| one.name == merged.name);
    !fixed.any(has_default) && !dynamic.any(|one| one.required == Some(true))
}

/// Returns the collection types of the static and the dynamic announcement of one name if both are set and differ.
fn differing_types(
    fixed: &[Announcement],
    announcement: &Announcement,
) -> Option<(&'static str, &'static str)> {
    let above = announcement.collection_type;
    let given = |kind: CollectionType| kind != CollectionType::Absent;
    let below = fixed.iter().filter(|one| one.name == announcement.name);
    let one = below.map(|one| one.collection_type).rfind(|kind| given(*kind))?;
    (given(above) && one.field() != above.field()).then(|| (one.word(), above.word()))
}

/// Returns the entries with valid types and their indices.
fn entries(stdout: &[u8], found: &mut DynamicFindings<'_>) -> Vec<(usize, Node, AnnouncementEntry)> {
    let mut refuse = |message: String| {
        let message =
            format!("parameters.dynamic.command must print a JSON list of announcements: {message}");
        found.list.push(whole(found.file, Rule::AnnouncementOutput, &message));
        Vec::new()
    };
    if stdout.trim_ascii().is_empty() {
        return refuse("it printed nothing; print `[]` or `null` for no announcements".to_owned());
    }
    let node = match tiphys_yaml::read_json(stdout) {
        Ok(node) => node,
        Err(error) => return refuse(error.to_string()),
    };
    let items = match node.data {
        Data::Null => return Vec::new(),
        Data::Sequence(items) => items,
        _ => return refuse(format!("it printed {}", node.type_words())),
    };
    let mut read = Vec::new();
    for (index, item) in items.into_iter().enumerate() {
        match AnnouncementEntry::decode(&item, index, "") {
            Ok(entry) => read.push((index, item, entry)),
            Err(error) => {
                let name = item.at(["name"]).and_then(Node::as_str).filter(|name| !name.is_empty());
                let field =
                    error.path.split_once("].").map_or(String::new(), |(_, field)| format!("{field}: "));
                found.entry(Rule::WrongType, index, name, &format!("{field}{}", error.message));
            }
        }
    }
    read
}

fn whole(file: &str, rule: Rule, message: &str) -> Finding {
    Finding {
        rule,
        message: message.to_owned(),
        file: file.to_owned(),
        position: None,
        announcement: None,
        statics: Vec::new(),
    }
}

/// The findings about one output.
struct DynamicFindings<'a> {
    file: &'a str,
    list: Vec<Finding>,
}

impl DynamicFindings<'_> {
    fn entry(&mut self, rule: Rule, index: usize, name: Option<&str>, message: &str) {
        let title = name.map(|name| format!(" `{name}`")).unwrap_or_default();
        let message = format!("dynamic announcement {}{title}: {message}", index + 1);
        let announcement = Some(AnnouncementIndex { index, name: name.map(str::to_owned) });
        self.list.push(Finding { announcement, ..whole(self.file, rule, &message) });
    }
}
