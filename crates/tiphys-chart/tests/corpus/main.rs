//! Charts as this crate renders them, and the real `helm` of both versions.
//!
//! `CORPUS=DIR:DIR` names folders with charts (`cargo xtask corpus`); otherwise the charts of `testdata` are rendered. Each chart is rendered
//! with its defaults, with its `ci/*-values.yaml`, and with random changes of its values: `CHANGES` of them, with the seeds from `SEED` on.

mod charts;
mod outcome;
mod values;

use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use charts::{Case, cases};
use outcome::{Outcome, compare};
use tiphys_helm_values::HelmVersion;

/// Number of helms that run at once.
const WORKERS: usize = 2;

/// Random changes of the values of each chart.
const CHANGES: u64 = 1;

#[test]
#[expect(clippy::disallowed_methods, reason = "a person selects charts with variables")]
fn charts_render_as_with_helm() {
    let roots = std::env::var("CORPUS").ok();
    let own = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("testdata/charts");
    let roots: Vec<PathBuf> = match &roots {
        Some(roots) => roots.split(':').map(PathBuf::from).collect(),
        None => vec![own],
    };
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let (changes, seed) = (number("CHANGES").unwrap_or(CHANGES), number("SEED").unwrap_or(0));
    let cases: Vec<Case> = cases(&roots, seed..seed + changes);
    assert!(!cases.is_empty(), "no chart in {roots:?}");
    for (name, version) in [("Helm 4", HelmVersion::V4), ("Helm 3", HelmVersion::V3)] {
        let outcomes = compare_all(&cases, version);
        let count = |is: fn(&Outcome) -> bool| outcomes.iter().filter(|(_, outcome)| is(outcome)).count();
        for (case, outcome) in &outcomes {
            match outcome {
                Outcome::Equal | Outcome::EqualErrors => {}
                outcome => println!("{name}: {case}: {outcome}"),
            }
        }
        println!(
            "{name}: {} renders: {} equal, {} equal errors, {} left to helm, {} random in helm, {} different",
            outcomes.len(),
            count(|outcome| matches!(outcome, Outcome::Equal)),
            count(|outcome| matches!(outcome, Outcome::EqualErrors)),
            count(|outcome| matches!(outcome, Outcome::LeftToHelm(_))),
            count(|outcome| matches!(outcome, Outcome::Random)),
            count(|outcome| matches!(outcome, Outcome::Different(_))),
        );
        let different = outcomes.iter().filter(|(_, outcome)| matches!(outcome, Outcome::Different(_)));
        let different: Vec<&str> = different.map(|(case, _)| case.as_str()).collect();
        assert!(different.is_empty(), "{name}: {} differ: {different:#?}", different.len());
        let rendered = count(|outcome| matches!(outcome, Outcome::Equal | Outcome::EqualErrors));
        assert!(rendered * 5 > outcomes.len() * 4, "{rendered} of {} are rendered", outcomes.len());
    }
}

/// Compares all cases, and returns them in order.
fn compare_all(cases: &[Case], version: HelmVersion) -> Vec<(String, Outcome)> {
    let next = AtomicUsize::new(0);
    let outcomes = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..WORKERS {
            scope.spawn(|| {
                while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let outcome = compare(case, version);
                    outcomes.lock().expect("no worker panics").push((case.to_string(), outcome));
                }
            });
        }
    });
    let mut outcomes = outcomes.into_inner().expect("no worker panics");
    outcomes.sort_by(|one, other| one.0.cmp(&other.0));
    outcomes
}
