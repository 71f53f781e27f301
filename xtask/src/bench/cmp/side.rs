//! The programs that take turns, and their figures.

use std::path::{Path, PathBuf};

use super::super::figures::{Figure, Target, Unit, mebibytes, milliseconds};
use super::ratio::{Aim, Ratio};
use super::{Bench, View};
use crate::Failure;
use crate::plugin_server::archive::Upload;
use crate::plugin_server::call::Outcome;
use crate::plugin_server::running::{Server, Start};

/// A program and how it is started.
#[derive(Clone, Copy, Debug)]
pub(super) struct Side<'a> {
    pub(super) name: &'static str,
    pub(super) program: &'a Path,
    pub(super) view: View,
}

impl Side<'_> {
    /// Starts a server in an empty directory.
    pub(super) fn start(&self, bench: &Bench, plugin: &str) -> Result<Server, Failure> {
        let start = Start {
            program: self.program,
            client: &bench.client,
            arguments: self.view.arguments(),
            rights: self.view.rights(),
            folder: self.folder(bench),
            plugin,
        };
        start.start()
    }

    fn folder(&self, bench: &Bench) -> PathBuf {
        bench.place.path().join(format!("{}-server", self.name))
    }
}

/// The figures of one side, run by run.
#[derive(Clone, Debug, Default)]
pub(super) struct Taken {
    /// The figure itself.
    pub(super) values: Vec<f64>,
    /// CPU time of the server with its children in milliseconds, the mean of all runs: the kernel counts in steps of 10 ms.
    pub(super) processor_ms: Option<f64>,
    /// Milliseconds until the upload is sent, and until the message arrives.
    sent_ms: Vec<f64>,
    replied_ms: Vec<f64>,
}

impl Taken {
    /// Adds a call.
    fn add(&mut self, outcome: &Outcome) {
        let [sent, replied, ended] = outcome.durations().map(milliseconds);
        self.values.push(ended);
        self.sent_ms.push(sent);
        self.replied_ms.push(replied);
    }

    /// Figures without times of calls.
    pub(super) fn of(values: Vec<f64>) -> Self {
        Self { values, ..Self::default() }
    }
}

/// One figure of each side.
#[derive(Clone, Debug)]
pub(super) struct Finding {
    pub(super) what: String,
    pub(super) unit: Unit,
    /// Ours first.
    pub(super) taken: Vec<(&'static str, Taken)>,
    pub(super) aim: Aim,
}

impl Finding {
    /// The figures of all sides, ours with its target, and their ratio.
    pub(super) fn judged(self, row: &'static str, view: View) -> (Vec<Figure>, Option<Ratio>) {
        let what = format!("{}, {}", view.text(), self.what);
        let named = |name: &str, part: &str| format!("{what}, {name}{part}");
        let mut medians = Vec::new();
        let mut figures = Vec::new();
        for (name, taken) in self.taken {
            let mut figure = Figure::new(row, named(name, ""), self.unit, taken.values);
            if let Some(processor) = taken.processor_ms {
                figure = figure.with_processor_time(vec![processor]);
            }
            medians.push(figure.median());
            figures.push(figure);
            for (part, values) in [(" until sent", taken.sent_ms), (" until replied", taken.replied_ms)] {
                if !values.is_empty() {
                    figures.push(Figure::new(row, named(name, part), Unit::Milliseconds, values));
                }
            }
        }
        let Some((&ours, other)) = medians.split_first() else { return (figures, None) };
        let other = other.first().copied();
        let target = self.aim.target(view, other);
        if let (Some(target), Some(figure)) = (target, figures.first_mut()) {
            *figure = figure.clone().held_to(target);
        }
        let ratio = Ratio { row, what, unit: self.unit, ours, other, target };
        (figures, Some(ratio))
    }
}

/// Calls each server once for each upload, in turn. The first upload is to warm up.
pub(super) fn in_turn(
    servers: &[(&'static str, Server)],
    uploads: &[Upload],
) -> Result<Vec<(&'static str, Taken)>, Failure> {
    let mut taken: Vec<(&'static str, Taken)> =
        servers.iter().map(|(name, _)| (*name, Taken::default())).collect();
    let mut before = Vec::new();
    for (run, upload) in uploads.iter().enumerate() {
        for ((_, server), (_, taken)) in servers.iter().zip(&mut taken) {
            let outcome = server.generate(upload)?;
            if run > 0 {
                taken.add(&outcome);
            } else {
                before.push(server.look()?.processor_time);
            }
        }
    }
    let runs = u32::try_from(uploads.len().saturating_sub(1)).unwrap_or(u32::MAX).max(1);
    for (((_, server), (_, taken)), before) in servers.iter().zip(&mut taken).zip(before) {
        let total = server.look()?.processor_time.saturating_sub(before);
        taken.processor_ms = Some(milliseconds(total) / f64::from(runs));
    }
    Ok(taken)
}

/// The peak memory of each server.
pub(super) fn peaks(servers: &[(&'static str, Server)]) -> Result<Vec<(&'static str, Taken)>, Failure> {
    let peak = |server: &Server| Ok::<_, Failure>(Taken::of(vec![mebibytes(server.look()?.peak_bytes)]));
    servers.iter().map(|(name, server)| Ok((*name, peak(server)?))).collect()
}

/// The target of a row that counts what is left.
pub(super) const NOTHING_MORE: Aim = Aim::Bound(Target::AtMost(0.0));
