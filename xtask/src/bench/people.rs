//! What a person waits for at a terminal: a parameter is set, a word is completed.

use std::ffi::OsString;

use super::content::application_name;
use super::data::{Extent, Revision};
use super::figures::{Figure, Target, Unit};
use super::sample::{Sample, User};
use super::world::{Cache, Command, World};
use crate::Failure;

/// Applications of the store, each in a file of its own.
const APPLICATIONS: usize = 1_000;

/// Files of the repository.
const FILES: usize = 10_000;

/// Measures `params set`, each run with another value, so that every run writes.
pub(super) fn set(world: &World, case: &'static str, figures: &mut Vec<Figure>) -> Result<(), Failure> {
    let repository = world.repository(FILES)?;
    let cache = world.cache(&FILES.to_string(), User::Own)?;
    for (revision, named) in [(Revision::Commit, "commit"), (Revision::Branch, "branch")] {
        let store = world.store(&repository, APPLICATIONS, "nothing", (revision, Extent::Whole))?;
        let mut samples = Vec::new();
        for run in 0..=world.runs() {
            let value = format!("suffix=run-{run}");
            let arguments = ["params", "set", &application_name(APPLICATIONS / 2), &value];
            let command = Command {
                arguments: arguments.map(OsString::from).to_vec(),
                store: &store,
                cache: &cache,
                holds: Cache::Tree,
                user: User::Own,
            };
            samples.push(world.starter.sample(&world.line(&command), User::Own)?);
        }
        let what = format!("{APPLICATIONS} Applications in as many files, {named}, whole process");
        figures.extend(figure(case, what, &samples).map(|figure| figure.held_to(Target::AtMost(150.0))));
    }
    Ok(())
}

/// Measures the answers to a shell's script.
pub(super) fn completion(
    world: &World,
    case: &'static str,
    figures: &mut Vec<Figure>,
) -> Result<(), Failure> {
    let repository = world.repository(FILES)?;
    let kind = (Revision::Commit, Extent::Whole);
    let store = world.store(&repository, APPLICATIONS, "nothing", kind)?;
    let application = application_name(APPLICATIONS / 2);
    let typed: [(&str, &[&str]); 3] = [
        ("applications", &["params", "set", ""]),
        ("parameters", &["params", "set", &application, ""]),
        ("options", &["render", "--"]),
    ];
    for (what, words) in typed {
        let mut line = vec![world.tiphys.clone().into_os_string()];
        line.extend(["__complete", "zsh", "tiphys", "--store"].map(OsString::from));
        line.extend([store.clone().into_os_string(), "--plugins".into(), world.plugins.clone().into()]);
        line.extend(words.iter().map(OsString::from));
        let samples: Vec<Sample> =
            (0..=world.runs()).map(|_| world.starter.sample(&line, User::Own)).collect::<Result<_, _>>()?;
        let what = format!("{what}, {APPLICATIONS} Applications in as many files, whole process");
        figures.extend(figure(case, what, &samples).map(|figure| figure.held_to(Target::AtMost(50.0))));
    }
    Ok(())
}

/// The figure of all runs but the first, which is to warm up.
fn figure(case: &'static str, what: String, samples: &[Sample]) -> Option<Figure> {
    let samples = samples.get(1..).unwrap_or_default();
    let wall = samples.iter().map(|sample| sample.wall_seconds * 1_000.0).collect();
    let processor = samples.iter().map(|sample| sample.cpu_seconds * 1_000.0).collect();
    Figure::new(case, what, Unit::Milliseconds, wall).map(|figure| figure.with_processor_time(processor))
}
