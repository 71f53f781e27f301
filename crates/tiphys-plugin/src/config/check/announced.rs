//! Checks the announcements of a plugin for one application. Unlike [`crate::Plugin::announce`] this continues after the first mistake, and
//! omits only the invalid entries.

use std::collections::{BTreeMap, BTreeSet};

use tiphys_params::{
    Announcement, AnnouncementEntry, CollectionType, announced_collisions, merge_announcements,
};
use tiphys_yaml::{Data, Node};

use super::announcements::{ignored, problems, refusal};
use super::report::AnnouncementIndex;
use super::{Finding, Rule};
use crate::config::PluginConfig;

/// The announcements of a plugin for one application.
#[derive(Clone, Debug, PartialEq)]
pub struct Announced {
    /// The merged static and dynamic announcements without the invalid entries.
    pub announcements: Vec<Announcement>,
    /// Findings about the dynamic announcements. [`super::check`] returns those about the static ones.
    pub findings: Vec<Finding>,
}

/// Checks the output of the dynamic command, without one final newline; `None` if the plugin has no such command. `file` is the name of the
/// plugin's file in the findings.
pub fn check_announced(config: &PluginConfig, file: &str, stdout: Option<&[u8]>) -> Announced {
    let fixed: Vec<Announcement> =
        config.static_announcements.iter().filter_map(|entry| entry.check().ok()).collect();
    let mut by_name: BTreeMap<&str, Vec<&Announcement>> = BTreeMap::new();
    for announcement in &fixed {
        by_name.entry(&announcement.name).or_default().push(announcement);
    }
    let mut found = DynamicFindings { file, list: Vec::new() };
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
                "is announced twice, first by entry {}; they become one, and the later fields take precedence",
                earlier + 1
            );
            add(Rule::DuplicateAnnouncement, message);
        }
        if let Some((one, other)) = differing_types(&below, &announcement) {
            let message = format!(
                "the collectionType is `{other}` here and `{one}` in plugin.yaml; the one here takes precedence"
            );
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
        // At least one of them is announced by the command.
        let [at, other] = if first.contains_key(names[1]) { [names[1], names[0]] } else { names };
        let index = first.get(at).copied().unwrap_or_default();
        let message = format!(
            "sets the variable {}, as `{other}` does; the one that is set later takes precedence",
            both.variable
        );
        found.entry(Rule::VariableCollision, index, Some(at), &message);
    }
    found.list.sort_by_key(|finding| finding.announcement.as_ref().map(|place| place.index));
    Announced { announcements, findings: found.list }
}

/// Returns the finding that the dynamic command failed, or could not be started.
pub fn announcing_failed(file: &str, message: &str) -> Finding {
    whole(file, Rule::AnnouncementFailed, message)
}

/// Returns the collection types of the static and the dynamic announcement if both are set and differ.
fn differing_types(
    below: &[Announcement],
    announcement: &Announcement,
) -> Option<(&'static str, &'static str)> {
    let above = announcement.collection_type;
    let given = |kind: CollectionType| kind != CollectionType::Absent;
    let one = below.iter().map(|one| one.collection_type).rfind(|kind| given(*kind))?;
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
    Finding { rule, message: message.to_owned(), file: file.to_owned(), position: None, announcement: None }
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
