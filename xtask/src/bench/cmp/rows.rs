//! The rows of `cargo xtask bench cmp` and their targets.

use std::time::{Duration, Instant};

use super::super::figures::{Target, Unit, float, mebibytes, milliseconds};
use super::Bench;
use super::ratio::Aim;
use super::side::{Finding, NOTHING_MORE, Side, Taken, in_turn, peaks};
use crate::Failure;
use crate::plugin_server::archive::{Contents, Upload};
use crate::plugin_server::pause;
use crate::plugin_server::process::{Look, occupied};
use crate::plugin_server::running::{Server, cat_plugin};

/// Files of the large and of the small tree.
const FILES: usize = 10_000;
const FEW_FILES: usize = 100;

/// Recorded figures of Argo CD's server on such a machine, in milliseconds.
const BASELINE_MS: f64 = 474.0;
const BASELINE_BURST_MS: f64 = 4_957.0;
const BASELINE_FEW_MS: f64 = 6.4;

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

/// The figures of a row.
type Findings = Result<Vec<Finding>, Failure>;

/// A measurement.
pub(super) struct Row {
    /// The name for `--only`.
    pub(super) name: &'static str,
    pub(super) about: &'static str,
    /// Whether the figure is different if plugins get copies.
    pub(super) depends_on_view: bool,
    pub(super) measure: fn(&Bench, &[Side<'_>]) -> Findings,
}

/// All rows, in the order in which they are measured.
pub(super) const ROWS: [Row; 10] = [
    row("unseen", "one call, 10,000 files that the server has not seen", |bench, sides| {
        one_call(bench, sides, 2.0, |run| Contents { seed: run, ..Contents::of(FILES) })
    }),
    row("identical", "one call, the same bytes again", |bench, sides| {
        one_call(bench, sides, 6.0, |_| Contents::of(FILES))
    }),
    row("again", "one call, the same files packed again, with other times", |bench, sides| {
        one_call(bench, sides, 4.0, |run| later(run, None))
    }),
    row("index", "the same with a .git/index that the checkout wrote anew", |bench, sides| {
        one_call(bench, sides, 4.0, |run| later(run, Some(run)))
    }),
    row("burst", "16 identical calls at once into a fresh server", burst),
    row("small-unseen", "one call, 100 files that the server has not seen", |bench, sides| {
        one_call(bench, sides, 2.0, |run| Contents { seed: run, ..Contents::of(FEW_FILES) })
    }),
    row("small", "one call, the same 100 files again", |bench, sides| {
        one_call(bench, sides, 2.0, |_| Contents::of(FEW_FILES))
    }),
    row("calls", "calls one after another, 100 files, a plugin that only prints", calls),
    Row {
        depends_on_view: false,
        ..row("start", "from the start to the first answer, and idle memory", start)
    },
    Row { depends_on_view: false, ..row("left", "what is left after many calls", left) },
];

const fn row(name: &'static str, about: &'static str, measure: fn(&Bench, &[Side<'_>]) -> Findings) -> Row {
    Row { name, about, depends_on_view: true, measure }
}

/// The large tree with the times of another checkout.
fn later(run: u64, index: Option<u64>) -> Contents {
    let tree = Contents::of(FILES);
    Contents { modified: tree.modified + run, index, ..tree }
}

/// One call in each run, of a running server. The target without overlays is half of the other side's figure.
fn one_call(bench: &Bench, sides: &[Side<'_>], one_in: f64, contents: impl Fn(u64) -> Contents) -> Findings {
    let (runs, baseline) = match contents(0).files {
        FEW_FILES => (bench.runs * FEW_FILES_RUNS, BASELINE_FEW_MS),
        _ => (bench.runs, BASELINE_MS),
    };
    let uploads: Vec<Upload> =
        (0..=runs as u64).map(|run| bench.upload(contents(run))).collect::<Result<_, _>>()?;
    let servers = started(bench, sides, &cat_plugin(bench.place.path())?)?;
    let taken = in_turn(&servers, &uploads)?;
    let aim = Aim::Part { baseline, one_in, one_in_with_copies: 2.0 };
    Ok(vec![
        finding("call", Unit::Milliseconds, taken, aim),
        finding("peak memory", Unit::Mebibytes, peaks(&servers)?, Aim::None),
    ])
}

fn burst(bench: &Bench, sides: &[Side<'_>]) -> Findings {
    let upload = bench.upload(Contents::of(FILES))?;
    let plugin = cat_plugin(bench.place.path())?;
    let mut walls = nothing(sides);
    let mut peaks = nothing(sides);
    for _ in 0..bench.runs.min(BURST_RUNS_MAX) {
        for ((side, (_, walls)), (_, peaks)) in sides.iter().zip(&mut walls).zip(&mut peaks) {
            let server = side.start(bench, &plugin)?;
            let before = server.look()?.processor_time;
            let begun = Instant::now();
            server.generate_at_once(&upload, BURST)?;
            walls.values.push(milliseconds(begun.elapsed()));
            let after = server.look()?;
            peaks.values.push(mebibytes(after.peak_bytes));
            walls.processor_ms = Some(milliseconds(after.processor_time.saturating_sub(before)));
        }
    }
    let aim = Aim::Part { baseline: BASELINE_BURST_MS, one_in: 8.0, one_in_with_copies: 2.0 };
    Ok(vec![
        finding(format!("{BURST} calls"), Unit::Milliseconds, walls, aim),
        finding("peak memory", Unit::Mebibytes, peaks, Aim::Bound(Target::AtMost(100.0))),
    ])
}

fn calls(bench: &Bench, sides: &[Side<'_>]) -> Findings {
    let upload = bench.upload(Contents::of(FEW_FILES))?;
    let servers = started(bench, sides, ECHO)?;
    let mut rates = nothing(sides);
    for run in 0..=bench.runs {
        for ((_, server), (_, taken)) in servers.iter().zip(&mut rates) {
            let begun = Instant::now();
            generate_times(server, &upload, CALLS_OF_RUN)?;
            if run > 0 {
                taken.values.push(f64::from(CALLS_OF_RUN) / begun.elapsed().as_secs_f64());
            }
        }
    }
    Ok(vec![finding("calls", Unit::CallsPerSecond, rates, Aim::Bound(Target::AtLeast(200.0)))])
}

fn start(bench: &Bench, sides: &[Side<'_>]) -> Findings {
    let plugin = cat_plugin(bench.place.path())?;
    let mut ready = nothing(sides);
    let mut idle = nothing(sides);
    for run in 0..=bench.runs {
        for ((side, (_, ready)), (_, idle)) in sides.iter().zip(&mut ready).zip(&mut idle) {
            let server = side.start(bench, &plugin)?;
            if run > 0 {
                ready.values.push(milliseconds(server.ready));
                idle.values.push(mebibytes(server.look()?.resident_bytes));
            }
        }
    }
    let most = |most| Aim::Bound(Target::AtMost(most));
    Ok(vec![
        finding("until ready", Unit::Milliseconds, ready, most(30.0)),
        finding("idle memory with children", Unit::Mebibytes, idle, most(15.0)),
    ])
}

/// Resources of a server at one time.
struct Held {
    look: Look,
    entries: u64,
}

impl Held {
    /// Files and directories, descriptors, threads, processes.
    fn counts(&self) -> [u64; 4] {
        [self.entries, self.look.descriptors, self.look.threads, self.look.descendants + self.look.zombies]
    }
}

fn left(bench: &Bench, sides: &[Side<'_>]) -> Findings {
    let upload = bench.upload(Contents::of(FEW_FILES))?;
    let mut more = Vec::new();
    for (name, server) in started(bench, sides, ECHO)? {
        generate_times(&server, &upload, CALLS_BEFORE_COUNTING)?;
        let before = settled(&server, None)?;
        generate_times(&server, &upload, bench.calls)?;
        let after = settled(&server, Some(&before))?;
        let counts = after.counts().into_iter().zip(before.counts());
        let mut values: Vec<f64> = counts.map(|(after, before)| float(after) - float(before)).collect();
        values.push(mebibytes(after.look.resident_bytes) - mebibytes(before.look.resident_bytes));
        more.push((name, values));
    }
    let columns = ["files and folders", "descriptors", "threads", "processes", "memory"];
    let findings = columns.into_iter().enumerate().map(|(column, what)| {
        let is_memory = column == columns.len() - 1;
        let unit = if is_memory { Unit::Mebibytes } else { Unit::Count };
        let aim = if is_memory { Aim::None } else { NOTHING_MORE };
        let taken = more.iter().map(|(name, values)| (*name, Taken::of(vec![values[column]]))).collect();
        finding(format!("{what} more after {} calls", bench.calls), unit, taken, aim)
    });
    Ok(findings.collect())
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
            held.counts().iter().zip(before.counts()).all(|(now, before)| *now <= before)
        });
        if is_settled || begun.elapsed() > SETTLE_MAX {
            return Ok(held);
        }
        pause(Duration::from_millis(200));
    }
}

fn started(bench: &Bench, sides: &[Side<'_>], plugin: &str) -> Result<Vec<(&'static str, Server)>, Failure> {
    sides.iter().map(|side| Ok((side.name, side.start(bench, plugin)?))).collect()
}

/// No figure yet of any side.
fn nothing(sides: &[Side<'_>]) -> Vec<(&'static str, Taken)> {
    sides.iter().map(|side| (side.name, Taken::default())).collect()
}

fn finding(what: impl Into<String>, unit: Unit, taken: Vec<(&'static str, Taken)>, aim: Aim) -> Finding {
    Finding { what: what.into(), unit, taken, aim }
}
