//! `cargo xtask e2e`: tests the plugin server with grpc-go, the client library of Argo CD's repo-server. The Go program is in `e2e`.

use std::path::{Path, PathBuf};
use std::process::Stdio;

use crate::Failure;
use crate::build::{self, Linking, Profile};
use crate::cargo::program;
use crate::install::target_folder;

/// The Go program's module, below the workspace's root.
const MODULE: &str = "e2e";

/// Arguments of `cargo xtask e2e`.
#[derive(clap::Args, Debug, Default)]
pub(crate) struct Options {
    /// Test this program instead of building ours
    #[arg(long, value_name = "PROGRAM")]
    server: Option<PathBuf>,
}

/// Builds the Go program and runs all of its checks. Each prints a line.
pub(crate) fn run(root: &Path, options: &Options) -> Result<(), Failure> {
    let module = root.join(MODULE);
    let unformatted = output("gofmt", &["-l", "."], &module)?;
    if !unformatted.is_empty() {
        return Err(Failure::new(format!(
            "{MODULE}: gofmt would change these files; run `gofmt -w {MODULE}`:\n{unformatted}"
        )));
    }
    output("go", &["vet", "./..."], &module)?;
    let client = client(root)?;
    let server = match &options.server {
        Some(server) => server.clone(),
        None => build::build(root, Profile::Dev, Linking::Static)?,
    };
    let status = program(&client)
        .arg("--server")
        .arg(&server)
        .current_dir(root)
        .stdin(Stdio::null())
        .status()
        .map_err(|error| Failure::at(&client, error))?;
    if status.success() { Ok(()) } else { Err(Failure::new(format!("{}: {status}", client.display()))) }
}

/// Builds the Go program.
pub(crate) fn client(root: &Path) -> Result<PathBuf, Failure> {
    let client = target_folder(root)?.join(MODULE).join("client");
    output("go", &["build", "-o", &client.to_string_lossy(), "."], &root.join(MODULE))?;
    Ok(client)
}

/// Runs a program of Go, and returns its standard output.
fn output(name: &str, arguments: &[&str], module: &Path) -> Result<String, Failure> {
    let output = program(name)
        .args(arguments)
        .current_dir(module)
        // The module is not part of a workspace, and the program runs on this machine.
        .env("GOWORK", "off")
        .env_remove("GOOS")
        .env_remove("GOARCH")
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()
        .map_err(|error| {
            Failure::new(format!(
                "cannot start {name}: {error}; install Go 1.26 or later (https://go.dev/dl)"
            ))
        })?;
    if !output.status.success() {
        return Err(Failure::new(format!("{name} {}: {}", arguments.join(" "), output.status)));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}
