//! `cargo xtask book`: builds the book of `docs` in `target/book`. `cargo xtask tidy` checks the links of its pages.

use std::path::Path;

use crate::cargo::program;
use crate::{Failure, files, tools};

/// Directory of the book, relative to the workspace's root.
const PLACE: &str = "target/book";

/// Runs mdbook in an empty directory. Its warnings are errors.
pub(crate) fn run(root: &Path) -> Result<(), Failure> {
    tools::run(root, &tools::Options::only(tools::Purpose::Book))?;
    files::remove(&root.join(PLACE))?;
    let mut mdbook = program(tools::bin(root).join("mdbook"));
    mdbook.args(["build", "docs", "--dest-dir"]).arg(root.join(PLACE)).current_dir(root);
    let output = mdbook.output().map_err(|error| Failure::new(format!("cannot start mdbook: {error}")))?;
    let printed = String::from_utf8_lossy(&output.stderr);
    let is_problem = |line: &str| ["WARN", "ERROR"].iter().any(|level| line.trim_start().starts_with(level));
    if output.status.success() && !printed.lines().any(is_problem) {
        println!("{PLACE}/index.html");
        return Ok(());
    }
    Err(Failure::new(format!("mdbook build docs: {}\n{}", output.status, printed.trim_end())))
}
