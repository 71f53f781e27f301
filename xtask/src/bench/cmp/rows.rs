//! The rows of `cargo xtask bench cmp` and their targets.

use std::time::{Duration, Instant};

use super::super::figures::{MEBIBYTES, MS, Sheet, Target, float, mebibytes, milliseconds};
use super::super::{Case, case};
use super::{Bench, View};
use crate::Failure;
use crate::plugin_server::archive::{Contents, Upload};
use crate::plugin_server::pause;
use crate::plugin_server::process::{Look, occupied};
use crate::plugin_server::running::{Server, cat_plugin};

/// Files of the large and of the small tree.
const FILES: usize = 10_000;
const FEW_FILES: usize = 100;

/// Recorded figures of Argo CD's server on such a machine, in milliseconds.
const RECORDED_MS: f64 = 474.0;
const RECORDED_BURST_MS: f64 = 4_957.0;
const RECORDED_FEW_MS: f64 = 6.4;

/// Calls at once in a burst.
const BURST: usize = 16;

/// A burst takes seconds, and each needs a fresh server.
const BURST_RUNS_MAX: usize = 5;

/// Small calls are quick, so each run has several.
const CALLS_OF_RUN: u32 = 200;

/// Runs of a call with few files for each run of one with many.
const FEW_FILES_RUNS: usize = 10;

/// Calls of a server before its resources are counted.
const CALLS_BEFORE_COUNTING: u32 = 200;

/// How long after the last call resources may still be released: idle threads, processes that end.
const SETTLE_MAX: Duration = Duration::from_secs(30);

/// A plugin that only prints.
const ECHO: &str = "  generate:\n    command: [echo, '{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"a\"}}']\n";

/// All rows, in the order in which they are measured.
pub(super) const ROWS: [Case<Bench>; 10] = [
    case("unseen", "one call, 10,000 files that the server has not seen", |bench, sheet| {
        one_call(bench, sheet, 2.0, |run| Contents { seed: run, ..Contents::of(FILES) })
    }),
    case("identical", "one call, the same bytes again", |bench, sheet| {
        one_call(bench, sheet, 6.0, |_| Contents::of(FILES))
    }),
    case("again", "one call, the same files packed again, with other times", |bench, sheet| {
        one_call(bench, sheet, 4.0, |run| later(run, None))
    }),
    case("index", "the same with a .git/index that the checkout wrote anew", |bench, sheet| {
        one_call(bench, sheet, 4.0, |run| later(run, Some(run)))
    }),
    case("burst", "16 identical calls at once into a fresh server", burst),
    case("small-unseen", "one call, 100 files that the server has not seen", |bench, sheet| {
        one_call(bench, sheet, 2.0, |run| Contents { seed: run, ..Contents::of(FEW_FILES) })
    }),
    case("small", "one call, the same 100 files again", |bench, sheet| {
        one_call(bench, sheet, 2.0, |_| Contents::of(FEW_FILES))
    }),
    case("calls", "calls one after another, 100 files, a plugin that only prints", calls),
    case("start", "from the start to the first answer, and idle memory", start),
    case("left", "what is left after many calls", left),
];

/// The large tree with the times of another checkout.
fn later(run: u64, index: Option<u64>) -> Contents {
    let tree = Contents::of(FILES);
    Contents { modified: tree.modified + run, index, ..tree }
}

/// One call in each run, of a running server. The first one is to warm up.
fn one_call(
    bench: &Bench,
    sheet: &mut Sheet<'_>,
    one_in: f64,
    contents: impl Fn(u64) -> Contents,
) -> Result<(), Failure> {
    let (runs, recorded) = match contents(0).files {
        FEW_FILES => (bench.runs * FEW_FILES_RUNS, RECORDED_FEW_MS),
        _ => (bench.runs, RECORDED_MS),
    };
    let uploads: Vec<Upload> =
        (0..=runs as u64).map(|run| bench.upload(contents(run))).collect::<Result<_, _>>()?;
    let servers = bench.servers(&cat_plugin(bench.place.path())?)?;
    let mut before = Vec::new();
    for (run, upload) in uploads.iter().enumerate() {
        for (side, server) in &servers {
            let [sent, replied, ended] = server.generate(upload)?.durations().map(milliseconds);
            if run == 0 {
                before.push(server.look()?.processor_time);
                continue;
            }
            for (what, time) in [("call", ended), ("until sent", sent), ("until replied", replied)] {
                sheet.record(bench.what(side, what), MS, time);
            }
        }
    }
    for ((side, server), before) in servers.iter().zip(before) {
        let look = server.look()?;
        // The mean of all runs: the kernel counts in steps of 10 ms.
        let processor = milliseconds(look.processor_time.saturating_sub(before)) / float(runs as u64);
        sheet.record(bench.what(side, "processor time with children"), MS, processor);
        sheet.record(bench.what(side, "peak memory"), MEBIBYTES, mebibytes(look.peak_bytes));
    }
    bench.share(sheet, "call", recorded, one_in);
    Ok(())
}

fn burst(bench: &Bench, sheet: &mut Sheet<'_>) -> Result<(), Failure> {
    let upload = bench.upload(Contents::of(FILES))?;
    let plugin = cat_plugin(bench.place.path())?;
    for _ in 0..bench.runs.min(BURST_RUNS_MAX) {
        for side in &bench.sides {
            let server = bench.start(side, &plugin)?;
            let before = server.look()?.processor_time;
            let begun = Instant::now();
            server.generate_at_once(&upload, BURST)?;
            let figure = sheet.record(bench.what(side, "16 calls"), MS, milliseconds(begun.elapsed()));
            let after = server.look()?;
            figure.processor_ms.push(milliseconds(after.processor_time.saturating_sub(before)));
            let peak = sheet.record(bench.what(side, "peak memory"), MEBIBYTES, mebibytes(after.peak_bytes));
            peak.target = side.target(Target::AtMost(100.0));
        }
    }
    bench.share(sheet, "16 calls", RECORDED_BURST_MS, 8.0);
    Ok(())
}

fn calls(bench: &Bench, sheet: &mut Sheet<'_>) -> Result<(), Failure> {
    let upload = bench.upload(Contents::of(FEW_FILES))?;
    let servers = bench.servers(ECHO)?;
    for run in 0..=bench.runs {
        for (side, server) in &servers {
            let begun = Instant::now();
            generate_times(server, &upload, CALLS_OF_RUN)?;
            if run > 0 {
                let rate = f64::from(CALLS_OF_RUN) / begun.elapsed().as_secs_f64();
                let figure = sheet.record(bench.what(side, "calls"), "calls/s", rate);
                figure.target = side.target(Target::AtLeast(200.0));
            }
        }
    }
    Ok(())
}

fn start(bench: &Bench, sheet: &mut Sheet<'_>) -> Result<(), Failure> {
    let plugin = cat_plugin(bench.place.path())?;
    // A copy is made for a run, so other views give the same figure.
    let sides = if bench.view == View::Auto { &bench.sides[..] } else { &[] };
    for run in 0..=bench.runs {
        for side in sides {
            let server = bench.start(side, &plugin)?;
            if run > 0 {
                let ready = sheet.record(bench.what(side, "until ready"), MS, milliseconds(server.ready));
                ready.target = side.target(Target::AtMost(30.0));
                let memory = mebibytes(server.look()?.resident_bytes);
                let idle = sheet.record(bench.what(side, "idle memory with children"), MEBIBYTES, memory);
                idle.target = side.target(Target::AtMost(15.0));
            }
        }
    }
    Ok(())
}

/// Resources of a server at one time.
struct Held {
    look: Look,
    entries: u64,
}

impl Held {
    fn counts(&self) -> [(&'static str, u64); 4] {
        [
            ("files and folders", self.entries),
            ("descriptors", self.look.descriptors),
            ("threads", self.look.threads),
            ("processes", self.look.descendants + self.look.zombies),
        ]
    }
}

fn left(bench: &Bench, sheet: &mut Sheet<'_>) -> Result<(), Failure> {
    if bench.view != View::Auto {
        return Ok(());
    }
    let upload = bench.upload(Contents::of(FEW_FILES))?;
    for (side, server) in bench.servers(ECHO)? {
        generate_times(&server, &upload, CALLS_BEFORE_COUNTING)?;
        let before = settled(&server, None)?;
        generate_times(&server, &upload, bench.calls)?;
        let after = settled(&server, Some(&before))?;
        let what = |what| bench.what(side, &format!("{what} more after {} calls", bench.calls));
        for ((name, after), (_, before)) in after.counts().into_iter().zip(before.counts()) {
            let more = sheet.record(what(name), "count", float(after) - float(before));
            more.target = side.target(Target::AtMost(0.0));
        }
        let more = mebibytes(after.look.resident_bytes) - mebibytes(before.look.resident_bytes);
        sheet.record(what("memory"), MEBIBYTES, more);
    }
    Ok(())
}

fn generate_times(server: &Server, upload: &Upload, calls: u32) -> Result<(), Failure> {
    (0..calls).try_for_each(|_| server.generate(upload).map(drop))
}

/// Looks at a server without calls, until it has no more than before or [`SETTLE_MAX`] has passed.
fn settled(server: &Server, before: Option<&Held>) -> Result<Held, Failure> {
    let begun = Instant::now();
    loop {
        let held = Held { look: server.look()?, entries: occupied(&server.work_folder()).0 };
        let is_settled = before.is_some_and(|before| {
            held.counts().iter().zip(before.counts()).all(|(now, before)| now.1 <= before.1)
        });
        if is_settled || begun.elapsed() > SETTLE_MAX {
            return Ok(held);
        }
        pause(Duration::from_millis(200));
    }
}
