//! A crate uses every dependency that its manifest lists: its name occurs in the crate's sources.

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use proc_macro2::TokenTree;

use super::graph::Origin;
use super::manifest::{dependency_name, entries, lists_dependencies};
use super::source;
use super::{Check, Finding, Subject};
use crate::Failure;

pub(super) const CHECK: Check = Check {
    name: "unused-dependencies",
    keeps: "the name of every dependency occurs in the sources of the crate that lists it",
    run,
};

fn run(subject: &Subject) -> Result<Vec<Finding>, Failure> {
    let mut findings = Vec::new();
    for (_, package) in subject.graph.members() {
        let Origin::Member { dir, .. } = &package.origin else { continue };
        let manifest = format!("{dir}/Cargo.toml");
        let Some(text) = subject.tree.text(&manifest)? else { continue };
        let words = words_below(subject, dir)?;
        for entry in entries(&text).iter().filter(|entry| lists_dependencies(&entry.section)) {
            let name = dependency_name(&entry.key);
            if !words.contains(&name.replace('-', "_")) {
                findings.push(Finding::new(
                    format!("{manifest}:{}", entry.line),
                    format!("{name} occurs nowhere in the crate's sources"),
                    "remove the line",
                ));
            }
        }
    }
    Ok(findings)
}

/// Every word of the sources below a folder.
fn words_below(subject: &Subject, dir: &str) -> Result<BTreeSet<String>, Failure> {
    let prefix = format!("{dir}/");
    let mut words = BTreeSet::new();
    for path in subject.tree.with_extension("rs").filter(|path| path.starts_with(&prefix)) {
        let Some(text) = subject.tree.text(path)? else { continue };
        source::each_list(source::parse(path, &text)?, &mut |tokens| {
            words.extend(tokens.iter().filter_map(|token| match token {
                TokenTree::Ident(ident) => Some(ident.to_string()),
                _ => None,
            }));
        });
    }
    Ok(words)
}
