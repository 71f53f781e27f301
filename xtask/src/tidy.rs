//! `cargo xtask tidy`: checks the invariants of ARCHITECTURE.md. Each check has a name and a file of its own.
//!
//! All checks run, and all findings are printed: check, place, problem, remedy.

mod architecture;
mod code_map;
mod crate_table;
mod decisions;
mod doc_links;
mod duplicates;
mod error_texts;
mod files;
mod graph;
mod licences;
mod manifest;
mod manifests;
pub(crate) mod markdown;
mod modules;
mod named_tests;
mod option_names;
mod orphans;
mod source;
mod suppressions;
#[cfg(test)]
mod synthetic;
#[cfg(test)]
mod tests;
mod third_party;
pub(crate) mod tree;
mod unused_dependencies;
mod words;

use std::path::Path;

use clap::Args;

use crate::Failure;
use graph::Graph;
use tree::Tree;

/// Which checks to run.
#[derive(Args, Debug, Default)]
pub(crate) struct Options {
    /// Run this check alone (repeatable)
    #[arg(long, value_name = "CHECK")]
    only: Vec<String>,
    /// Print the names and descriptions of the checks, and run none
    #[arg(long)]
    list: bool,
}

/// One invariant.
struct Check {
    /// Its name, as in ARCHITECTURE.md's table of invariants.
    name: &'static str,
    /// The invariant on one line.
    keeps: &'static str,
    /// Finds violations.
    run: fn(&Subject, &mut Findings) -> Result<(), Failure>,
}

impl Check {
    /// Returns sorted findings. A check that fails is a finding too, so that the other checks still run.
    fn findings(&self, subject: &Subject) -> Vec<Finding> {
        let mut findings = Findings::default();
        if let Err(failure) = (self.run)(subject, &mut findings) {
            findings.add("the check could not run", failure.to_string(), "fix that first");
        }
        findings.0.sort();
        findings.0
    }
}

/// The checked data.
struct Subject {
    /// The files of the checkout.
    tree: Tree,
    /// The packages of the build.
    graph: Graph,
}

/// A violation of an invariant.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Finding {
    /// File, with the line if there is one, or crate.
    place: String,
    /// The problem.
    problem: String,
    /// How to fix it.
    remedy: String,
}

/// The findings of a check.
#[derive(Default)]
struct Findings(Vec<Finding>);

impl Findings {
    fn add(&mut self, place: impl Into<String>, problem: impl Into<String>, remedy: impl Into<String>) {
        self.0.push(Finding { place: place.into(), problem: problem.into(), remedy: remedy.into() });
    }
}

/// All checks, in the order in which they run.
const CHECKS: &[Check] = &[
    crate_table::CHECK,
    modules::CHECK,
    third_party::CHECK,
    code_map::CHECK,
    orphans::CHECK,
    files::CHECK,
    words::CHECK,
    manifests::CHECK,
    unused_dependencies::CHECK,
    licences::CHECK,
    duplicates::CHECK,
    suppressions::CHECK,
    error_texts::CHECK,
    option_names::CHECK,
    doc_links::CHECK,
    named_tests::CHECK,
    decisions::CHECK,
];

/// Runs the checks and prints their findings.
pub(crate) fn run(root: &Path, options: &Options) -> Result<(), Failure> {
    let checks = chosen(options)?;
    if options.list {
        for check in checks {
            println!("{:20} {}", check.name, check.keeps);
        }
        return Ok(());
    }
    let subject = Subject { tree: Tree::of_checkout(root)?, graph: Graph::of_workspace(root)? };
    let mut found = 0_usize;
    for check in &checks {
        let findings = check.findings(&subject);
        found += findings.len();
        for finding in findings {
            println!(
                "{}: {}\n    {}\n    remedy: {}",
                check.name, finding.place, finding.problem, finding.remedy
            );
        }
    }
    if found == 0 {
        println!("tidy: {} checks passed", checks.len());
        Ok(())
    } else {
        Err(Failure::new(format!("tidy: {found} findings; repeat with: cargo xtask tidy")))
    }
}

fn chosen(options: &Options) -> Result<Vec<&'static Check>, Failure> {
    if options.only.is_empty() {
        return Ok(CHECKS.iter().collect());
    }
    let find = |name: &String| {
        CHECKS.iter().find(|check| check.name == name).ok_or_else(|| {
            Failure::new(format!("unknown check {name}; `cargo xtask tidy --list` shows their names"))
        })
    };
    options.only.iter().map(find).collect()
}
