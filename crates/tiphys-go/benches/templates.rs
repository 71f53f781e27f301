//! Measures templates as `e2e/templates` does, for `bench/run.py templates`: reads a JSON list of templates with their data from a file, and
//! prints a JSON list of the nanoseconds to parse and execute each.

#![expect(clippy::print_stdout, reason = "the figures are its output")]

use std::error::Error;
use std::time::{Instant, SystemTime};

use serde_json::Value as Json;
use tiphys_go::gotemplate::{Limits, MissingKey, Options, Template, Value};

/// Measured batches of each template, and the repetitions in each of them.
const BATCHES: u32 = 3;
const REPETITIONS: u32 = 100;

fn main() -> Result<(), Box<dyn Error>> {
    // Cargo passes `--bench`, and runs all benches of `cargo test --benches` without a file.
    let Some(file) = std::env::args().skip(1).find(|argument| !argument.starts_with('-')) else {
        return Ok(());
    };
    let all: Vec<Json> = serde_json::from_slice(&std::fs::read(file)?)?;
    let times = all.iter().map(measured).collect::<Result<Vec<_>, _>>()?;
    println!("{}", Json::from(times));
    Ok(())
}

/// Returns the nanoseconds of one repetition in the fastest batch.
fn measured(one: &Json) -> Result<u64, Box<dyn Error>> {
    let text = |key: &str| one[key].as_str().unwrap_or_default();
    let maps: Vec<&str> =
        one["stringMaps"].as_array().into_iter().flatten().filter_map(Json::as_str).collect();
    let data = Value::from_json(&one["data"], &maps);
    let mut options = Options::new(SystemTime::UNIX_EPOCH, 1);
    options.missing_key = MissingKey::parse(&[format!("missingkey={}", text("missingKey"))])?;
    let mut best = u128::MAX;
    for _ in 0..BATCHES {
        let begun = Instant::now();
        for _ in 0..REPETITIONS {
            Template::parse("base", text("template"), Limits::DEFAULT)?.execute(&data, &options)?;
        }
        best = best.min(begun.elapsed().as_nanos() / u128::from(REPETITIONS));
    }
    Ok(u64::try_from(best)?)
}
