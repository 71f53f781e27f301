//! `cargo xtask bench`: what rendering costs beside the plugins, held against the targets of `docs/performance.md`.
//!
//! Every figure comes from whole processes of the program that people get, on a memory file system, with plugins that do next to nothing:
//! one run to warm up, then as many as asked, of which the least, the median and the most are shown. A missed target is printed and
//! fails nothing, since a busy machine misses them all.

mod base;
mod cases;
mod cmp;
pub(crate) mod content;
mod data;
mod figures;
mod helm;
mod machine;
mod people;
pub(crate) mod place;
mod sample;
mod server;
mod world;

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use crate::Failure;
use crate::build::{self, Profile};
use cases::CASES;
use machine::Machine;
use place::Place;
use world::World;

/// Arguments of `cargo xtask bench`.
#[derive(clap::Args, Debug)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Options {
    #[command(subcommand)]
    part: Option<Part>,

    /// Measure only this (repeatable): fresh, overlay, copy, working-copy, many, throughput, params, params-set, completion, server, output, diff-base
    #[arg(long, value_name = "NAME")]
    pub(crate) only: Vec<String>,

    /// Runs of each figure, beside the one to warm up
    #[arg(long, value_name = "N", default_value_t = 11, value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) runs: u16,

    /// Write all figures as JSON, too
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,

    /// Measure this program instead of the static one that is built
    #[arg(long, value_name = "FILE")]
    pub(crate) program: Option<PathBuf>,

    /// Measure one run of this command line, and print it as JSON
    #[arg(last = true, value_name = "COMMAND", hide = true)]
    pub(crate) line: Vec<OsString>,
}

/// Measurements that have options of their own.
#[derive(clap::Subcommand, Debug)]
enum Part {
    /// Measure the plugin server, beside Argo CD's if its program is given
    Cmp(cmp::Options),
    /// Measure the Helm plugin, beside helm itself and a shell script
    Helm(helm::Options),
}

/// Measures what was asked for and prints a table.
pub(crate) fn run(root: &Path, options: &Options) -> Result<(), Failure> {
    match &options.part {
        Some(Part::Cmp(options)) => return cmp::run(root, options),
        Some(Part::Helm(options)) => return helm::run(root, options),
        None => {}
    }
    if !options.line.is_empty() {
        return sample::measure_here(&options.line);
    }
    let known: Vec<&str> = CASES.iter().map(|case| case.name).collect();
    if let Some(unknown) = options.only.iter().find(|name| !known.contains(&name.as_str())) {
        return Err(Failure::new(format!("--only {unknown}: there are {}", known.join(", "))));
    }
    let program = match &options.program {
        Some(program) => program.clone(),
        None => build::build(root, Profile::Release, build::LinkingOption::default().get())?,
    };
    let machine = Machine::here();
    println!("{}", machine.line());
    let world = World::new(Place::make()?, &program, usize::from(options.runs))?;
    let mut figures = Vec::new();
    for case in CASES {
        if options.only.is_empty() || options.only.iter().any(|name| name == case.name) {
            println!("measuring {}: {}", case.name, case.about);
            (case.measure)(&world, case.name, &mut figures)?;
        }
    }
    let load = machine::load();
    println!("load {load} after\n\n{}", figures::table(&figures));
    if let Some(file) = &options.json {
        let figures: Vec<_> = figures.iter().map(figures::Figure::json).collect();
        let all = serde_json::json!({"machine": machine, "loadAfter": load, "figures": figures});
        fs::write(file, format!("{all:#}\n")).map_err(|error| Failure::at(file, error))?;
    }
    Ok(())
}
