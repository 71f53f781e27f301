//! `cargo xtask bench helm`: what the Helm plugin costs beside helm's own run, and beside the shell script of the proposal's Example 3.
//!
//! The same call of helm is measured by itself and within the plugin, in turn, with both versions of helm. What a plugin takes beside helm
//! is the difference of two runs that follow one another. Helm needs more memory than the plugin, and the system keeps one figure for a
//! process and all that it started: memory is measured with a script in helm's place.

mod call;
mod charts;
mod rows;

use std::fs;
use std::path::{Path, PathBuf};

use super::figures::{self, Figure};
use super::machine::{self, Machine};
use super::place::Place;
use crate::Failure;
use crate::build::{LinkingOption, Profile, build};
use crate::tools::{self, Purpose};
use call::Bench;
use rows::ROWS;

/// Arguments of `cargo xtask bench helm`.
#[derive(clap::Args, Debug)]
#[command(after_help = "Example: cargo xtask bench helm --only announce --runs 21 --json announce.json")]
pub(super) struct Options {
    /// Measure only this (repeatable): generate, umbrella, announce, memory
    #[arg(long, value_name = "NAME")]
    only: Vec<String>,

    /// Runs of each figure, beside the one to warm up
    #[arg(long, value_name = "N", default_value_t = 11, value_parser = clap::value_parser!(u16).range(1..))]
    runs: u16,

    /// Measure this `tiphys-helm` instead of the release build
    #[arg(long, value_name = "FILE")]
    program: Option<PathBuf>,

    #[command(flatten)]
    linking: LinkingOption,

    /// Write all figures as JSON, too
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

/// Measures what was asked for and prints a table.
pub(super) fn run(root: &Path, options: &Options) -> Result<(), Failure> {
    let known: Vec<&str> = ROWS.iter().map(|row| row.name).collect();
    if let Some(unknown) = options.only.iter().find(|name| !known.contains(&name.as_str())) {
        return Err(Failure::new(format!("--only {unknown}: there are {}", known.join(", "))));
    }
    for purpose in [Purpose::Plugins, Purpose::Tests] {
        tools::run(root, &tools::Options::only(purpose))?;
    }
    let program = match &options.program {
        Some(program) => program.clone(),
        None => build(root, Profile::Release, options.linking.get())?.with_file_name("tiphys-helm"),
    };
    let machine = Machine::here();
    println!("{}", machine.line());
    let bench = Bench::new(Place::make()?, &program, &tools::bin(root), usize::from(options.runs))?;
    let mut all: Vec<Figure> = Vec::new();
    for row in ROWS {
        if options.only.is_empty() || options.only.iter().any(|name| name == row.name) {
            println!("measuring {}: {}", row.name, row.about);
            (row.measure)(&bench, row.name, &mut all)?;
        }
    }
    let load = machine::load();
    println!("load {load} after\n\n{}", figures::table(&all));
    if let Some(file) = &options.json {
        let figures: Vec<_> = all.iter().map(Figure::json).collect();
        let all = serde_json::json!({"machine": machine, "loadAfter": load, "figures": figures});
        fs::write(file, format!("{all:#}\n")).map_err(|error| Failure::at(file, error))?;
    }
    Ok(())
}
