//! Measures calls of the plugin server, in turn with another program that accepts Argo CD's flags:
//! `cargo bench -p tiphys-cmp --bench server -- --program FILE [--against FILE] [--runs N]`.
//!
//! Both programs receive the same archives in the same order from the grpc-go client in `e2e`. Their files are on a memory file system. A
//! missed target is printed and does not fail the run, because a busy machine misses all of them.

#![expect(clippy::print_stdout, reason = "the figures are its output")]
#![expect(
    clippy::disallowed_methods,
    reason = "a program of its own starts servers and reads its environment"
)]

mod archive;
mod server;

use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

use archive::{Contents, Upload};
use server::Server;

/// Files of the large and of the small tree.
const FILES: usize = 10_000;
const FEW_FILES: usize = 100;

/// Runs of a call with few files for each run of one with many.
const FEW_FILES_RUNS: usize = 10;

/// Calls at once in a burst. It takes seconds, and each needs a fresh server.
const BURST: usize = 16;
const BURST_RUNS_MAX: usize = 5;

/// Limits of the memory of our server, in MiB: after the start with its launchers, and the peak of a burst.
const IDLE_MEBIBYTES_MAX: f64 = 15.0;
const BURST_MEBIBYTES_MAX: f64 = 100.0;

/// A row with one call in each run.
struct CallRow {
    what: &'static str,
    files: usize,
    /// The target: the largest ratio to the other program.
    ratio_max: f64,
    /// The archive of a run.
    contents: fn(u64) -> Contents,
}

const fn row(what: &'static str, files: usize, ratio_max: f64, contents: fn(u64) -> Contents) -> CallRow {
    CallRow { what, files, ratio_max, contents }
}

const CALLS: [CallRow; 5] = [
    row("10,000 files that were not seen before", FILES, 1.0 / 2.0, |run| Contents::of(FILES).seeded(run)),
    row("identical bytes again", FILES, 1.0 / 6.0, |_| Contents::of(FILES)),
    row("the same files packed again, other times", FILES, 1.0 / 4.0, |run| Contents::of(FILES).later(run)),
    row("100 files, seen", FEW_FILES, 1.0 / 2.0, |_| Contents::of(FEW_FILES)),
    row("100 files, not seen", FEW_FILES, 1.0 / 2.0, |run| Contents::of(FEW_FILES).seeded(run)),
];

/// The programs, ours first, and the directory of all files.
struct Bench {
    place: TempDir,
    client: PathBuf,
    programs: Vec<PathBuf>,
    runs: usize,
}

/// The values of one program in all runs, and the mean of its processor time in milliseconds.
#[derive(Default)]
struct Figure {
    values: Vec<f64>,
    processor_ms: f64,
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let value = |name: &str| {
        let at = arguments.iter().position(|argument| argument == name);
        at.and_then(|at| arguments.get(at + 1))
    };
    // Cargo runs all benches of `cargo test --benches` without arguments.
    let Some(program) = value("--program") else { return };
    let runs = value("--runs").map_or(11, |runs| runs.parse().expect("--runs must be a number"));
    let place = TempDir::new_in("/dev/shm").expect("a directory on a memory file system");
    let programs = [Some(program), value("--against")].into_iter().flatten().enumerate();
    let programs =
        programs.map(|(index, program)| server::named(program, &place.path().join(index.to_string())));
    let bench = Bench { programs: programs.collect(), client: client(place.path()), place, runs };
    println!("load {} before, {runs} runs", load());
    println!("| milliseconds | min | median | max | cpu | the other, median | cpu | ratio | target | |");
    println!("|---|---:|---:|---:|---:|---:|---:|---:|---:|---|");
    for row in &CALLS {
        print(row.what, &bench.calls(row), Some(row.ratio_max), None);
    }
    let [times, peaks] = bench.bursts();
    print("16 identical at once, fresh server", &times, Some(1.0 / 8.0), None);
    print("the same, peak memory, MiB", &peaks, None, Some(BURST_MEBIBYTES_MAX));
    print("idle memory with waiting launchers, MiB", &bench.idle(), None, Some(IDLE_MEBIBYTES_MAX));
    println!("load {} after", load());
}

impl Bench {
    fn start(&self, index: usize) -> Server {
        Server::start(&self.programs[index], &self.client, &self.place.path().join(format!("server-{index}")))
    }

    fn servers(&self) -> Vec<Server> {
        (0..self.programs.len()).map(|index| self.start(index)).collect()
    }

    fn upload(&self, contents: Contents) -> Upload {
        Upload::write(&self.place.path().join("archives"), contents)
    }

    /// One call of each program in each run. The first run is to warm up.
    fn calls(&self, row: &CallRow) -> Vec<Figure> {
        let runs = if row.files == FEW_FILES { self.runs * FEW_FILES_RUNS } else { self.runs };
        let uploads: Vec<Upload> = (0..=runs as u64).map(|run| self.upload((row.contents)(run))).collect();
        let servers = self.servers();
        let call =
            |upload: &Upload| servers.iter().map(|server| server.generate(upload, 1)).collect::<Vec<_>>();
        call(&uploads[0]);
        let before: Vec<f64> = servers.iter().map(|server| server.look().processor_ms).collect();
        let times: Vec<Vec<f64>> = uploads[1..].iter().map(call).collect();
        let figure = |(index, before): (usize, f64)| Figure {
            values: times.iter().map(|run| run[index]).collect(),
            processor_ms: (servers[index].look().processor_ms - before) / number(runs),
        };
        before.into_iter().enumerate().map(figure).collect()
    }

    /// Equal calls at once of fresh servers: their time, and the peak memory of the servers.
    fn bursts(&self) -> [Vec<Figure>; 2] {
        let upload = self.upload(Contents::of(FILES));
        let runs = self.runs.min(BURST_RUNS_MAX);
        let mut figures: [Vec<Figure>; 2] = Default::default();
        for _ in 0..runs {
            for index in 0..self.programs.len() {
                let server = self.start(index);
                let before = server.look().processor_ms;
                let time = server.generate(&upload, BURST);
                let look = server.look();
                add(&mut figures[0], index, time).processor_ms += (look.processor_ms - before) / number(runs);
                add(&mut figures[1], index, look.peak_mebibytes);
            }
        }
        figures
    }

    /// Memory of servers without calls.
    fn idle(&self) -> Vec<Figure> {
        let mut figures = Vec::new();
        for _ in 0..self.runs {
            for (index, server) in self.servers().iter().enumerate() {
                add(&mut figures, index, server.look().resident_mebibytes);
            }
        }
        figures
    }
}

/// Adds a value to the figure of a program.
fn add(figures: &mut Vec<Figure>, index: usize, value: f64) -> &mut Figure {
    figures.resize_with(figures.len().max(index + 1), Figure::default);
    figures[index].values.push(value);
    &mut figures[index]
}

/// Builds the grpc-go client.
fn client(folder: &Path) -> PathBuf {
    let client = folder.join("client");
    let mut go = Command::new("go");
    go.args(["build", "-o"]).arg(&client).arg(".").current_dir(tiphys_testkit::workspace_root().join("e2e"));
    assert!(go.env("GOWORK", "off").status().expect("go is installed").success(), "the client builds");
    client
}

/// Prints a row: the figure of our program, and that of the other one.
fn print(what: &str, figures: &[Figure], ratio_max: Option<f64>, mebibytes_max: Option<f64>) {
    let ours = &figures[0];
    let [min, median, max] = ours.spread().map(text);
    let other = figures.get(1);
    let ratio = other.map(|other| ours.spread()[1] / other.spread()[1]);
    let verdict = match (ratio_max.zip(ratio), mebibytes_max) {
        (Some((limit, ratio)), _) => format!("≤ {limit:.2} | {}", met(ratio <= limit)),
        (None, Some(limit)) => format!("≤ {limit} MiB | {}", met(ours.spread()[1] <= limit)),
        (None, None) => " | ".to_owned(),
    };
    let [theirs, cpu] =
        other.map_or_else(Default::default, |other| [other.spread()[1], other.processor_ms].map(text));
    let ratio = ratio.map_or_else(String::new, |ratio| format!("{ratio:.2}"));
    let own_cpu = text(ours.processor_ms);
    println!("| {what} | {min} | {median} | {max} | {own_cpu} | {theirs} | {cpu} | {ratio} | {verdict} |");
}

impl Figure {
    /// Minimum, median and maximum.
    fn spread(&self) -> [f64; 3] {
        let mut sorted = self.values.clone();
        sorted.sort_by(f64::total_cmp);
        let last = sorted.len() - 1;
        [sorted[0], f64::midpoint(sorted[last / 2], sorted[sorted.len() / 2]), sorted[last]]
    }
}

fn met(is_met: bool) -> &'static str {
    if is_met { "met" } else { "missed" }
}

fn text(value: f64) -> String {
    match value {
        0.0 => String::new(),
        100.0.. => format!("{value:.0}"),
        _ => format!("{value:.1}"),
    }
}

#[expect(clippy::cast_precision_loss, reason = "a displayed figure")]
fn number(count: usize) -> f64 {
    count as f64
}

/// The load average of the last minute.
fn load() -> String {
    let text = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split(' ').next().unwrap_or_default().to_owned()
}
