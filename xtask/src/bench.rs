//! `cargo xtask bench`: builds the release program, and measures it with `bench/run.py`.

use std::path::Path;

use crate::build::{LinkingOption, PROGRAM, Profile, build};
use crate::cargo::{program, run as run_program};
use crate::failure::Failure;

/// Arguments of `cargo xtask bench`.
#[derive(clap::Args, Debug)]
pub(crate) struct Options {
    /// Cases and options of `bench/run.py`; `--list` prints them
    #[arg(value_name = "CASE", trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<String>,
}

/// Builds the release program, and measures it.
pub(crate) fn run(root: &Path, options: &Options) -> Result<(), Failure> {
    let built = build(root, Profile::Release, LinkingOption::default().get(), &[PROGRAM])?;
    let mut script = program("python3");
    script.arg(root.join("bench/run.py")).arg("--program").arg(built);
    run_program(script.args(&options.arguments).current_dir(root))
}
