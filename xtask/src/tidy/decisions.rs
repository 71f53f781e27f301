//! Recorded answers of other programs and the list of decisions: every file is used by a test, and every line names an existing case and a
//! part that a test checks. The tests themselves check that exactly the decided cases differ.

use std::collections::{BTreeMap, BTreeSet};

use super::tree::has_extension;
use super::{Check, Findings, Subject};
use crate::Failure;

/// Directory of the recorded answers, relative to the workspace's root.
const ORACLES: &str = "testdata/oracles/";

/// The list: part of an oracle, id of a case, our answer, decision; separated by tabs.
const DECISIONS: &str = "testdata/oracles/decisions.tsv";

pub(super) const CHECK: Check = Check {
    name: "decisions",
    keeps: "every recorded answer is used by a test, and every line of decisions.tsv names one",
    run,
};

fn run(subject: &Subject, findings: &mut Findings) -> Result<(), Failure> {
    let sources = sources(subject)?;
    let mut oracles = BTreeMap::new();
    for path in subject.tree.with_extension("jsonl") {
        let Some(name) = path.strip_prefix(ORACLES).and_then(|rest| rest.strip_suffix(".jsonl")) else {
            continue;
        };
        let is_used = [format!("\"{name}\""), format!("\"{name}.")].iter().any(|text| sources.contains(text));
        if !is_used {
            let remedy = "check it with `tiphys_testkit::oracle::check`, or remove it";
            findings.add(path, "is used by no test", remedy);
        }
        oracles.insert(name, subject.tree.text(path)?.unwrap_or_default());
    }
    let text = subject.tree.text(DECISIONS)?.unwrap_or_default();
    let mut seen = BTreeSet::new();
    for (index, line) in
        text.lines().enumerate().filter(|(_, line)| !line.is_empty() && !line.starts_with('#'))
    {
        let place = format!("{DECISIONS}:{}", index + 1);
        let columns: Vec<&str> = line.split('\t').collect();
        let [part, id, _, decision] = columns[..] else {
            let remedy = "write: part, id, answer and decision, separated by tabs";
            findings.add(place, format!("has {} columns instead of 4", columns.len()), remedy);
            continue;
        };
        if decision.trim().is_empty() {
            findings.add(&place, "has no decision", "name the row or the section that settles it");
        }
        if !seen.insert((part, id)) {
            findings.add(&place, format!("decides {part} {id} again"), "remove the line");
        }
        if !is_checked(&sources, part) {
            findings.add(&place, format!("names {part}, which no test checks"), "correct the part");
        }
        let has_case =
            oracles.get(part.split('.').next().unwrap_or(part)).is_some_and(|text| has_case(text, id));
        if !has_case {
            findings.add(&place, format!("names the case {id}, which does not exist"), "remove the line");
        }
    }
    Ok(())
}

/// Whether a test checks this part: a source contains its name, literally or formatted with its field (`"name.{field}"`).
fn is_checked(sources: &str, part: &str) -> bool {
    let put_in = part.split_once('.').is_some_and(|(name, field)| {
        sources.contains(&format!("\"{name}.{{")) && sources.contains(&format!("\"{field}\""))
    });
    put_in || sources.contains(&format!("\"{part}\""))
}

fn has_case(oracle: &str, id: &str) -> bool {
    oracle.contains(&format!("\"id\": \"{id}\"")) || oracle.contains(&format!("\"id\":\"{id}\""))
}

/// Returns all sources of crates, including plugins.
fn sources(subject: &Subject) -> Result<String, Failure> {
    let mut all = String::new();
    let is_source = |path: &&str| {
        (path.starts_with("crates/") || path.starts_with("plugins/")) && has_extension(path, "rs")
    };
    for path in subject.tree.paths().filter(is_source) {
        all.push_str(&subject.tree.text(path)?.unwrap_or_default());
    }
    Ok(all)
}
