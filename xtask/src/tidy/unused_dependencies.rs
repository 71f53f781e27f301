//! A crate uses every dependency in its manifest: the name occurs in the crate's sources, and outside of its tests unless it is a
//! dependency for tests.

use std::collections::BTreeSet;

use proc_macro2::TokenTree;

use super::graph::Member;
use super::manifest::{dependency_name, entries, lists_dependencies};
use super::source;
use super::tree::is_test;
use super::{Check, Findings, Subject};
use crate::Failure;

pub(super) const CHECK: Check = Check {
    name: "unused-dependencies",
    keeps: "the name of every dependency occurs in the sources of the crate that lists it, outside tests unless it is for them",
    run,
};

fn run(subject: &Subject, findings: &mut Findings) -> Result<(), Failure> {
    for (_, _, Member { dir, .. }) in subject.graph.members() {
        let manifest = format!("{dir}/Cargo.toml");
        let Some(text) = subject.tree.text(&manifest)? else { continue };
        let words = words_below(subject, dir)?;
        let (in_tests, outside) = (&words[0], &words[1]);
        for entry in entries(&text).iter().filter(|entry| lists_dependencies(&entry.section)) {
            let name = dependency_name(&entry.key);
            let word = name.replace('-', "_");
            let place = format!("{manifest}:{}", entry.line);
            if !outside.contains(&word) && !in_tests.contains(&word) {
                findings.add(
                    place,
                    format!("{name} occurs nowhere in the crate's sources"),
                    "remove the line",
                );
            } else if !outside.contains(&word) && !entry.section.ends_with("dev-dependencies") {
                let remedy = "move the line to [dev-dependencies]";
                findings.add(place, format!("{name} occurs in the crate's tests alone"), remedy);
            }
        }
    }
    Ok(())
}

/// Returns every word of the sources below a directory: those of tests, then those of other files.
fn words_below(subject: &Subject, dir: &str) -> Result<[BTreeSet<String>; 2], Failure> {
    let prefix = format!("{dir}/");
    let mut words = [BTreeSet::new(), BTreeSet::new()];
    for path in subject.tree.with_extension("rs").filter(|path| path.starts_with(&prefix)) {
        let Some(text) = subject.tree.text(path)? else { continue };
        source::each_list(source::parse(path, &text)?, &mut |tokens| {
            words[usize::from(!is_test(path))].extend(tokens.iter().filter_map(|token| match token {
                TokenTree::Ident(ident) => Some(ident.to_string()),
                _ => None,
            }));
        });
    }
    Ok(words)
}
