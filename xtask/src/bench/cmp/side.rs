//! One of the programs that take turns, and what it took.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::super::figures::{Figure, Target, Unit};
use super::ratio::{Aim, Ratio};
use super::{Bench, View};
use crate::Failure;
use crate::plugin_server::call::{Outcome, Upload};
use crate::plugin_server::running::{Server, Start};

/// A program with the way it is started.
#[derive(Clone, Copy, Debug)]
pub(super) struct Side<'a> {
    pub(super) name: &'static str,
    program: &'a Path,
    view: View,
}

impl<'a> Side<'a> {
    pub(super) fn new(name: &'static str, program: &'a Path, view: View) -> Self {
        Self { name, program, view }
    }

    /// Starts a server in an empty folder.
    pub(super) fn start(&self, bench: &Bench, plugin: &str) -> Result<Server, Failure> {
        let start = Start {
            program: self.program,
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

/// What one side took, run by run.
#[derive(Clone, Debug, Default)]
pub(super) struct Taken {
    /// The figure itself.
    pub(super) values: Vec<f64>,
    /// Processor time of the server with its children in milliseconds, the mean of all runs: the system counts in steps of 10 ms.
    pub(super) processor_ms: Option<f64>,
    /// Parts of a call in milliseconds: until the last byte was sent, until the message was there; the client's processor time.
    pub(super) sent_ms: Vec<f64>,
    pub(super) replied_ms: Vec<f64>,
    pub(super) client_ms: Vec<f64>,
}

impl Taken {
    /// Adds a call.
    pub(super) fn add(&mut self, outcome: &Outcome) {
        self.values.push(milliseconds(outcome.ended));
        self.sent_ms.push(milliseconds(outcome.sent));
        self.replied_ms.push(milliseconds(outcome.replied));
        self.client_ms.push(milliseconds(outcome.client));
    }

    /// Figures of values only.
    pub(super) fn of(values: Vec<f64>) -> Self {
        Self { values, ..Self::default() }
    }
}

/// What a row found out: the same thing of each side.
#[derive(Clone, Debug)]
pub(super) struct Finding {
    pub(super) what: String,
    pub(super) unit: Unit,
    /// Ours first.
    pub(super) taken: Vec<(&'static str, Taken)>,
    pub(super) aim: Aim,
}

impl Finding {
    /// The figures of all sides, ours held to the target, and how it compares.
    pub(super) fn judged(self, row: &'static str, view: View) -> (Vec<Figure>, Option<Ratio>) {
        let what = format!("{}, {}", view.text(), self.what);
        let named = |name: &str, part: &str| format!("{what}, {name}{part}");
        let mut medians = Vec::new();
        let mut figures = Vec::new();
        for (name, taken) in self.taken {
            let Some(mut figure) = Figure::new(row, named(name, ""), self.unit, taken.values) else {
                continue;
            };
            if let Some(processor) = taken.processor_ms {
                figure = figure.with_processor_time(vec![processor]);
            }
            medians.push(figure.median());
            figures.push(figure);
            for (part, values) in [
                (" until sent", taken.sent_ms),
                (" until replied", taken.replied_ms),
                (" client's cpu", taken.client_ms),
            ] {
                figures.extend(Figure::new(row, named(name, part), Unit::Milliseconds, values));
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

/// Calls each server once for each upload, in turn; the first upload is to warm up.
pub(super) fn in_turn(
    servers: &[(&'static str, Server)],
    uploads: &[&Upload],
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

/// For figures.
pub(super) fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1_000.0
}

/// For figures.
#[expect(clippy::cast_precision_loss, reason = "a figure for people")]
pub(super) fn mebibytes(bytes: u64) -> f64 {
    bytes as f64 / f64::from(1 << 20)
}

/// The target of a row that is about a number of things.
pub(super) const NOTHING_MORE: Aim = Aim::Bound(Target::AtMost(0.0));
