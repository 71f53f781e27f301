//! `cargo xtask soak inputs`: the properties of `crates/tiphys-render/src/inputs/tests.rs` with many more cases than in the gate.

use std::path::Path;

use crate::Failure;
use crate::cargo::{cargo, run as run_program};

/// Random repositories with a change.
const CASES: u32 = 1_000_000;

const TESTS: [&str; 6] = ["test", "-p", "tiphys-render", "--lib", "--", "inputs::tests"];

/// Runs the tests. It takes half an hour.
pub(super) fn run(root: &Path) -> Result<(), Failure> {
    run_program(cargo(root, &TESTS).env("PROPTEST_CASES", CASES.to_string()))
}
