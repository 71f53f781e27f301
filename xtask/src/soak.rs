//! `cargo xtask soak`: tests for minutes whether a plugin server leaks resources under all kinds of valid and invalid calls.
//!
//! Every second it counts descriptors, threads, processes, files below the work directory, and memory. A quantity that grows after the
//! warm-up by more than its allowance fails the soak, and so does a call with an unexpected outcome. Not part of the gate: it needs
//! minutes and an idle machine. `cargo xtask soak inputs` tests a property with many cases instead.

mod inputs;
mod mix;
mod series;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::bench::place;
use crate::build::{LinkingOption, Profile, build};
use crate::plugin_server::call::Client;
use crate::plugin_server::pause;
use crate::plugin_server::process::{Look, occupied};
use crate::plugin_server::running::{Rights, Server, Start, named};
use crate::{Failure, e2e};
use mix::Mix;
use series::{Growth, QUANTITIES};

/// Callers at the same time.
const CALLERS: usize = 8;

/// Time between two samples.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// The warm-up is the total time divided by this.
const WARM_UP_PART: u32 = 3;

/// How long after the last call processes may still end.
const SETTLE_MAX: Duration = Duration::from_mins(1);

/// What runs for minutes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Subject {
    /// A plugin server under calls
    Server,
    /// A million random repositories: equal inputs mean equal results
    Inputs,
}

/// Arguments of `cargo xtask soak`.
#[derive(clap::Args, Debug)]
pub(crate) struct Options {
    /// What to test; the other arguments are about the server
    #[arg(value_enum, default_value_t = Subject::Server)]
    subject: Subject,

    /// Duration, of which a third is the warm-up
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u16).range(1..))]
    minutes: u16,

    /// Soak this program instead of the release build
    #[arg(long, value_name = "FILE")]
    program: Option<PathBuf>,

    /// One more argument of the server (repeatable)
    #[arg(long, value_name = "ARGUMENT", allow_hyphen_values = true)]
    argument: Vec<String>,
}

/// Tests the requested subject.
pub(crate) fn run(root: &Path, options: &Options) -> Result<(), Failure> {
    match options.subject {
        Subject::Server => run_server(root, options),
        Subject::Inputs => inputs::run(root),
    }
}

/// Calls the server for the requested time, and prints the resources that it used.
fn run_server(root: &Path, options: &Options) -> Result<(), Failure> {
    let program = match &options.program {
        Some(program) => program.clone(),
        None => build(root, Profile::Release, LinkingOption::default().get())?,
    };
    let place = place::make()?;
    let mix = Mix::new(place.path())?;
    let arguments: Vec<&str> =
        mix::SERVER_ARGUMENTS.iter().copied().chain(options.argument.iter().map(String::as_str)).collect();
    let client = e2e::client(root)?;
    let start = Start {
        program: &named(&program, &place.path().join("bin"))?,
        client: &client,
        arguments: &arguments,
        rights: Rights::Own,
        folder: place.path().join("server"),
        plugin: &mix.plugin,
    };
    let server = start.start()?;
    // After runs at once the server keeps its maximum of spare launchers. It starts them in the background.
    mix.run_at_once(&Client::start(&client, &server.socket())?, CALLERS)?;
    pause(LOOK_EVERY);
    let idle = server.look()?;
    let time = Duration::from_mins(u64::from(options.minutes));
    println!("calling {CALLERS} at a time for {} minutes", options.minutes);
    let samples = sampled(&server, &client, &mix, time)?;
    let (table, mut problems) = mix.summary();
    println!("{table}");
    let after_warm_up: Vec<&Sample> =
        samples.iter().filter(|sample| sample.at >= time / WARM_UP_PART).collect();
    let growths: Vec<Growth> =
        QUANTITIES.iter().map(|quantity| Growth::of(quantity, &after_warm_up)).collect();
    println!("{}", series::table(&growths));
    problems.extend(growths.iter().filter_map(Growth::problem));
    problems.extend(left_over(&server, &idle)?);
    if problems.is_empty() {
        return Ok(());
    }
    Err(server.failure(&problems.join("\n")))
}

/// The resources of the server at one time after the start.
#[derive(Clone, Copy, Debug)]
struct Sample {
    at: Duration,
    look: Look,
    entries: u64,
    bytes: u64,
}

/// Calls the server from several threads, and takes samples meanwhile.
fn sampled(server: &Server, client: &Path, mix: &Mix, time: Duration) -> Result<Vec<Sample>, Failure> {
    let clients: Vec<Client> =
        (0..CALLERS).map(|_| Client::start(client, &server.socket())).collect::<Result<_, _>>()?;
    let begun = Instant::now();
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        for (number, client) in clients.iter().enumerate() {
            let stop = &stop;
            scope.spawn(move || mix.call_until(client, number, stop));
        }
        let next = || {
            pause(LOOK_EVERY);
            sample(server, begun)
        };
        let samples = std::iter::repeat_with(next).take_while(|_| begun.elapsed() < time).collect();
        stop.store(true, Ordering::Relaxed);
        samples
    })
}

fn sample(server: &Server, begun: Instant) -> Result<Sample, Failure> {
    let look = server.look()?;
    let (entries, bytes) = occupied(&server.work_folder());
    Ok(Sample { at: begun.elapsed(), look, entries, bytes })
}

/// Reports processes that remain after the last call.
fn left_over(server: &Server, idle: &Look) -> Result<Option<String>, Failure> {
    let begun = Instant::now();
    loop {
        let look = server.look()?;
        if look.descendants <= idle.descendants && look.zombies == 0 {
            return Ok(None);
        }
        if begun.elapsed() > SETTLE_MAX {
            return Ok(Some(format!(
                "{} processes and {} zombies remain after the last call; {} ran before the first",
                look.descendants, look.zombies, idle.descendants
            )));
        }
        pause(LOOK_EVERY);
    }
}
