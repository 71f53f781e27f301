//! `cargo xtask e2e`: tests the plugin server with grpc-go, the client library of Argo CD's repo-server. The Go program is in `e2e`.

use std::path::{Path, PathBuf};

use crate::Failure;
use crate::build::{self, Linking, Profile, target_folder};
use crate::cargo::{output, program, run as run_program};

/// The Go program's module, below the workspace's root.
const MODULE: &str = "e2e";

/// Arguments of `cargo xtask e2e`.
#[derive(clap::Args, Debug, Default)]
pub(crate) struct Options {
    /// Test this program instead of building ours
    #[arg(long, value_name = "PROGRAM")]
    server: Option<PathBuf>,
}

impl Options {
    /// Returns the options for a program that is built already.
    pub(crate) fn of_server(server: PathBuf) -> Self {
        Self { server: Some(server) }
    }
}

/// Builds the Go program and runs all of its checks. Each prints a line.
pub(crate) fn run(root: &Path, options: &Options) -> Result<(), Failure> {
    let unformatted = go("gofmt", &["-l", "."], root)?;
    if !unformatted.is_empty() {
        return Err(Failure::new(format!(
            "{MODULE}: gofmt would change these files; run `gofmt -w {MODULE}`:\n{unformatted}"
        )));
    }
    go("go", &["vet", "./..."], root)?;
    let client = client(root)?;
    let server = match &options.server {
        Some(server) => server.clone(),
        None => build::build(root, Profile::Dev, Linking::Static, &[build::PROGRAM])?,
    };
    run_program(program(client).arg("--server").arg(server).current_dir(root))
}

/// Builds the client of the plugin server.
fn client(root: &Path) -> Result<PathBuf, Failure> {
    let program = target_folder(root)?.join(MODULE).join("client");
    go("go", &["build", "-o", &program.to_string_lossy(), "."], root)?;
    Ok(program)
}

/// Runs a program of Go, and returns its standard output.
fn go(name: &str, arguments: &[&str], root: &Path) -> Result<String, Failure> {
    let mut command = program(name);
    command.args(arguments).current_dir(root.join(MODULE));
    // The module is not part of a workspace, and the program runs on this machine.
    command.env("GOWORK", "off").env_remove("GOOS").env_remove("GOARCH");
    output(&mut command).map_err(|failure| {
        Failure::new(format!("{failure}\n{MODULE} needs Go 1.26 or later (https://go.dev/dl)"))
    })
}
