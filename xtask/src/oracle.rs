//! `cargo xtask oracle`: runs an upstream program and ours on the same inputs, and compares their answers.

use std::path::{Path, PathBuf};

use crate::Failure;
use crate::cargo::{cargo, run as run_program};

/// Arguments of `cargo xtask oracle`.
#[derive(clap::Args, Debug)]
pub(crate) struct Options {
    #[command(subcommand)]
    oracle: Oracle,
}

#[derive(clap::Subcommand, Debug)]
enum Oracle {
    /// ApplicationSets in a cluster: Argo CD's controller and ours over one API server
    Controller {
        /// Argo CD's program
        #[arg(long, value_name = "FILE")]
        against: PathBuf,
        /// Argo CD's definitions of its kinds, as YAML, instead of ours without schemas
        #[arg(long, value_name = "FILE")]
        crds: Option<PathBuf>,
        /// Store the answers of Argo CD's program as test data
        #[arg(long)]
        update: bool,
    },
}

/// Runs the test that compares recorded answers, with the program instead of these.
pub(crate) fn run(root: &Path, options: &Options) -> Result<(), Failure> {
    let Oracle::Controller { against, crds, update } = &options.oracle;
    let absolute = |path: &PathBuf| {
        path.canonicalize().map_err(|error| Failure::new(format!("{}: {error}", path.display())))
    };
    let mut test = cargo(root, &["test", "-p", "tiphys", "--test", "program", "--", "appset_recorded"]);
    test.env("AGAINST", absolute(against)?);
    if let Some(crds) = crds {
        test.env("CRDS", absolute(crds)?);
    }
    if *update {
        test.env("UPDATE", "1");
    }
    run_program(&mut test)
}
