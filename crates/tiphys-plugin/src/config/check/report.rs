//! The report of `plugin check` and its JSON form.

use serde_json::{Value, json};
use tiphys_yaml::Position;

use super::Rule;

/// A mistake, or a key without an effect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The rule.
    pub rule: Rule,
    /// The message.
    pub message: String,
    /// The file.
    pub file: String,
    /// The position in the file, if known.
    pub position: Option<Position>,
    /// The announcement of the dynamic command that it is about, if any. It has no position in the file.
    pub announcement: Option<AnnouncementIndex>,
    /// The static announcements that it is about. A dynamic one of the same name completes them, so that the merged one decides.
    pub(super) statics: Vec<String>,
}

/// An announcement in the output of the dynamic command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnnouncementIndex {
    /// Index in the list, from 0. Messages count from 1.
    pub index: usize,
    /// Its name, if it has one.
    pub name: Option<String>,
}

/// The configuration and all findings in the order of the file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Report {
    /// The configuration as JSON; `None` if the file could not be read.
    pub plugin: Option<Value>,
    /// File name of the plugin's socket; `None` if the file is not valid.
    pub socket: Option<String>,
    /// The findings.
    pub findings: Vec<Finding>,
    /// Findings about static announcements that the dynamic command can refute.
    pub(super) undecided: Vec<Finding>,
}

impl Report {
    /// Decides the undecided findings. Those about a static announcement that the dynamic command completes are removed.
    pub(super) fn decide(&mut self, is_completed: &dyn Fn(&String) -> bool) {
        self.findings.append(&mut self.undecided);
        self.findings.retain(|finding| !finding.statics.iter().any(is_completed));
        self.findings.sort_by_key(|finding| finding.position);
    }

    /// Returns the output of `plugin check -o json` (`docs/reference/output.md`).
    pub fn to_json(&self) -> Value {
        json!({
            "plugin": self.plugin,
            "socket": self.socket,
            "findings": self.findings.iter().map(Finding::to_json).collect::<Vec<_>>(),
        })
    }
}

impl Finding {
    /// Whether it is about the dynamic command for one application, not about the plugin's file.
    pub fn is_dynamic(&self) -> bool {
        self.announcement.is_some()
            || matches!(self.rule, Rule::AnnouncementFailed | Rule::AnnouncementOutput)
    }

    /// Returns an element of `findings` in the output of `plugin check -o json`.
    pub fn to_json(&self) -> Value {
        json!({
            "level": self.rule.level().name(),
            "rule": self.rule.name(),
            "message": self.message,
            "file": self.file,
            "line": self.position.map(|position| position.line),
            "column": self.position.map(|position| position.column),
            "announcement": self.announcement.as_ref().map(|place| json!({"index": place.index, "name": place.name})),
            "page": self.rule.page(),
        })
    }
}
