//! `cargo xtask demo`: the main use case in one command, on a machine with Rust, Go, git and a C compiler.
//!
//! Builds the program, installs the tools and runs `xtask/demo/run.sh`, without the user's settings.

use std::path::{Path, PathBuf};

use tiphys_testkit::pull_requests::PullRequestServers;

use crate::build::{self, Linking, Profile};
use crate::cargo::{program, run as run_program, search_path};
use crate::{Failure, files, tools};

/// Directory of all that the demo writes, below the workspace's root.
const PLACE: &str = "target/demo";

/// Arguments of `cargo xtask demo`.
#[derive(clap::Args, Debug, Default)]
pub(crate) struct Options {
    /// Run this tiphys instead of building the release one
    #[arg(long, value_name = "FILE")]
    pub(crate) program: Option<PathBuf>,
}

/// Runs the demo; another one at the same time waits for this one.
pub(crate) fn run(root: &Path, options: &Options) -> Result<(), Failure> {
    let home = root.join(PLACE).join("home");
    files::create_directory(&home)?;
    let _lock = files::lock(&root.join(PLACE).join("lock"))?;
    println!("==> the tools: helm, kustomize, yq and jq");
    tools::run(root, &tools::Options::only(tools::Purpose::Plugins))?;
    let file = if let Some(file) = &options.program {
        std::path::absolute(file).map_err(|error| Failure::at(file, error))?
    } else {
        println!("==> the program");
        build::build(root, Profile::Release, Linking::Dynamic)?
    };
    // The programs of plugins are beside the program.
    let programs = file.parent().unwrap_or(root);
    let mut path = tools::bin(root).into_os_string();
    for more in [programs.as_os_str(), &search_path()] {
        path.push(":");
        path.push(more);
    }
    let servers = PullRequestServers::start();
    let authority = root.join(PLACE).join("ca.pem");
    files::write(&authority, servers.authority.pem())?;
    run_program(
        program("sh")
            .arg("xtask/demo/run.sh")
            .env_clear()
            .env("PATH", path)
            .env("HOME", home)
            .env("PROGRAMS", programs)
            .env("GITHUB_PROXY", servers.tunnel.url())
            .env("GITHUB_AUTHORITY", authority)
            .env("PLUGIN_SERVER", servers.plugin.host())
            .current_dir(root),
    )
}
