//! Random command lines and charts: the real helm and this crate return the same values, or the same error.
//!
//! The inputs have fixed seeds. Helm starts in a tenth of a second, so there are some dozens of each kind.

mod inputs;
mod program;

use std::error::Error;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use inputs::{ChartFolder, CommandLine, Random};
use program::{Answer, Helm};
use tiphys_helm_values::{
    Assignment, Inputs, LIMITS, Map, MergeError, Value, ValuesFile, coalesce, merged, no_files, read_values,
};

/// Number of helms that run at once.
const WORKERS: usize = 3;

/// Compares helm's answers with ours on a number of cases; `case` returns the differences of the case with this number.
fn compare(cases: usize, case: impl Fn(u64) -> Result<(), String> + Sync) {
    let next = AtomicUsize::new(0);
    let differences = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..WORKERS {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= cases {
                        return;
                    }
                    if let Err(difference) = case(number as u64) {
                        differences.lock().expect("no worker panics").push(difference);
                    }
                }
            });
        }
    });
    let differences = differences.into_inner().expect("no worker panics");
    assert!(differences.is_empty(), "{} of {cases} differ:\n{}", differences.len(), differences.join("\n"));
}

/// The values as a template prints them: as JSON and with Go's `%v`.
fn shown(values: Map) -> Answer {
    let values = Value::Map(values);
    Answer::Values { json: values.to_json(), printed: values.to_string() }
}

/// The error as Helm prints it: with its cause.
fn helm_text(error: &MergeError) -> String {
    let cause = error.source().expect("every error of merging has a cause");
    format!("{error}: {cause}")
}

fn our_values(helm: &Helm, line: &CommandLine) -> Result<Map, MergeError> {
    let files: Vec<_> =
        line.base.iter().map(|text| ValuesFile { name: "base.yaml", text: text.as_bytes() }).collect();
    let assignments: Vec<_> =
        line.assignments.iter().map(|(flag, text)| Assignment { flag: *flag, text }).collect();
    merged(&Inputs {
        version: helm.version,
        values_files: &files,
        assignments: &assignments,
        read_file: &no_files,
        limits: LIMITS,
    })
}

#[test]
fn command_lines_are_parsed_as_helm_does() {
    for helm in Helm::all() {
        compare(60, |number| {
            let line = CommandLine::random(&mut Random::new(number));
            let chart = ChartFolder::empty();
            let ours = match our_values(&helm, &line) {
                Ok(values) => shown(values),
                Err(error) => Answer::Error(helm_text(&error)),
            };
            let theirs = helm.template(&chart, &line);
            (ours == theirs).then_some(()).ok_or_else(|| format!("{line:?}:\n  {ours:?}\n  {theirs:?}"))
        });
    }
}

/// An error ends a call of helm, so each needs its own call; valid assignments share one.
#[test]
fn many_assignments_are_applied_as_helm_does() {
    const CALLS: usize = 12;
    const ASSIGNMENTS: usize = 40;

    for helm in Helm::all() {
        compare(CALLS, |number| {
            let mut random = Random::new(1_000 + number);
            let line = CommandLine::batch(&mut random, ASSIGNMENTS, |line| our_values(&helm, line).is_ok());
            let ours = our_values(&helm, &line).map(shown);
            let theirs = helm.template(&ChartFolder::empty(), &line);
            (ours.as_ref() == Ok(&theirs))
                .then_some(())
                .ok_or_else(|| format!("{line:?}:\n  {ours:?}\n  {theirs:?}"))
        });
    }
}

#[test]
fn values_of_charts_and_subcharts_equal_those_of_helm() {
    for helm in Helm::all() {
        compare(50, |number| {
            let mut random = Random::new(number);
            let chart = ChartFolder::random(&mut random);
            let line = CommandLine { base: Some(random.values(3)), assignments: Vec::new() };
            let user = read_values(line.base.as_deref().unwrap_or_default().as_bytes(), helm.version)
                .expect("the random values are YAML");
            let ours = match coalesce(&chart.chart(helm.version), user, helm.version) {
                Ok(values) => shown(values),
                Err(error) => Answer::Error(error.to_string()),
            };
            let theirs = helm.template(&chart, &line);
            (ours == theirs)
                .then_some(())
                .ok_or_else(|| format!("{chart:?} {line:?}:\n  {ours:?}\n  {theirs:?}"))
        });
    }
}
