//! Every source file is compiled by a target, which reaches it by `mod name;`. Tests in other files would never run.
//!
//! Files `mod.rs`, modules below inline modules and `include!` are not followed: our sources have none.

use std::collections::BTreeSet;

use proc_macro2::TokenTree;

use super::manifest::entries;
use super::source::{self, Attribute};
use super::tree::{Tree, is_test_data, normalise};
use super::{Check, Findings, Subject};
use crate::Failure;

/// The manifest of the fuzz targets.
const FUZZ_MANIFEST: &str = "fuzz/Cargo.toml";

pub(super) const CHECK: Check =
    Check { name: "orphans", keeps: "every Rust source file is compiled by some target", run };

fn run(subject: &Subject, findings: &mut Findings) -> Result<(), Failure> {
    let mut reached = BTreeSet::new();
    let roots = subject.graph.members().flat_map(|(_, _, member)| &member.roots);
    for root in roots.chain(&fuzz_targets(subject)?) {
        // A target may be outside of its package, at a path with `..`.
        reach(&subject.tree, &normalise(root).unwrap_or_default(), true, &mut reached)?;
    }
    for path in subject.tree.with_extension("rs").filter(|path| !is_test_data(path)) {
        if !reached.contains(path) {
            findings.add(path, "is compiled by no target", "declare it with `mod`, or remove it");
        }
    }
    Ok(())
}

/// Returns the root sources of the fuzz targets, a separate workspace: the `path` of each `[[bin]]`.
fn fuzz_targets(subject: &Subject) -> Result<Vec<String>, Failure> {
    let text = subject.tree.text(FUZZ_MANIFEST)?.unwrap_or_default();
    let paths = entries(&text).into_iter().filter(|entry| entry.section == "bin" && entry.key == "path");
    Ok(paths.map(|entry| join("fuzz", entry.value.trim_matches('"'))).collect())
}

/// Adds a file and those of its modules. The modules of a target's root are beside it, those of others in a directory with its name.
fn reach(tree: &Tree, path: &str, is_root: bool, reached: &mut BTreeSet<String>) -> Result<(), Failure> {
    let Some(text) = tree.text(path)?.filter(|_| reached.insert(path.to_owned())) else { return Ok(()) };
    let beside = path.rsplit_once('/').map_or("", |(directory, _)| directory);
    let modules = if is_root { beside } else { path.trim_end_matches(".rs") };
    let tokens: Vec<TokenTree> = source::parse(path, &text)?.into_iter().collect();
    for item in source::items(&tokens, "mod").into_iter().filter(|item| !item.has_body) {
        match item.attributes.iter().filter(|it| it.name() == "path").find_map(Attribute::value) {
            Some(path) => reach(tree, &join(beside, &path), true, reached)?,
            None => reach(tree, &join(modules, &format!("{}.rs", item.name)), false, reached)?,
        }
    }
    Ok(())
}

fn join(dir: &str, path: &str) -> String {
    normalise(&format!("{dir}/{path}")).unwrap_or_default()
}
