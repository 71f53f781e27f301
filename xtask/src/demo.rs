//! `cargo xtask demo`: the main use case in one command, on a machine with Rust, Go, git and a C compiler.
//!
//! Builds the program, and the tools beside it. What needs only the program is shown as soon as it is built; `xtask/demo/run.sh` follows when the
//! tools are there. The user's settings are not used.

use std::ffi::OsString;
use std::io::{BufRead as _, BufReader, Lines};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};

use crate::build::{self, Linking, Profile};
use crate::cargo::{cargo, program, run as run_program, search_path};
use crate::{Failure, files, tools};

/// Directory of all that the demo writes, below the workspace's root.
const PLACE: &str = "target/demo";

/// The program with the servers of the step about pull requests, of the crate `tiphys-testkit`.
const SERVERS: &str = "pull-request-servers";

/// The program with a Kubernetes API server, of the same crate.
const API_SERVER: &str = "kube-server";

/// Arguments of `cargo xtask demo`.
#[derive(clap::Args, Debug, Default)]
pub(crate) struct Options {
    /// Run this tiphys instead of building one. The programs of tests are beside it
    #[arg(long, value_name = "FILE")]
    pub(crate) program: Option<PathBuf>,
    /// Then open the web page on the demo's copy of the example store
    #[arg(long)]
    pub(crate) serve: bool,
    /// Show the ApplicationSet controller instead, with a Kubernetes API server; needs Python
    #[arg(long, conflicts_with = "serve")]
    pub(crate) kubernetes: bool,
}

/// Runs the demo; another one at the same time waits for this one.
pub(crate) fn run(root: &Path, options: &Options) -> Result<(), Failure> {
    let home = root.join(PLACE).join("home");
    files::create_directory(&home)?;
    let _lock = files::lock(&root.join(PLACE).join("lock"))?;
    if options.kubernetes {
        return kubernetes(root, options, &home);
    }
    let programs = std::thread::scope(|scope| {
        let tools = scope.spawn(|| tools::run(root, &tools::Options::only(tools::Purpose::Plugins)));
        let programs = programs(root, options, SERVERS)?;
        run_program(script(root, "xtask/demo/first/run.sh", &programs).env("HOME", &home))?;
        println!("\n==> the tools: helm, kustomize, yq and jq");
        tools.join().map_err(|_| Failure::new("the tools could not be installed"))??;
        Ok::<_, Failure>(programs)
    })?;
    let authority = root.join(PLACE).join("ca.pem");
    let mut servers = Servers::start(&programs.join(SERVERS), &authority)?;
    let mut main = script(root, "xtask/demo/run.sh", &programs);
    run_program(
        main.env("HOME", home)
            .env("PROGRAMS", &programs)
            .env("GITHUB_PROXY", servers.address()?)
            .env("GITHUB_AUTHORITY", &authority)
            .env("PLUGIN_SERVER", servers.address()?),
    )?;
    if options.serve { serve(root, &programs) } else { Ok(()) }
}

/// Runs the ApplicationSet controller with an API server.
fn kubernetes(root: &Path, options: &Options, home: &Path) -> Result<(), Failure> {
    for purpose in [tools::Purpose::Plugins, tools::Purpose::Kubernetes] {
        tools::run(root, &tools::Options::only(purpose))?;
    }
    let programs = programs(root, options, API_SERVER)?;
    let place = root.join(PLACE).join("kubernetes");
    files::create_directory(&place)?;
    println!("\n==> kube-apiserver and etcd, with the kinds of Argo CD");
    let mut server = Servers::start(&programs.join(API_SERVER), &place)?;
    let mut main = script(root, "xtask/demo/kubernetes/run.sh", &programs);
    run_program(main.env("HOME", home).env("API_SERVER", server.address()?))
}

/// Serves the web page until `^C`. The browser needs the user's environment.
fn serve(root: &Path, programs: &Path) -> Result<(), Failure> {
    println!("\n==> tiphys serve: the page of the example store");
    let mut command = program(programs.join(build::PROGRAM));
    command.args(["serve", "--open", "--plugins", "examples/plugins"]);
    command.args(["--store", "target/demo/store", "--repo", "target/demo/repository"]);
    run_program(command.env("PATH", search(root, programs)).current_dir(root))
}

/// Returns the directory of tiphys and of a program of tests, which are built if the caller names none.
fn programs(root: &Path, options: &Options, of_tests: &str) -> Result<PathBuf, Failure> {
    let file = if let Some(file) = &options.program {
        std::path::absolute(file).map_err(|error| Failure::at(file, error))?
    } else {
        println!("==> tiphys; the tools helm, kustomize, yq and jq beside it");
        let file = build::build(root, Profile::Dev, Linking::Dynamic, &[build::PROGRAM])?;
        run_program(&mut cargo(
            root,
            &["build", "--locked", "--package", "tiphys-testkit", "--bin", of_tests],
        ))?;
        file
    };
    Ok(file.parent().unwrap_or(root).to_path_buf())
}

/// Returns a call of a script in an environment of its own.
fn script(root: &Path, path: &str, programs: &Path) -> Command {
    let mut command = program("sh");
    command.arg(path).env_clear().env("PATH", search(root, programs)).current_dir(root);
    command
}

/// Returns the search path with the tools and the programs in front.
fn search(root: &Path, programs: &Path) -> OsString {
    let mut search: OsString = tools::bin(root).into();
    for more in [programs.as_os_str(), &search_path()] {
        search.push(":");
        search.push(more);
    }
    search
}

/// A program with servers, which end when this is dropped.
struct Servers {
    process: Child,
    lines: Lines<BufReader<ChildStdout>>,
    file: PathBuf,
}

impl Servers {
    /// Starts a program with the path that it writes.
    fn start(file: &Path, written: &Path) -> Result<Self, Failure> {
        let mut command = program(file);
        command.arg(written).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut process = command.spawn().map_err(|error| Failure::at(file, error))?;
        let stdout = process.stdout.take().ok_or_else(|| Failure::new("standard output is a pipe"))?;
        Ok(Self { process, lines: BufReader::new(stdout).lines(), file: file.to_path_buf() })
    }

    /// Returns the next address that it prints.
    fn address(&mut self) -> Result<String, Failure> {
        let line = self.lines.next().transpose().map_err(|error| Failure::at(&self.file, error))?;
        line.ok_or_else(|| Failure::at(&self.file, "it ended before it printed its address"))
    }
}

impl Drop for Servers {
    fn drop(&mut self) {
        drop(self.process.stdin.take());
        drop(self.process.wait());
    }
}
