//! A module of a crate uses exactly the modules of the crate that its row permits, of those that have rows. Modules beside them
//! without a row use none of these.

use std::collections::BTreeSet;

use super::architecture::{DOCUMENT, ModuleRow, modules};
use super::source::names_after;
use super::{Check, Findings, Subject};
use crate::Failure;

pub(super) const CHECK: Check = Check {
    name: "modules",
    keeps: "a module uses exactly the modules of its crate that its row of the table of modules names",
    run,
};

fn run(subject: &Subject, findings: &mut Findings) -> Result<(), Failure> {
    let rows = modules(&subject.tree)?;
    let is_beside = |path: &&str| rows.iter().any(|row| path.starts_with(folder_of(&row.path)));
    let mut used = BTreeSet::new();
    let files = subject.tree.with_extension("rs").filter(|path| !path.ends_with("/lib.rs"));
    for path in files.filter(is_beside) {
        let row = rows.iter().find(|row| is_of(row, path));
        let text = subject.tree.text(path)?.unwrap_or_default();
        for name in names_after(&text, "crate::").filter(|name| row.is_none_or(|row| row.name != *name)) {
            let is_module = rows.iter().any(|other| other.name == name);
            let rule = match row {
                Some(row) if is_module && row.may_use.iter().any(|allowed| allowed == name) => {
                    used.insert((row.name.as_str(), name.to_owned()));
                    continue;
                }
                Some(row) if is_module => format!("which {DOCUMENT}:{} does not allow", row.line),
                None if is_module => "but has no row".to_owned(),
                Some(_) if !name.starts_with(char::is_lowercase) => {
                    findings.add(path, format!("names crate::{name}"), "name the module that has it");
                    continue;
                }
                _ => continue,
            };
            let remedy = "move what both need to a module that both may use";
            findings.add(path, format!("uses {name}, {rule}"), remedy);
        }
    }
    for row in &rows {
        for name in row.may_use.iter().filter(|&name| !used.contains(&(row.name.as_str(), name.clone()))) {
            findings.add(
                format!("{DOCUMENT}:{}", row.line),
                format!("allows {} to use {name}, which it does not", row.name),
                "remove the name from the row",
            );
        }
    }
    Ok(())
}

/// Whether a file belongs to a module.
fn is_of(row: &ModuleRow, path: &str) -> bool {
    path.strip_prefix(row.path.as_str()).is_some_and(|rest| rest.starts_with(['.', '/']))
}

/// Returns the folder around a module, with a slash at its end.
fn folder_of(path: &str) -> &str {
    path.rfind('/').map_or(path, |slash| &path[..=slash])
}
