//! `cargo xtask soak`: whether a plugin server keeps anything, while for minutes it is called in every way that good and bad callers
//! and plugins have.
//!
//! Every second it is looked at: descriptors, threads, processes, what is below its work folder, memory. A quantity that grows after the
//! warm-up by more than its allowance fails the soak and is named, and so does a call that ends otherwise than it should. Not part of
//! the gate: it needs minutes, and a machine that is not busy with something else.

mod mix;
mod series;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::Failure;
use crate::bench::place::Place;
use crate::build::{LinkingOption, Profile, build};
use crate::plugin_server::pause;
use crate::plugin_server::process::{Look, occupied};
use crate::plugin_server::running::{Rights, Server, Start, named};
use mix::Mix;
use series::{Growth, QUANTITIES};

/// Callers at the same time.
const CALLERS: usize = 8;

/// How often the server is looked at.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// The part of the time after which nothing may grow any more.
const WARM_UP_PART: u32 = 3;

/// How long after the last call processes may still be ending.
const SETTLE_MAX: Duration = Duration::from_mins(1);

/// Arguments of `cargo xtask soak`.
#[derive(clap::Args, Debug)]
pub(crate) struct Options {
    /// How long it takes, of which a third is to warm up
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u16).range(1..))]
    minutes: u16,

    /// Soak this program instead of the release build
    #[arg(long, value_name = "FILE")]
    program: Option<PathBuf>,

    /// One more argument of the server (repeatable)
    #[arg(long, value_name = "ARGUMENT", allow_hyphen_values = true)]
    argument: Vec<String>,
}

/// Calls the server for the time that was asked for, and prints what it held.
pub(crate) fn run(root: &Path, options: &Options) -> Result<(), Failure> {
    let program = match &options.program {
        Some(program) => program.clone(),
        None => build(root, Profile::Release, LinkingOption::default().get())?,
    };
    let place = Place::make()?;
    let mix = Mix::new(place.path())?;
    let arguments: Vec<&str> =
        mix::SERVER_ARGUMENTS.iter().copied().chain(options.argument.iter().map(String::as_str)).collect();
    let start = Start {
        program: &named(&program, &place.path().join("bin"))?,
        arguments: &arguments,
        rights: Rights::Own,
        folder: place.path().join("server"),
        plugin: mix.plugin(),
    };
    let server = start.start()?;
    let idle = server.look()?;
    let time = Duration::from_mins(u64::from(options.minutes));
    println!("calling {CALLERS} at a time for {} minutes", options.minutes);
    let (samples, calls) = sampled(&server, &mix, time)?;
    println!("{}", calls.table());
    let after_warm_up: Vec<&Sample> =
        samples.iter().filter(|sample| sample.at >= time / WARM_UP_PART).collect();
    let growths: Vec<Growth> =
        QUANTITIES.iter().map(|quantity| Growth::of(quantity, &after_warm_up)).collect();
    println!("{}", series::table(&growths));
    let mut problems: Vec<String> = growths.iter().filter_map(Growth::problem).collect();
    problems.extend(calls.problems());
    problems.extend(left_over(&server, &idle)?);
    if problems.is_empty() {
        return Ok(());
    }
    Err(server.failure(&problems.join("\n")))
}

/// One look at a time after the beginning.
#[derive(Clone, Copy, Debug)]
struct Sample {
    at: Duration,
    look: Look,
    entries: u64,
    bytes: u64,
}

/// Calls the server from several threads, and looks at it meanwhile.
fn sampled(server: &Server, mix: &Mix, time: Duration) -> Result<(Vec<Sample>, mix::Tally), Failure> {
    let begun = Instant::now();
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        let callers: Vec<_> = (0..CALLERS)
            .map(|number| {
                let stop = &stop;
                scope.spawn(move || mix.call_until(server, number, stop))
            })
            .collect();
        let mut samples = Vec::new();
        let mut looked = Ok(());
        while begun.elapsed() < time {
            pause(LOOK_EVERY);
            match sample(server, begun) {
                Ok(sample) => samples.push(sample),
                Err(failure) => {
                    looked = Err(failure);
                    break;
                }
            }
        }
        stop.store(true, Ordering::Relaxed);
        let mut calls = mix::Tally::default();
        for caller in callers {
            calls.join(caller.join().map_err(|_| Failure::new("a caller's thread failed"))?);
        }
        looked.map(|()| (samples, calls))
    })
}

fn sample(server: &Server, begun: Instant) -> Result<Sample, Failure> {
    let look = server.look()?;
    let (entries, bytes) = occupied(&server.work_folder());
    Ok(Sample { at: begun.elapsed(), look, entries, bytes })
}

/// What is still there after the last call that was not there before the first.
fn left_over(server: &Server, idle: &Look) -> Result<Option<String>, Failure> {
    let begun = Instant::now();
    loop {
        let look = server.look()?;
        if look.descendants <= idle.descendants && look.zombies == 0 {
            return Ok(None);
        }
        if begun.elapsed() > SETTLE_MAX {
            return Ok(Some(format!(
                "{} processes and {} zombies are left after the last call; there were {} before the first",
                look.descendants, look.zombies, idle.descendants
            )));
        }
        pause(LOOK_EVERY);
    }
}
