//! `cargo xtask`: builds, checks and installs tiphys.
//!
//! One module per command. Each has `run(&Path, &Options) -> Result<(), Failure>`, with `Options` if it has any, where the path is
//! the workspace's root; [`main`] prints a failure and turns it into the exit code.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a command-line tool")]

mod bench;
mod book;
mod build;
mod cargo;
mod corpus;
mod demo;
mod dist;
mod e2e;
mod failure;
mod files;
mod fuzz;
mod install;
mod native;
mod oracle;
mod test;
mod tidy;
mod tools;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use failure::Failure;

/// Builds, checks and installs tiphys.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask", disable_help_subcommand = true)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Run the one gate: format, clippy, tidy, benchmark scripts, tools, book, tests, documentation
    Test(test::Options),
    /// Check the invariants of ARCHITECTURE.md
    Tidy(tidy::Options),
    /// Install the pinned tools that plugins, tests and the demo run
    Tools(tools::Options),
    /// Build the release program, and measure it
    Bench(bench::Options),
    /// Build the book of docs
    Book,
    /// Render the example applications and show which plugin rendered each
    Demo(demo::Options),
    /// Build the release program: one static executable
    Build(build::Options),
    /// Build what a release publishes: archives and wheels for each architecture, and checksums
    Dist(dist::Options),
    /// Install the program and its plugins
    Install(install::Options),
    /// Run the fuzz targets, guided by coverage
    Fuzz(fuzz::Options),
    /// Test the plugin server with a grpc-go client, as Argo CD uses
    E2e(e2e::Options),
    /// Run an upstream program and ours on the same inputs, and compare their answers
    Oracle(oracle::Options),
    /// Render the charts of folders with the built-in engine and with helm, and compare the outputs
    Corpus(corpus::Options),
}

fn main() -> ExitCode {
    let root = workspace_root();
    let result = match Arguments::parse().command {
        Command::Test(options) => test::run(&root, &options),
        Command::Tidy(options) => tidy::run(&root, &options),
        Command::Tools(options) => tools::run(&root, &options),
        Command::Bench(options) => bench::run(&root, &options),
        Command::Book => book::run(&root),
        Command::Demo(options) => demo::run(&root, &options),
        Command::Build(options) => build::run(&root, &options),
        Command::Dist(options) => dist::run(&root, &options),
        Command::Install(options) => install::run(&root, &options),
        Command::Fuzz(options) => fuzz::run(&root, &options),
        Command::E2e(options) => e2e::run(&root, &options),
        Command::Oracle(options) => oracle::run(&root, &options),
        Command::Corpus(options) => corpus::run(&root, &options),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("{failure}");
            ExitCode::FAILURE
        }
    }
}

/// The directory of the root manifest. xtask always runs from the checkout that it was built in.
fn workspace_root() -> PathBuf {
    let mut root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    root.pop();
    root
}
