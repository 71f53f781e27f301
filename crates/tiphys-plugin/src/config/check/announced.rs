//! What a plugin announces for one application: the list that people get, and what is wrong with the dynamic part of it.
//!
//! Unlike [`crate::Plugin::announce`] this goes on behind the first mistake, and leaves out only the entries that cannot be used.

use std::collections::{BTreeMap, BTreeSet};

use tiphys_params::{
    Announcement, AnnouncementEntry, CollectionType, announced_collisions, merge_announcements,
};
use tiphys_yaml::{Data, Node};

use super::announcements::{ignored, problems, refusal};
use super::report::AnnouncementPlace;
use super::{Finding, Rule};
use crate::config::PluginConfig;

/// What a plugin announces for one application.
#[derive(Clone, Debug, PartialEq)]
pub struct Announced {
    /// Static and dynamic announcements, joined; without the entries that cannot be used.
    pub announcements: Vec<Announcement>,
    /// What is wrong with the dynamic ones. [`super::check`] has the findings about the static ones.
    pub findings: Vec<Finding>,
}

/// Checks what the dynamic command printed, one final newline taken off; `None` if the plugin has no such command. `file` is what the
/// findings call the plugin's file.
pub fn check_announced(config: &PluginConfig, file: &str, stdout: Option<&[u8]>) -> Announced {
    let fixed: Vec<Announcement> =
        config.static_announcements.iter().filter_map(|entry| entry.check().ok()).collect();
    let mut by_name: BTreeMap<&str, Vec<&Announcement>> = BTreeMap::new();
    for announcement in &fixed {
        by_name.entry(&announcement.name).or_default().push(announcement);
    }
    let mut found = Found { file, list: Vec::new() };
    let dynamic = stdout.map(|stdout| entries(stdout, &mut found)).unwrap_or_default();
    let mut list: Vec<Announcement> = Vec::new();
    let mut first: BTreeMap<String, usize> = BTreeMap::new();
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
        let below: Vec<Announcement> =
            by_name.get(announcement.name.as_str()).into_iter().flatten().map(|one| (*one).clone()).collect();
        if let Some(earlier) = first.get(&announcement.name) {
            let message = format!(
                "is announced twice, first by entry {}; both become one, the later fields winning",
                earlier + 1
            );
            add(Rule::DuplicateAnnouncement, message);
        }
        if let Some((one, other)) = differing_types(&below, &announcement) {
            let message =
                format!("the collectionType is `{other}` here and `{one}` in plugin.yaml; the one here wins");
            add(Rule::CollectionTypeDiffers, message);
        }
        let effective = merge_announcements(below, vec![announcement.clone()]);
        for (rule, _, message) in effective.iter().flat_map(|effective| problems(&announcement, effective)) {
            add(rule, message);
        }
        first.entry(announcement.name.clone()).or_insert(index);
        list.push(announcement);
    }
    let known: BTreeSet<String> =
        announced_collisions(&fixed).into_iter().map(|both| both.variable).collect();
    let announcements = merge_announcements(fixed, list);
    for both in announced_collisions(&announcements) {
        if known.contains(&both.variable) {
            continue;
        }
        let names = [&announcements[both.first].name, &announcements[both.second].name];
        // At least one of the two is announced by the command.
        let [at, other] = if first.contains_key(names[1]) { [names[1], names[0]] } else { names };
        let index = first.get(at).copied().unwrap_or_default();
        let message =
            format!("sets the variable {}, as `{other}` does; the one that is set later wins", both.variable);
        found.entry(Rule::VariableCollision, index, Some(at), &message);
    }
    found.list.sort_by_key(|finding| finding.announcement.as_ref().map(|place| place.index));
    Announced { announcements, findings: found.list }
}

/// The finding that the dynamic command failed, or could not be run.
pub fn announcing_failed(file: &str, message: &str) -> Finding {
    whole(file, Rule::AnnouncementFailed, message)
}

/// The collection types of the static and of the dynamic announcement, if both are given and differ.
fn differing_types(
    below: &[Announcement],
    announcement: &Announcement,
) -> Option<(&'static str, &'static str)> {
    let above = announcement.collection_type;
    let given = |kind: CollectionType| kind != CollectionType::Absent;
    let one = below.iter().map(|one| one.collection_type).rfind(|kind| given(*kind))?;
    (given(above) && one.field() != above.field()).then(|| (one.word(), above.word()))
}

/// The entries whose types hold, with their indices.
fn entries(stdout: &[u8], found: &mut Found<'_>) -> Vec<(usize, Node, AnnouncementEntry)> {
    let mut refuse = |message: String| {
        let message =
            format!("parameters.dynamic.command has to print a JSON list of announcements: {message}");
        found.list.push(whole(found.file, Rule::AnnouncementOutput, &message));
        Vec::new()
    };
    if stdout.trim_ascii().is_empty() {
        return refuse("it printed nothing; `[]` and `null` are none".to_owned());
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
    Finding { rule, message: message.to_owned(), file: file.to_owned(), position: None, announcement: None }
}

/// Collects findings about one output.
struct Found<'a> {
    file: &'a str,
    list: Vec<Finding>,
}

impl Found<'_> {
    fn entry(&mut self, rule: Rule, index: usize, name: Option<&str>, message: &str) {
        let title = name.map(|name| format!(" `{name}`")).unwrap_or_default();
        let message = format!("dynamic announcement {}{title}: {message}", index + 1);
        let announcement = Some(AnnouncementPlace { index, name: name.map(str::to_owned) });
        self.list.push(Finding { announcement, ..whole(self.file, rule, &message) });
    }
}
