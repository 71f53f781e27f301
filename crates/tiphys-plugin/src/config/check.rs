//! `plugin check`: mistakes in a plugin's file, and keys without an effect. An error fails, when the plugin starts or when it is used; a
//! warning works differently from how it reads.

mod announced;
mod announcements;
mod commands;
mod discovery;
mod keys;
mod programs;
mod report;
mod rule;

pub use announced::{announcing_failed, check_announced};
#[cfg(test)]
pub(super) use announcements::KEYS as ANNOUNCEMENT_KEYS;
pub use programs::{ProgramState, program_on_machine};
pub use report::{AnnouncementIndex, Finding, Report};
pub use rule::{Level, Rule};

use tiphys_yaml::{Data, Node, Position, names_equal};

use super::{ConfigError, PluginConfig, PluginFile};

/// Default directory of the sockets of plugin servers.
pub const SOCKET_DIR: &str = "/home/argocd/cmp-server/plugins";

/// Maximum bytes of the path of a Unix socket on Linux: `sun_path` has 108 with the final NUL.
pub const SOCKET_PATH_BYTES_MAX: usize = 107;

/// Checks a plugin's file. `file` is its name in the findings. `program_state` tells whether the program of a command can be started.
pub fn check(text: &[u8], file: &str, program_state: &dyn Fn(&str) -> ProgramState) -> Report {
    let mut findings = Findings { file, list: Vec::new(), undecided: Vec::new() };
    let mut report = Report::default();
    match tiphys_yaml::read_document(text) {
        Err(error) => findings.add(Rule::InvalidYaml, error.position, error.message),
        Ok(document) => {
            let document = document.filter(|document| !document.is_null());
            keys::check_documents(text, document.is_some(), &mut findings);
            let document = document.unwrap_or(Node { position: Position::START, data: Data::Null });
            keys::check_duplicates(&document, "", &mut findings);
            check_document(&document, program_state, &mut report, &mut findings);
        }
    }
    findings.list.sort_by_key(|finding| finding.position);
    report.findings = findings.list;
    report.undecided = findings.undecided;
    report
}

fn check_document(
    document: &Node,
    program_state: &dyn Fn(&str) -> ProgramState,
    report: &mut Report,
    findings: &mut Findings<'_>,
) {
    let document = document.clone().deduplicated();
    let file = match PluginFile::decode(&document) {
        Ok(file) => file,
        Err(error) => {
            let message = format!(
                "{}: {}",
                if error.path.is_empty() { "the document" } else { &error.path },
                error.message
            );
            return findings.add(Rule::WrongType, Some(error.position), message);
        }
    };
    keys::check_ignored(&file, findings);
    // For an empty file only the missing name is reported.
    if !document.is_null() {
        keys::check_api_version(&document, &file, findings);
        discovery::check(&document, &file, findings);
    }
    commands::check(&document, &file, program_state, findings);
    announcements::check(&document, &file, findings);
    report.plugin = Some(file.to_json());
    match file.into_config() {
        Ok(config) => {
            check_socket(&document, &config, findings);
            report.socket = Some(config.socket_name());
        }
        Err(error) => {
            let (rule, path): (_, &[&str]) = match error {
                ConfigError::NoName => (Rule::MissingName, &["metadata", "name"]),
                ConfigError::Kind { .. } => (Rule::WrongKind, &["kind"]),
                _ => (Rule::MissingGenerate, &["spec", "generate", "command"]),
            };
            findings.add(rule, Some(nearest(&document, path).position), error.to_string());
        }
    }
}

fn check_socket(document: &Node, config: &PluginConfig, findings: &mut Findings<'_>) {
    for (field, path, value) in [
        ("metadata.name", ["metadata", "name"].as_slice(), &config.name),
        ("spec.version", ["spec", "version"].as_slice(), &config.version),
    ] {
        if value.contains(['/', '\0']) {
            let message =
                format!("{field} is part of the socket's file name and must not contain `/` or a zero byte");
            findings.add(Rule::UnusableName, Some(nearest(document, path).position), message);
        }
    }
    let path = format!("{SOCKET_DIR}/{}", config.socket_name());
    if path.len() > SOCKET_PATH_BYTES_MAX {
        let message = format!(
            "the socket's path has {} bytes in {SOCKET_DIR}, at most {SOCKET_PATH_BYTES_MAX} are possible; use a shorter name or version",
            path.len()
        );
        findings.add(
            Rule::SocketPathTooLong,
            Some(nearest(document, &["metadata", "name"]).position),
            message,
        );
    }
}

/// The findings about one file.
struct Findings<'a> {
    file: &'a str,
    list: Vec<Finding>,
    /// See [`Report`].
    undecided: Vec<Finding>,
}

impl Findings<'_> {
    fn add(&mut self, rule: Rule, position: Option<Position>, message: impl Into<String>) {
        let finding = self.finding(rule, position, message.into());
        self.list.push(finding);
    }

    fn finding(&self, rule: Rule, position: Option<Position>, message: String) -> Finding {
        let file = self.file.to_owned();
        Finding { rule, message, file, position, announcement: None, statics: Vec::new() }
    }
}

/// Returns the value of a field as Go decodes a deduplicated document: keys are case-insensitive, and the last one takes effect.
fn field<'a>(node: &'a Node, key: &str) -> Option<&'a Node> {
    let Data::Mapping(entries) = &node.data else { return None };
    entries.iter().rev().find(|entry| names_equal(&entry.key.text, key)).map(|entry| &entry.value)
}

/// Returns the value at a path, or the innermost existing one on the path.
fn nearest<'a>(node: &'a Node, path: &[&str]) -> &'a Node {
    let mut found = node;
    for key in path {
        match field(found, key) {
            Some(value) => found = value,
            None => break,
        }
    }
    found
}

#[cfg(test)]
mod tests;
