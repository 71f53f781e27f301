//! The rows of issue 5's table "Measured".

use std::rc::Rc;
use std::thread;
use std::time::{Duration, Instant};

use super::super::figures::{Target, Unit};
use super::Bench;
use super::ratio::Aim;
use super::side::{Finding, NOTHING_MORE, Side, Taken, in_turn, mebibytes, milliseconds};
use crate::Failure;
use crate::plugin_server::archive::{Contents, Index};
use crate::plugin_server::call::{Outcome, Upload};
use crate::plugin_server::pause;
use crate::plugin_server::process::{Look, occupied};
use crate::plugin_server::running::{Server, cat_plugin};

/// Files of the large and of the small tree.
const FILES: usize = 10_000;
const FEW_FILES: usize = 100;

/// Argo CD's server on such a machine (`spec/baseline.md` section 1), in milliseconds and mebibytes.
const BASELINE_MS: f64 = 474.0;
const BASELINE_BURST_MS: f64 = 4_957.0;
const BASELINE_FEW_MS: f64 = 6.4;

/// Calls at once in a burst.
const BURST: usize = 16;

/// A burst takes seconds, and its server is fresh each time.
const BURST_RUNS_MAX: usize = 5;

/// Small calls are quick, so each run is of several.
const CALLS_OF_RUN: u32 = 200;

/// Runs of a call with few files for each run of one with many.
const FEW_FILES_RUNS: usize = 10;

/// Calls that a server gets before what it keeps is counted.
const CALLS_BEFORE_COUNTING: u32 = 200;

/// How long after the last call things may still go: threads that wait for more work, processes that end.
const SETTLE_MAX: Duration = Duration::from_secs(30);

/// A plugin that only prints.
const ECHO: &str = "  generate:\n    command: [echo, '{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"a\"}}']\n";

/// Something that is measured.
pub(super) struct Row {
    /// Its name, for `--only`.
    pub(super) name: &'static str,
    /// What it is, for people.
    pub(super) about: &'static str,
    /// Whether it is another figure where plugins get copies.
    pub(super) depends_on_view: bool,
    pub(super) measure: fn(&Bench, &[Side<'_>]) -> Result<Vec<Finding>, Failure>,
}

/// All rows, in the order in which they are measured.
pub(super) const ROWS: [Row; 10] = [
    row("unseen", "one call, 10,000 files that the server has not seen", unseen),
    row("identical", "one call, the same bytes again", identical),
    row("again", "one call, the same files packed again, with other times", again),
    row("index", "the same with a .git/index that the checkout wrote anew", index),
    row("burst", "16 identical calls at once into a fresh server", burst),
    row("small-unseen", "one call, 100 files that the server has not seen", few_unseen),
    row("small", "one call, the same 100 files again", few),
    row("calls", "calls one after another, 100 files, a plugin that only prints", calls),
    Row {
        depends_on_view: false,
        ..row("start", "from the start to the first answer, and idle memory", start)
    },
    Row { depends_on_view: false, ..row("left", "what is left after many calls", left) },
];

const fn row(
    name: &'static str,
    about: &'static str,
    measure: fn(&Bench, &[Side<'_>]) -> Result<Vec<Finding>, Failure>,
) -> Row {
    Row { name, about, depends_on_view: true, measure }
}

fn unseen(bench: &Bench, sides: &[Side<'_>]) -> Result<Vec<Finding>, Failure> {
    let uploads = uploads(bench, bench.runs, |run| Contents { seed: run, ..contents(FILES) })?;
    let aim = Aim::Part { baseline: BASELINE_MS, one_in: 2.0, one_in_with_copies: 2.0 };
    one_call(bench, sides, &uploads, aim)
}

fn identical(bench: &Bench, sides: &[Side<'_>]) -> Result<Vec<Finding>, Failure> {
    let upload = bench.upload(contents(FILES))?;
    let aim = Aim::Part { baseline: BASELINE_MS, one_in: 6.0, one_in_with_copies: 2.0 };
    one_call(bench, sides, &vec![upload; bench.runs + 1], aim)
}

fn again(bench: &Bench, sides: &[Side<'_>]) -> Result<Vec<Finding>, Failure> {
    let uploads =
        uploads(bench, bench.runs, |run| Contents { modified: 1_700_000_000 + run, ..contents(FILES) })?;
    let aim = Aim::Part { baseline: BASELINE_MS, one_in: 4.0, one_in_with_copies: 2.0 };
    one_call(bench, sides, &uploads, aim)
}

fn index(bench: &Bench, sides: &[Side<'_>]) -> Result<Vec<Finding>, Failure> {
    let uploads = uploads(bench, bench.runs, |run| Contents {
        modified: 1_700_000_000 + run,
        index: Index::Checkout(run),
        ..contents(FILES)
    })?;
    let aim = Aim::Part { baseline: BASELINE_MS, one_in: 4.0, one_in_with_copies: 2.0 };
    one_call(bench, sides, &uploads, aim)
}

fn few_unseen(bench: &Bench, sides: &[Side<'_>]) -> Result<Vec<Finding>, Failure> {
    let uploads =
        uploads(bench, bench.runs * FEW_FILES_RUNS, |run| Contents { seed: run, ..contents(FEW_FILES) })?;
    one_call(bench, sides, &uploads, few_aim())
}

fn few(bench: &Bench, sides: &[Side<'_>]) -> Result<Vec<Finding>, Failure> {
    let upload = bench.upload(contents(FEW_FILES))?;
    one_call(bench, sides, &vec![upload; bench.runs * FEW_FILES_RUNS + 1], few_aim())
}

fn few_aim() -> Aim {
    Aim::Part { baseline: BASELINE_FEW_MS, one_in: 2.0, one_in_with_copies: 2.0 }
}

/// One call for each upload into a server that runs already.
fn one_call(
    bench: &Bench,
    sides: &[Side<'_>],
    uploads: &[Rc<Upload>],
    aim: Aim,
) -> Result<Vec<Finding>, Failure> {
    let servers = started(bench, sides, &cat_plugin(bench.place.path())?)?;
    let uploads: Vec<&Upload> = uploads.iter().map(Rc::as_ref).collect();
    let taken = in_turn(&servers, &uploads)?;
    let peaks = servers
        .iter()
        .map(|(name, server)| Ok((*name, Taken::of(vec![mebibytes(server.look()?.peak_bytes)]))))
        .collect::<Result<_, Failure>>()?;
    Ok(vec![
        Finding { what: "call".to_owned(), unit: Unit::Milliseconds, taken, aim },
        Finding { what: "peak memory".to_owned(), unit: Unit::Mebibytes, taken: peaks, aim: Aim::None },
    ])
}

fn burst(bench: &Bench, sides: &[Side<'_>]) -> Result<Vec<Finding>, Failure> {
    let upload = bench.upload(contents(FILES))?;
    let plugin = cat_plugin(bench.place.path())?;
    let mut walls: Vec<_> = sides.iter().map(|side| (side.name, Taken::default())).collect();
    let mut peaks = walls.clone();
    for _ in 0..bench.runs.min(BURST_RUNS_MAX) {
        for ((side, (_, walls)), (_, peaks)) in sides.iter().zip(&mut walls).zip(&mut peaks) {
            let server = side.start(bench, &plugin)?;
            let before = server.look()?.processor_time;
            let begun = Instant::now();
            at_once(&server, &upload)?;
            walls.values.push(milliseconds(begun.elapsed()));
            let after = server.look()?;
            peaks.values.push(mebibytes(after.peak_bytes));
            walls.processor_ms = Some(milliseconds(after.processor_time.saturating_sub(before)));
        }
    }
    let aim = Aim::Part { baseline: BASELINE_BURST_MS, one_in: 8.0, one_in_with_copies: 2.0 };
    Ok(vec![
        Finding { what: format!("{BURST} calls"), unit: Unit::Milliseconds, taken: walls, aim },
        Finding {
            what: "peak memory".to_owned(),
            unit: Unit::Mebibytes,
            taken: peaks,
            aim: Aim::Bound(Target::AtMost(100.0)),
        },
    ])
}

/// Makes all calls of a burst, and waits for the last answer.
fn at_once(server: &Server, upload: &Upload) -> Result<(), Failure> {
    thread::scope(|scope| {
        let calls: Vec<_> = (0..BURST).map(|_| scope.spawn(|| server.generate(upload))).collect();
        let outcomes = calls
            .into_iter()
            .map(|call| call.join().unwrap_or_else(|_| Err(Failure::new("a call's thread failed"))));
        outcomes.collect::<Result<Vec<Outcome>, Failure>>().map(drop)
    })
}

fn calls(bench: &Bench, sides: &[Side<'_>]) -> Result<Vec<Finding>, Failure> {
    let upload = bench.upload(contents(FEW_FILES))?;
    let servers = started(bench, sides, ECHO)?;
    let mut rates: Vec<_> = servers.iter().map(|(name, _)| (*name, Taken::default())).collect();
    for run in 0..=bench.runs {
        for ((_, server), (_, taken)) in servers.iter().zip(&mut rates) {
            let begun = Instant::now();
            for _ in 0..CALLS_OF_RUN {
                server.generate(&upload)?;
            }
            if run > 0 {
                taken.values.push(f64::from(CALLS_OF_RUN) / begun.elapsed().as_secs_f64());
            }
        }
    }
    let aim = Aim::Bound(Target::AtLeast(200.0));
    Ok(vec![Finding { what: "calls".to_owned(), unit: Unit::CallsPerSecond, taken: rates, aim }])
}

fn start(bench: &Bench, sides: &[Side<'_>]) -> Result<Vec<Finding>, Failure> {
    let plugin = cat_plugin(bench.place.path())?;
    let mut ready: Vec<_> = sides.iter().map(|side| (side.name, Taken::default())).collect();
    let mut idle = ready.clone();
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
        Finding { what: "until ready".to_owned(), unit: Unit::Milliseconds, taken: ready, aim: most(30.0) },
        Finding {
            what: "idle memory with children".to_owned(),
            unit: Unit::Mebibytes,
            taken: idle,
            aim: most(15.0),
        },
    ])
}

/// What a server holds at one time.
struct Held {
    look: Look,
    entries: u64,
}

fn left(bench: &Bench, sides: &[Side<'_>]) -> Result<Vec<Finding>, Failure> {
    let upload = bench.upload(contents(FEW_FILES))?;
    let servers = started(bench, sides, ECHO)?;
    let mut more: Vec<(&'static str, [f64; 5])> = Vec::new();
    for (name, server) in &servers {
        generate_times(server, &upload, CALLS_BEFORE_COUNTING)?;
        let before = settled(server, None)?;
        generate_times(server, &upload, bench.calls)?;
        let after = settled(server, Some(&before))?;
        let change = |count: fn(&Held) -> u64| count_of(count(&after)) - count_of(count(&before));
        more.push((
            name,
            [
                change(|held| held.entries),
                change(|held| held.look.descriptors),
                change(|held| held.look.threads),
                change(|held| held.look.descendants + held.look.zombies),
                mebibytes(after.look.resident_bytes) - mebibytes(before.look.resident_bytes),
            ],
        ));
    }
    let columns = [
        ("files and folders more", Unit::Count, NOTHING_MORE),
        ("descriptors more", Unit::Count, NOTHING_MORE),
        ("threads more", Unit::Count, NOTHING_MORE),
        ("processes more", Unit::Count, NOTHING_MORE),
        ("memory more", Unit::Mebibytes, Aim::None),
    ];
    Ok(columns
        .into_iter()
        .enumerate()
        .map(|(column, (what, unit, aim))| Finding {
            what: format!("{what} after {} calls", bench.calls),
            unit,
            taken: more.iter().map(|(name, values)| (*name, Taken::of(vec![values[column]]))).collect(),
            aim,
        })
        .collect())
}

fn generate_times(server: &Server, upload: &Upload, calls: u32) -> Result<(), Failure> {
    (0..calls).try_for_each(|_| server.generate(upload).map(drop))
}

/// Looks at a server when no call runs: until it holds no more than before, or until it had the time to let go.
fn settled(server: &Server, before: Option<&Held>) -> Result<Held, Failure> {
    let begun = Instant::now();
    loop {
        let held = Held { look: server.look()?, entries: occupied(&server.work_folder()).0 };
        let is_settled = before.is_some_and(|before| {
            held.entries <= before.entries
                && held.look.descriptors <= before.look.descriptors
                && held.look.threads <= before.look.threads
                && held.look.descendants + held.look.zombies <= before.look.descendants
        });
        if is_settled || begun.elapsed() > SETTLE_MAX {
            return Ok(held);
        }
        pause(Duration::from_millis(200));
    }
}

#[expect(clippy::cast_precision_loss, reason = "a figure for people")]
fn count_of(count: u64) -> f64 {
    count as f64
}

fn started(bench: &Bench, sides: &[Side<'_>], plugin: &str) -> Result<Vec<(&'static str, Server)>, Failure> {
    sides.iter().map(|side| Ok((side.name, side.start(bench, plugin)?))).collect()
}

fn contents(files: usize) -> Contents {
    Contents { files, seed: 0, modified: 1_700_000_000, index: Index::Absent }
}

/// Uploads of one run to warm up and of all others.
fn uploads(
    bench: &Bench,
    runs: usize,
    contents: impl Fn(u64) -> Contents,
) -> Result<Vec<Rc<Upload>>, Failure> {
    (0..=runs as u64).map(|run| bench.upload(contents(run))).collect()
}
