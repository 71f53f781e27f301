//! `cargo xtask bench`: measures rendering beside the plugins against the targets of `docs/performance.md`.
//!
//! Each figure is measured on whole processes of the release program, on a memory file system, with plugins that do almost nothing. After
//! one warm-up run, minimum, median and maximum of the requested runs are printed. A missed target is printed and is not an error, because
//! a busy machine misses all of them.

mod appset;
mod base;
mod cases;
mod cmp;
pub(crate) mod content;
pub(crate) mod data;
mod dynamic;
pub(crate) mod figures;
mod helm;
mod inputs;
mod machine;
mod params;
pub(crate) mod place;
mod sample;
mod world;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use serde_json::json;

use crate::build::{LinkingOption, Profile, build};
use crate::{Failure, files};
use cases::CASES;
use figures::{Figure, Sheet};
use world::World;

/// Arguments of `cargo xtask bench`.
#[derive(clap::Args, Debug)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Options {
    #[command(subcommand)]
    part: Option<Part>,

    #[command(flatten)]
    common: CommonOptions,

    /// Measure one run of this command line, and print it as JSON
    #[arg(last = true, value_name = "COMMAND", hide = true)]
    line: Vec<OsString>,
}

/// Measurements with their own options.
#[derive(clap::Subcommand, Debug)]
enum Part {
    /// Measure the plugin server, beside Argo CD's if its program is given
    Cmp(cmp::Options),
    /// Measure values from clusters, and comparisons with clusters, with a real API server
    #[command(after_help = "Example: cargo xtask bench dynamic --only live-diff --runs 5")]
    Dynamic(CommonOptions),
    /// Measure generating the Applications of application sets, and templates beside Go
    #[command(after_help = "Example: cargo xtask bench appset --only matrix --runs 5")]
    #[command(name = "appset")]
    AppSet(CommonOptions),
    /// Measure comparisons in which few applications are made from other files than before
    #[command(after_help = "Example: cargo xtask bench inputs --only helm --runs 5")]
    Inputs(CommonOptions),
    /// Measure the Helm plugin, beside helm itself and a shell script
    #[command(after_help = "Example: cargo xtask bench helm --only announce --runs 21 --json announce.json")]
    Helm(CommonOptions),
    /// Measure listing, explaining and checking the parameters of charts
    #[command(after_help = "Example: cargo xtask bench params --only check --runs 5")]
    Params(CommonOptions),
}

/// Options of all measurements.
#[derive(clap::Args, Debug)]
struct CommonOptions {
    /// Measure only this case (repeatable); an unknown name lists all cases
    #[arg(long, value_name = "NAME")]
    only: Vec<String>,

    /// Runs of each figure, beside the one to warm up
    #[arg(long, value_name = "N", default_value_t = 11, value_parser = clap::value_parser!(u16).range(1..))]
    runs: u16,

    /// Measure this program instead of the release build
    #[arg(long, value_name = "FILE")]
    program: Option<PathBuf>,

    #[command(flatten)]
    linking: LinkingOption,

    /// Also write all figures as JSON
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

/// A case of a benchmark with the fixture `B`.
struct Case<B> {
    /// The name for `--only`.
    name: &'static str,
    about: &'static str,
    measure: fn(&B, &mut Sheet<'_>) -> Result<(), Failure>,
}

const fn case<B>(
    name: &'static str,
    about: &'static str,
    measure: fn(&B, &mut Sheet<'_>) -> Result<(), Failure>,
) -> Case<B> {
    Case { name, about, measure }
}

/// Measures the requested cases and prints a table.
pub(crate) fn run(root: &Path, options: &Options) -> Result<(), Failure> {
    let common = match &options.part {
        Some(Part::Cmp(options)) => return cmp::run(root, options),
        Some(Part::Dynamic(options)) => return dynamic::run(root, options),
        Some(Part::AppSet(options)) => return appset::run(root, options),
        Some(Part::Inputs(options)) => return inputs::run(root, options),
        Some(Part::Helm(options)) => return helm::run(root, options),
        Some(Part::Params(options)) => return params::run(root, options),
        None => &options.common,
    };
    if !options.line.is_empty() {
        return sample::measure_here(&options.line);
    }
    common.check(&CASES)?;
    common.measure(&CASES, [World::new(root, &common.program(root, "tiphys")?, common.runs())?])
}

impl CommonOptions {
    fn runs(&self) -> usize {
        usize::from(self.runs)
    }

    /// The program to measure: the given one, or the one of this name in the release build.
    fn program(&self, root: &Path, name: &str) -> Result<PathBuf, Failure> {
        match &self.program {
            Some(program) => Ok(program.clone()),
            None => Ok(build(root, Profile::Release, self.linking.get())?.with_file_name(name)),
        }
    }

    /// Fails if an unknown case was requested.
    fn check<B>(&self, cases: &[Case<B>]) -> Result<(), Failure> {
        let known: Vec<&str> = cases.iter().map(|case| case.name).collect();
        match self.only.iter().find(|name| !known.contains(&name.as_str())) {
            Some(unknown) => {
                Err(Failure::new(format!("--only {unknown}: the cases are {}", known.join(", "))))
            }
            None => Ok(()),
        }
    }

    /// Measures the requested cases with each fixture, prints the figures, and writes them as JSON if that was requested.
    fn measure<B>(&self, cases: &[Case<B>], fixtures: impl IntoIterator<Item = B>) -> Result<(), Failure> {
        let machine = machine::line();
        println!("{machine}");
        let mut figures = Vec::new();
        let is_requested =
            |case: &&Case<B>| self.only.is_empty() || self.only.iter().any(|only| only == case.name);
        for fixture in fixtures {
            for case in cases.iter().filter(is_requested) {
                println!("measuring {}: {}", case.name, case.about);
                (case.measure)(&fixture, &mut Sheet { case: case.name, figures: &mut figures })?;
            }
        }
        let load = machine::load();
        println!("load {load} after\n\n{}", figures::table(&figures));
        let Some(file) = &self.json else { return Ok(()) };
        let figures: Vec<_> = figures.iter().map(Figure::json).collect();
        let all = json!({ "machine": machine, "loadAfter": load, "figures": figures });
        files::write(file, format!("{all:#}\n"))
    }
}
