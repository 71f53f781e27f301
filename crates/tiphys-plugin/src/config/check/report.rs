//! What `plugin check` found, and its JSON form.

use serde_json::{Value, json};
use tiphys_yaml::Position;

use super::{Level, Rule};

/// One thing that is wrong or has no effect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Which rule.
    pub rule: Rule,
    /// What, for people.
    pub message: String,
    /// The file.
    pub file: String,
    /// Where in it, if it is known.
    pub position: Option<Position>,
    /// Which announcement of the dynamic command's output, if it is about one; that has no place in the file.
    pub announcement: Option<AnnouncementPlace>,
}

/// One announcement of the dynamic command's output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnnouncementPlace {
    /// Index in the list, from 0; texts for people count from 1.
    pub index: usize,
    /// Its name, if it has one.
    pub name: Option<String>,
}

/// The configuration as it was read and all findings in the order of the file.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// The configuration as JSON; `None` if the file could not be read.
    pub plugin: Option<Value>,
    /// File name of the plugin's socket; `None` if the file is not valid.
    pub socket: Option<String>,
    /// The findings.
    pub findings: Vec<Finding>,
}

impl Report {
    /// Whether any finding is an error.
    pub fn has_errors(&self) -> bool {
        self.findings.iter().any(|finding| finding.rule.level() == Level::Error)
    }

    /// The output of `plugin check -o json` (`design.md` section 4).
    pub fn to_json(&self) -> Value {
        json!({
            "plugin": self.plugin,
            "socket": self.socket,
            "findings": self.findings.iter().map(Finding::to_json).collect::<Vec<_>>(),
        })
    }
}

impl Finding {
    /// Whether it is about what the dynamic command does for one application, and not about the plugin's file.
    pub fn is_dynamic(&self) -> bool {
        self.announcement.is_some()
            || matches!(self.rule, Rule::AnnouncementFailed | Rule::AnnouncementOutput)
    }

    /// One of `findings` in the output of `plugin check -o json`.
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
