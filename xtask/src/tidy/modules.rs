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
    for row in &rows {
        let (file, folder) = (format!("{}.rs", row.path), format!("{}/", row.path));
        let is_of_module = |path: &&str| *path == file || path.starts_with(&folder);
        let mut used = BTreeSet::new();
        for path in subject.tree.with_extension("rs").filter(is_of_module) {
            let text = subject.tree.text(path)?.unwrap_or_default();
            for name in names_after(&text, "crate::").filter(|name| *name != row.name) {
                let is_module = rows.iter().any(|other| other.name == name);
                if is_module && !row.may_use.iter().any(|allowed| allowed == name) {
                    findings.add(
                        path,
                        format!("uses {name}, which {DOCUMENT}:{} does not allow", row.line),
                        "move what both need to a module that both may use",
                    );
                }
                if !is_module && !name.starts_with(char::is_lowercase) {
                    findings.add(path, format!("names crate::{name}"), "name the module that has it");
                }
                used.insert(name.to_owned());
            }
        }
        for name in row.may_use.iter().filter(|&name| !used.contains(name)) {
            findings.add(
                format!("{DOCUMENT}:{}", row.line),
                format!("allows {} to use {name}, which it does not", row.name),
                "remove the name from the row",
            );
        }
    }
    for path in subject.tree.with_extension("rs").filter(|path| !path.ends_with("/lib.rs")) {
        let is_beside = |row: &ModuleRow| folder_of(&row.path).is_some_and(|folder| path.starts_with(folder));
        let is_of = |row: &ModuleRow| {
            path.strip_prefix(row.path.as_str()).is_some_and(|rest| rest.starts_with(['.', '/']))
        };
        if !rows.iter().any(is_beside) || rows.iter().any(is_of) {
            continue;
        }
        let text = subject.tree.text(path)?.unwrap_or_default();
        for name in names_after(&text, "crate::").filter(|&name| rows.iter().any(|row| row.name == name)) {
            findings.add(path, format!("uses {name}, but has no row"), "add a row, or move what it needs");
        }
    }
    Ok(())
}

/// Returns the folder of a module, with a slash at its end.
fn folder_of(path: &str) -> Option<&str> {
    path.rfind('/').map(|slash| &path[..=slash])
}
