//! `cargo xtask bench helm`: measures the Helm plugin beside helm itself, and beside the shell script of the proposal's Example 3.
//!
//! The same call of helm is measured alone and in the plugin, in turn, with both versions of helm. The plugin's own time is the
//! difference of two consecutive runs. Helm needs more memory than the plugin, and the kernel keeps one figure for a process and its
//! children, so memory is measured with a script instead of helm.

mod call;
mod charts;
mod rows;

use std::path::Path;

use super::CommonOptions;
use super::sample::Starter;
use crate::Failure;
use crate::tools::{self, Purpose};
use call::Bench;
use rows::ROWS;

/// Measures the requested cases and prints a table.
pub(super) fn run(root: &Path, options: &CommonOptions) -> Result<(), Failure> {
    options.check(&ROWS)?;
    for purpose in [Purpose::Plugins, Purpose::Tests] {
        tools::run(root, &tools::Options::only(purpose))?;
    }
    let starter = Starter::new(&options.program(root, "tiphys-helm")?, "tiphys-helm", options.runs())?;
    options.measure(&ROWS, [Bench { starter, tools: tools::bin(root) }])
}
