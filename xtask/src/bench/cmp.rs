//! `cargo xtask bench cmp`: measures calls of the plugin server, beside Argo CD's own server.
//!
//! Both are started with the flags and variables of Argo CD, receive the same bytes in the same order from the same grpc-go client, and
//! take turns. Their files are on a memory file system, and the archives are packed before.

mod rows;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use clap::ValueEnum;
use tempfile::TempDir;

use super::figures::{Sheet, Target};
use super::{CommonOptions, place};
use crate::plugin_server::archive::{Contents, Upload};
use crate::plugin_server::running::{Rights, Server, Start, named};
use crate::{Failure, e2e};

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

/// The name of the side with our program.
const OURS: &str = "ours";

/// A program and how it is started.
struct Side {
    name: &'static str,
    program: PathBuf,
    view: View,
}

impl Side {
    /// Only our figures have targets.
    fn target(&self, target: Target) -> Option<Target> {
        (self.name == OURS).then_some(target)
    }
}

/// The fixture of all rows with one view.
struct Bench {
    view: View,
    /// Ours first.
    sides: Vec<Side>,
    place: Rc<TempDir>,
    /// The program of the gRPC client.
    client: PathBuf,
    runs: usize,
    calls: u32,
    uploads: Rc<RefCell<BTreeMap<Contents, Upload>>>,
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

    /// Starts a server of one side in an empty directory.
    fn start(&self, side: &Side, plugin: &str) -> Result<Server, Failure> {
        let start = Start {
            program: &side.program,
            client: &self.client,
            arguments: if side.view == View::Copy { &["--private-view=copy"] } else { &[] },
            rights: if side.view == View::Denied { Rights::NoNamespaces } else { Rights::Own },
            folder: self.place.path().join(format!("{}-server", side.name)),
            plugin,
        };
        start.start()
    }

    /// Starts a server of each side.
    fn servers(&self, plugin: &str) -> Result<Vec<(&Side, Server)>, Failure> {
        self.sides.iter().map(|side| Ok((side, self.start(side, plugin)?))).collect()
    }

    /// The name of a figure of one side.
    fn what(&self, side: &Side, what: &str) -> String {
        format!("{:?}, {what}, {}", self.view, side.name)
    }

    /// Adds our median as a part of the other side's, or of the recorded one if there is no other side. The target is one in `one_in`.
    fn share(&self, sheet: &mut Sheet<'_>, what: &str, recorded: f64, one_in: f64) {
        let mut medians = self.sides.iter().filter_map(|side| sheet.median(&self.what(side, what)));
        let (Some(ours), other) = (medians.next(), medians.next()) else { return };
        let one_in = if self.view == View::Auto { one_in } else { 2.0 };
        let name = format!(
            "{:?}, {what}, ours of {}",
            self.view,
            if other.is_some() { "other" } else { "recorded" }
        );
        let share = sheet.record(name, "%", ours / other.unwrap_or(recorded) * 100.0);
        share.target = Some(Target::AtMost((1_000.0 / one_in).floor() / 10.0));
    }
}

/// Measures the requested rows and prints the figures.
pub(super) fn run(root: &Path, options: &Options) -> Result<(), Failure> {
    let common = &options.common;
    common.check(&rows::ROWS)?;
    let (place, client) = (Rc::new(place::make()?), e2e::client(root)?);
    let ours = named(&common.program(root, "tiphys")?, &place.path().join("ours"))?;
    let theirs =
        options.against.as_ref().map(|other| named(other, &place.path().join("theirs"))).transpose()?;
    let uploads = Rc::default();
    let views = if options.view.is_empty() { &[View::Auto, View::Denied][..] } else { &options.view };
    let bench = |&view: &View| {
        let mut sides = vec![Side { name: OURS, program: ours.clone(), view }];
        // The figures of Argo CD's server do not depend on the view. They are measured each time, for the same load.
        sides.extend(theirs.clone().map(|program| Side { name: "other", program, view: View::Auto }));
        let (place, client, uploads) = (Rc::clone(&place), client.clone(), Rc::clone(&uploads));
        Bench { view, sides, place, client, runs: common.runs(), calls: options.calls, uploads }
    };
    common.measure(&rows::ROWS, views.iter().map(bench))
}
