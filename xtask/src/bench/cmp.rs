//! `cargo xtask bench cmp`: measures calls of the plugin server, beside Argo CD's own server.
//!
//! Both are started with the flags and variables of Argo CD, receive the same bytes in the same order from the same grpc-go client, and
//! take turns. Their files are on a memory file system, and the archives are packed before.

mod ratio;
mod rows;
mod side;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use clap::ValueEnum;
use serde_json::json;

use super::CommonOptions;
use super::figures::Figure;
use super::machine::Machine;
use super::place::Place;
use crate::plugin_server::archive::{Contents, Upload};
use crate::plugin_server::running::{Rights, named};
use crate::{Failure, e2e};
use ratio::Ratio;
use rows::{ROWS, Row};
use side::Side;

/// Arguments of `cargo xtask bench cmp`.
#[derive(clap::Args, Debug)]
pub(super) struct Options {
    #[command(flatten)]
    common: CommonOptions,

    /// How plugins get their private view (repeatable) [default: auto and denied]
    #[arg(long, value_name = "VIEW")]
    view: Vec<View>,

    /// Calls after which nothing may be left
    #[arg(long, value_name = "N", default_value_t = 10_000)]
    calls: u32,

    /// Measure this program in turn with ours: Argo CD's `argocd-cmp-server`, or an older build
    #[arg(long, value_name = "FILE")]
    against: Option<PathBuf>,
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

/// The fixture of all rows.
struct Bench {
    place: Place,
    /// The program of the gRPC client.
    client: PathBuf,
    runs: usize,
    calls: u32,
    uploads: RefCell<BTreeMap<Contents, Upload>>,
}

impl Bench {
    /// Returns an archive. It is packed at the first use.
    fn upload(&self, contents: Contents) -> Result<Upload, Failure> {
        if let Some(known) = self.uploads.borrow().get(&contents) {
            return Ok(known.clone());
        }
        let upload = contents.upload(self.place.path())?;
        self.uploads.borrow_mut().insert(contents, upload.clone());
        Ok(upload)
    }
}

/// Measures the requested rows and prints two tables: all figures, and ours beside the targets.
pub(super) fn run(root: &Path, options: &Options) -> Result<(), Failure> {
    let common = &options.common;
    common.check(&ROWS.iter().map(|row| row.name).collect::<Vec<_>>())?;
    let program = common.program(root, "tiphys")?;
    let machine = Machine::here();
    println!("{}", machine.line());
    let bench = Bench {
        place: Place::make()?,
        client: e2e::client(root)?,
        runs: common.runs(),
        calls: options.calls,
        uploads: RefCell::default(),
    };
    let ours = named(&program, &bench.place.path().join("ours"))?;
    let theirs =
        options.against.as_ref().map(|other| named(other, &bench.place.path().join("theirs"))).transpose()?;
    let views = if options.view.is_empty() { &[View::Auto, View::Denied][..] } else { &options.view };
    let (mut all, mut ratios): (Vec<Figure>, Vec<Ratio>) = Default::default();
    for &view in views {
        let has_figure = |row: &&Row| view == View::Auto || row.depends_on_view;
        for row in ROWS.iter().filter(|row| common.includes(row.name)).filter(has_figure) {
            println!("measuring {}, view {}: {}", row.name, view.text(), row.about);
            let mut sides = vec![Side { name: "ours", program: &ours, view }];
            // The figures of Argo CD's server do not depend on the view. They are measured each time, for the same load.
            sides.extend(theirs.as_deref().map(|program| Side { name: "other", program, view: View::Auto }));
            for finding in (row.measure)(&bench, &sides)? {
                let (figures, ratio) = finding.judged(row.name, view);
                all.extend(figures);
                ratios.extend(ratio);
            }
        }
    }
    common.report(&machine, &all, &ratio::table(&ratios), json!({ "ratios": ratios }))
}
