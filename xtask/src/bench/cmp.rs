//! `cargo xtask bench cmp`: what a call of the plugin server costs, beside Argo CD's own server.
//!
//! Both are started with the flags and variables of Argo CD, get the same bytes in the same order from the same client, and take
//! turns. Their files are on a memory file system, the archives are made before. The client's own time is shown apart.

mod ratio;
mod rows;
mod side;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use clap::ValueEnum;

use super::figures::{self, Figure};
use super::machine::{self, Machine};
use super::place::Place;
use crate::Failure;
use crate::build::{LinkingOption, Profile, build};
use crate::plugin_server::archive::Contents;
use crate::plugin_server::call::Upload;
use crate::plugin_server::running::{Rights, named};
use ratio::Ratio;
use rows::ROWS;
use side::Side;

/// Arguments of `cargo xtask bench cmp`.
#[derive(clap::Args, Debug)]
pub(super) struct Options {
    /// Measure only this (repeatable): unseen, identical, again, index, burst, small-unseen, small, calls, start, left
    #[arg(long, value_name = "NAME")]
    only: Vec<String>,

    /// How plugins get their private view (repeatable) [default: auto and denied]
    #[arg(long, value_name = "VIEW")]
    view: Vec<View>,

    /// Runs of each figure, beside the one to warm up
    #[arg(long, value_name = "N", default_value_t = 11, value_parser = clap::value_parser!(u16).range(1..))]
    runs: u16,

    /// Calls after which nothing may be left
    #[arg(long, value_name = "N", default_value_t = 10_000)]
    calls: u32,

    /// Measure this program instead of the release build
    #[arg(long, value_name = "FILE")]
    program: Option<PathBuf>,

    #[command(flatten)]
    linking: LinkingOption,

    /// Measure this program in turn with ours: Argo CD's `argocd-cmp-server`, or an older build
    #[arg(long, value_name = "FILE")]
    against: Option<PathBuf>,

    /// Write all figures as JSON, too
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

/// How plugins get their private view.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum View {
    /// As the server chooses.
    Auto,
    /// A full copy, because an option says so.
    Copy,
    /// A full copy, because the kernel allows neither user namespaces nor mounts.
    Denied,
}

impl View {
    fn arguments(self) -> &'static [&'static str] {
        match self {
            Self::Copy => &["--private-view=copy"],
            Self::Auto | Self::Denied => &[],
        }
    }

    fn rights(self) -> Rights {
        match self {
            Self::Denied => Rights::NoNamespaces,
            Self::Auto | Self::Copy => Rights::Own,
        }
    }

    fn text(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Copy => "copy",
            Self::Denied => "denied",
        }
    }
}

/// What all rows share.
struct Bench {
    place: Place,
    runs: usize,
    calls: u32,
    uploads: RefCell<BTreeMap<Contents, Rc<Upload>>>,
}

impl Bench {
    /// An archive, packed when it is first asked for.
    fn upload(&self, contents: Contents) -> Result<Rc<Upload>, Failure> {
        if let Some(known) = self.uploads.borrow().get(&contents) {
            return Ok(Rc::clone(known));
        }
        let archive = contents.pack().map_err(|error| Failure::new(format!("packing: {error}")))?;
        let upload = Rc::new(Upload::new(&archive));
        self.uploads.borrow_mut().insert(contents, Rc::clone(&upload));
        Ok(upload)
    }
}

/// Measures what was asked for and prints two tables: all figures, and ours beside the targets.
pub(super) fn run(root: &Path, options: &Options) -> Result<(), Failure> {
    let known: Vec<&str> = ROWS.iter().map(|row| row.name).collect();
    if let Some(unknown) = options.only.iter().find(|name| !known.contains(&name.as_str())) {
        return Err(Failure::new(format!("--only {unknown}: there are {}", known.join(", "))));
    }
    let program = match &options.program {
        Some(program) => program.clone(),
        None => build(root, Profile::Release, options.linking.get())?,
    };
    let machine = Machine::here();
    println!("{}", machine.line());
    let bench = Bench {
        place: Place::make()?,
        runs: usize::from(options.runs),
        calls: options.calls,
        uploads: RefCell::default(),
    };
    let ours = named(&program, &bench.place.path().join("ours"))?;
    let theirs =
        options.against.as_ref().map(|other| named(other, &bench.place.path().join("theirs"))).transpose()?;
    let views = if options.view.is_empty() { &[View::Auto, View::Denied][..] } else { &options.view };
    let (mut all, mut ratios): (Vec<Figure>, Vec<Ratio>) = Default::default();
    for view in views {
        for row in ROWS.iter().filter(|row| {
            let is_wanted = options.only.is_empty() || options.only.iter().any(|name| name == row.name);
            is_wanted && (*view == View::Auto || row.depends_on_view)
        }) {
            println!("measuring {}, view {}: {}", row.name, view.text(), row.about);
            let mut sides = vec![Side::new("ours", &ours, *view)];
            // Argo CD's server has one way, so its figure is the same for each view; it is measured each time, for the same load.
            sides.extend(theirs.as_deref().map(|program| Side::new("other", program, View::Auto)));
            for finding in (row.measure)(&bench, &sides)? {
                let (figures, ratio) = finding.judged(row.name, *view);
                all.extend(figures);
                ratios.extend(ratio);
            }
        }
    }
    let load = machine::load();
    println!("load {load} after\n\n{}\n{}", figures::table(&all), ratio::table(&ratios));
    if let Some(file) = &options.json {
        let figures: Vec<_> = all.iter().map(Figure::json).collect();
        let all =
            serde_json::json!({"machine": machine, "loadAfter": load, "figures": figures, "ratios": ratios});
        fs::write(file, format!("{all:#}\n")).map_err(|error| Failure::at(file, error))?;
    }
    Ok(())
}
