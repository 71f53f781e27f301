//! `cargo xtask book`: builds the book of `docs` in `target/book`, and checks every link of its pages.
//!
//! `cargo xtask tidy` checks the links of the Markdown files. The book's links use names of pages and anchors of mdbook, so the built pages
//! are checked as well. Links to other hosts are not followed.

mod html;
mod pages;
#[cfg(test)]
mod tests;

use std::path::Path;
use std::process::Stdio;

use clap::Args;

use crate::bench::place::remove;
use crate::cargo::program;
use crate::{Failure, tools};

/// Directory of the pages, relative to the workspace's root.
const SOURCES: &str = "docs";

/// Directory of the book, relative to the workspace's root.
const PLACE: &str = "target/book";

/// No options yet.
#[derive(Args, Debug, Default)]
pub(crate) struct Options {}

/// Builds the book and checks it.
pub(crate) fn run(root: &Path, _options: &Options) -> Result<(), Failure> {
    tools::run(root, &tools::Options::only(tools::Purpose::Book))?;
    let (sources, place) = (root.join(SOURCES), root.join(PLACE));
    let mut problems = pages::unlisted(&sources)?;
    build(root, &sources, &place)?;
    let pages = pages::read(&place)?;
    problems.extend(pages::broken_links(&place, &pages));
    if problems.is_empty() {
        println!("{} pages, all links are valid: {PLACE}/index.html", pages.len());
        return Ok(());
    }
    Err(Failure::new(problems.join("\n")))
}

/// Runs mdbook in an empty directory. Its warnings are errors.
fn build(root: &Path, sources: &Path, place: &Path) -> Result<(), Failure> {
    remove(place)?;
    let output = program(tools::bin(root).join("mdbook"))
        .arg("build")
        .arg(sources)
        .arg("--dest-dir")
        .arg(place)
        .stdin(Stdio::null())
        .output()
        .map_err(|error| Failure::new(format!("cannot start mdbook: {error}")))?;
    let said = String::from_utf8_lossy(&output.stderr);
    let warned = said
        .lines()
        .any(|line| ["WARN", "ERROR"].contains(&line.split_whitespace().next().unwrap_or_default()));
    if output.status.success() && !warned {
        return Ok(());
    }
    Err(Failure::new(format!("mdbook build {}: {}\n{}", sources.display(), output.status, said.trim_end())))
}
