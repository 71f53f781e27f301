//! Every source file is compiled by a target. Tests in other files would never run.

use std::collections::BTreeSet;

use proc_macro2::{TokenStream, TokenTree};

use super::manifest::entries;
use super::source::{self, is_punct, is_word};
use super::tree::{Tree, has_extension, is_test_data, normalise};
use super::{Check, Finding, Subject};
use crate::Failure;

/// The manifest of the fuzz targets.
const FUZZ_MANIFEST: &str = "fuzz/Cargo.toml";

pub(super) const CHECK: Check =
    Check { name: "orphans", keeps: "every Rust source file is compiled by some target", run };

fn run(subject: &Subject) -> Result<Vec<Finding>, Failure> {
    let mut reached = BTreeSet::new();
    let roots = subject.graph.members().flat_map(|(_, _, member)| &member.roots);
    for root in roots.chain(&fuzz_targets(subject)?) {
        Walk { tree: &subject.tree, reached: &mut reached }.file(root, Owner::Root)?;
    }
    let orphans =
        subject.tree.with_extension("rs").filter(|path| !is_test_data(path) && !reached.contains(*path));
    Ok(orphans
        .map(|path| Finding::new(path, "is compiled by no target", "declare it with `mod`, or remove it"))
        .collect())
}

/// Returns the root sources of the fuzz targets, a separate workspace: the `path` of each `[[bin]]`.
fn fuzz_targets(subject: &Subject) -> Result<Vec<String>, Failure> {
    if !subject.tree.has(FUZZ_MANIFEST) {
        return Ok(Vec::new());
    }
    let text = subject.tree.text(FUZZ_MANIFEST)?.unwrap_or_default();
    let paths = entries(&text).into_iter().filter(|entry| entry.section == "bin" && entry.key == "path");
    Ok(paths.map(|entry| join("fuzz", entry.value.trim_matches('"'))).collect())
}

/// The directory of a file's modules.
#[derive(Clone, Copy)]
enum Owner {
    /// For a target's root or a `mod.rs`: its own directory.
    Root,
    /// For other modules: a directory with its name.
    Module,
}

struct Walk<'a> {
    tree: &'a Tree,
    reached: &'a mut BTreeSet<String>,
}

impl Walk<'_> {
    fn file(&mut self, path: &str, owner: Owner) -> Result<(), Failure> {
        if !self.tree.has(path) || !self.reached.insert(path.to_owned()) {
            return Ok(());
        }
        let Some(text) = self.tree.text(path)? else { return Ok(()) };
        let beside = path.rsplit_once('/').map_or("", |(dir, _)| dir);
        let modules = match owner {
            Owner::Root => beside.to_owned(),
            Owner::Module => path.trim_end_matches(".rs").to_owned(),
        };
        let stream = source::parse(path, &text)?;
        self.included(beside, stream.clone())?;
        self.modules(beside, &modules, stream)
    }

    /// Follows `mod name;` in a list of tokens, including inline modules.
    fn modules(&mut self, beside: &str, dir: &str, stream: TokenStream) -> Result<(), Failure> {
        let tokens: Vec<TokenTree> = stream.into_iter().collect();
        for item in source::items(&tokens, "mod") {
            let path =
                item.attributes.iter().filter(|it| it.name() == "path").find_map(source::Attribute::value);
            let name = item.name.trim_start_matches("r#").to_owned();
            match (item.body, path) {
                (Some(body), path) => {
                    let inner = join(dir, &path.unwrap_or(name));
                    self.modules(&inner, &inner, body.stream())?;
                }
                (None, Some(path)) => self.file(&join(beside, &path), Owner::Root)?,
                (None, None) => {
                    let plain = join(dir, &format!("{name}.rs"));
                    if self.tree.has(&plain) {
                        self.file(&plain, Owner::Module)?;
                    } else {
                        self.file(&join(dir, &format!("{name}/mod.rs")), Owner::Root)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Follows `include!("…")` and related macros.
    fn included(&mut self, beside: &str, stream: TokenStream) -> Result<(), Failure> {
        let mut paths = Vec::new();
        source::each_list(stream, &mut |tokens| {
            for window in tokens.windows(3) {
                let is_include =
                    ["include", "include_str", "include_bytes"].iter().any(|word| is_word(&window[0], word));
                if let (true, true, TokenTree::Group(group)) =
                    (is_include, is_punct(&window[1], '!'), &window[2])
                {
                    paths.extend(source::string_value(&group.stream().to_string()));
                }
            }
        });
        for path in paths.iter().map(|path| join(beside, path)).filter(|path| has_extension(path, "rs")) {
            self.file(&path, Owner::Root)?;
        }
        Ok(())
    }
}

fn join(dir: &str, path: &str) -> String {
    normalise(&format!("{dir}/{path}")).unwrap_or_default()
}
