//! What is measured, and against which targets.

use std::ffi::OsString;
use std::path::Path;

use super::content::application_name;
use super::data::{Extent, OBJECTS_OF_MANY, Revision};
use super::figures::{Figure, Target, Unit};
use super::sample::User;
use super::server::Server;
use super::world::{Cache, Command, Run, World};
use crate::Failure;

/// Files of the repositories that a single render is measured with.
const SIZES: [usize; 3] = [100, 10_000, 50_000];

/// Files of the repository that the targets are about.
const FILES: usize = 10_000;

/// Measures one thing.
type Measure = fn(&World, &'static str, &mut Vec<Figure>) -> Result<(), Failure>;

/// A thing that can be measured.
pub(super) struct Case {
    /// Its name, for `--only`.
    pub(super) name: &'static str,
    /// What it is, for people.
    pub(super) about: &'static str,
    pub(super) measure: Measure,
}

/// All cases, in the order in which they are measured.
pub(super) const CASES: [Case; 12] = [
    Case { name: "fresh", about: "one render, objects fetched, no tree written yet", measure: fresh },
    Case { name: "overlay", about: "one render, tree known, private view by an overlay", measure: overlay },
    Case { name: "copy", about: "one render, tree known, private view by a copy", measure: copy },
    Case { name: "working-copy", about: "one render of a folder's files, --repo", measure: working_copy },
    Case { name: "many", about: "64 applications of one repository in one command", measure: many },
    Case {
        name: "throughput",
        about: "500 applications of one repository in one command",
        measure: throughput,
    },
    Case { name: "params", about: "params list in a store of 1,000 Applications", measure: params },
    Case {
        name: "params-set",
        about: "params set in a store of 1,000 Applications",
        measure: super::people::set,
    },
    Case {
        name: "completion",
        about: "an answer to a shell in a store of 1,000 Applications",
        measure: super::people::completion,
    },
    Case { name: "server", about: "one render by a plugin server behind a socket", measure: server },
    Case { name: "output", about: "a plugin that prints 1,000 objects", measure: output },
    Case {
        name: "diff-base",
        about: "200 applications at two revisions, one changed, beside two renders of that one",
        measure: super::base::measure,
    },
];

fn fresh(world: &World, case: &'static str, figures: &mut Vec<Figure>) -> Result<(), Failure> {
    for files in SIZES {
        for (extent, name, target_ms) in
            [(Extent::Whole, "whole", 250.0), (Extent::OwnFolder, "narrowed", 50.0)]
        {
            for (revision, named) in [(Revision::Branch, "branch"), (Revision::Commit, "commit")] {
                let repository = world.repository(files)?;
                let store = world.store(&repository, 1, "nothing", (revision, extent))?;
                let cache = world.cache(&files.to_string(), User::Own)?;
                let runs = world.measure(&render(&store, &cache, Cache::Objects, User::Own, &[]))?;
                let what = format!("{files} files, {name}, {named}");
                let target = (files == FILES).then_some(Target::AtMost(target_ms));
                add_overhead(figures, case, &what, &runs, target);
            }
        }
    }
    Ok(())
}

fn overlay(world: &World, case: &'static str, figures: &mut Vec<Figure>) -> Result<(), Failure> {
    for files in SIZES {
        for (revision, named) in [(Revision::Commit, "commit"), (Revision::Branch, "branch")] {
            // Looking up a branch is two calls of git, which no view can make quicker: the target is about the tree.
            let held = files == FILES && revision == Revision::Commit;
            let target = held.then_some(Target::AtMost(5.0));
            let what = format!("{files} files, {named}");
            known(world, case, figures, (files, revision, User::Own, &[]), (&what, target))?;
        }
    }
    if nix::unistd::geteuid().is_root() {
        let what = format!("{FILES} files, commit, unprivileged user");
        let wanted = (FILES, Revision::Commit, User::Nobody, [].as_slice());
        known(world, case, figures, wanted, (&what, Some(Target::AtMost(5.0))))?;
    }
    Ok(())
}

fn copy(world: &World, case: &'static str, figures: &mut Vec<Figure>) -> Result<(), Failure> {
    for files in SIZES {
        let target = (files == FILES).then_some(Target::AtMost(150.0));
        let what = format!("{files} files, commit");
        let wanted = (files, Revision::Commit, User::Own, ["--private-view=copy"].as_slice());
        known(world, case, figures, wanted, (&what, target))?;
    }
    Ok(())
}

/// One render with a known tree.
fn known(
    world: &World,
    case: &'static str,
    figures: &mut Vec<Figure>,
    (files, revision, user, options): (usize, Revision, User, &[&str]),
    (what, target): (&str, Option<Target>),
) -> Result<(), Failure> {
    let repository = world.repository(files)?;
    let store = world.store(&repository, 1, "nothing", (revision, Extent::Whole))?;
    let cache = world.cache(&files.to_string(), user)?;
    let runs = world.measure(&render(&store, &cache, Cache::Tree, user, options))?;
    add_overhead(figures, case, what, &runs, target);
    Ok(())
}

fn working_copy(world: &World, case: &'static str, figures: &mut Vec<Figure>) -> Result<(), Failure> {
    let repository = world.repository(FILES)?;
    let folder = world.folder().join("working-copy");
    repository.checked_out(&folder)?;
    let store = world.store(&repository, 1, "nothing", (Revision::Branch, Extent::Whole))?;
    let cache = world.cache("working-copy", User::Own)?;
    let copy = format!("--repo={}={}", repository.url(), folder.display());
    for (holds, name) in [(Cache::Objects, "first time"), (Cache::Tree, "again")] {
        let runs = world.measure(&render(&store, &cache, holds, User::Own, &[&copy]))?;
        add_overhead(figures, case, &format!("{FILES} files, {name}"), &runs, None);
    }
    Ok(())
}

fn many(world: &World, case: &'static str, figures: &mut Vec<Figure>) -> Result<(), Failure> {
    const APPLICATIONS: usize = 64;
    let repository = world.repository(FILES)?;
    let store = world.store(&repository, APPLICATIONS, "nothing", (Revision::Branch, Extent::Whole))?;
    let cache = world.cache(&FILES.to_string(), User::Own)?;
    for (holds, name) in [(Cache::Objects, "no tree written yet"), (Cache::Tree, "tree known")] {
        let runs = world.measure(&render(&store, &cache, holds, User::Own, &[]))?;
        let what = format!("{APPLICATIONS} applications, {name}, whole process");
        let figure = process(case, what, &runs);
        figures.extend(figure.map(|figure| figure.held_to(Target::AtMost(2_000.0))));
    }
    Ok(())
}

fn throughput(world: &World, case: &'static str, figures: &mut Vec<Figure>) -> Result<(), Failure> {
    const APPLICATIONS: u32 = 500;
    let repository = world.repository(FILES)?;
    let count = usize::try_from(APPLICATIONS).unwrap_or_default();
    let store = world.store(&repository, count, "nothing", (Revision::Branch, Extent::Whole))?;
    let cache = world.cache(&FILES.to_string(), User::Own)?;
    for (holds, name) in [(Cache::Objects, "no tree written yet"), (Cache::Tree, "tree known")] {
        let runs = world.measure(&render(&store, &cache, holds, User::Own, &[]))?;
        let rates = runs.iter().map(|run| f64::from(APPLICATIONS) / run.sample.wall_seconds).collect();
        let what = format!("{APPLICATIONS} applications, {name}");
        let figure = Figure::new(case, &what, Unit::PerSecond, rates)
            .map(|figure| figure.with_processor_time(processor_ms(&runs)));
        figures.extend(figure.map(|figure| figure.held_to(Target::AtLeast(100.0))));
        let peaks = runs.iter().map(|run| mebibytes(run.sample.peak_bytes)).collect();
        let figure = Figure::new(case, format!("{what}, peak memory"), Unit::Mebibytes, peaks);
        figures.extend(figure.map(|figure| figure.held_to(Target::AtMost(100.0))));
    }
    Ok(())
}

fn params(world: &World, case: &'static str, figures: &mut Vec<Figure>) -> Result<(), Failure> {
    const APPLICATIONS: usize = 1_000;
    let repository = world.repository(FILES)?;
    let cache = world.cache(&FILES.to_string(), User::Own)?;
    for (revision, named) in [(Revision::Branch, "branch"), (Revision::Commit, "commit")] {
        let store = world.store(&repository, APPLICATIONS, "nothing", (revision, Extent::Whole))?;
        let arguments = ["params", "list", &application_name(APPLICATIONS / 2)].map(OsString::from).to_vec();
        let command =
            Command { arguments, store: &store, cache: &cache, holds: Cache::Tree, user: User::Own };
        let runs = world.measure(&command)?;
        let what = format!("{APPLICATIONS} Applications, {named}, whole process");
        let figure = process(case, what, &runs);
        figures.extend(figure.map(|figure| figure.held_to(Target::AtMost(100.0))));
    }
    Ok(())
}

fn server(world: &World, case: &'static str, figures: &mut Vec<Figure>) -> Result<(), Failure> {
    let repository = world.repository(FILES)?;
    let store = world.store(&repository, 1, "served", (Revision::Commit, Extent::Whole))?;
    let cache = world.cache(&FILES.to_string(), User::Own)?;
    let server = Server::start(world, "served")?;
    let sockets = format!("--plugin-sockets={}", server.sockets().display());
    let runs = world.measure(&render(&store, &cache, Cache::Tree, User::Own, &[&sockets]))?;
    let what = format!("{FILES} files, whole process");
    figures.extend(process(case, what, &runs));
    Ok(())
}

fn output(world: &World, case: &'static str, figures: &mut Vec<Figure>) -> Result<(), Failure> {
    let repository = world.repository(100)?;
    let store = world.store(&repository, 1, "many", (Revision::Commit, Extent::Whole))?;
    let cache = world.cache("100", User::Own)?;
    let runs = world.measure(&render(&store, &cache, Cache::Tree, User::Own, &[]))?;
    add_overhead(figures, case, &format!("{OBJECTS_OF_MANY} objects, commit"), &runs, None);
    Ok(())
}

fn render<'a>(store: &'a Path, cache: &'a Path, holds: Cache, user: User, options: &[&str]) -> Command<'a> {
    let arguments = std::iter::once("render").chain(options.iter().copied()).map(OsString::from).collect();
    Command { arguments, store, cache, holds, user }
}

/// Two figures: what one render costs beside the plugin's own time, which has the target, and the process from start to end.
fn add_overhead(
    figures: &mut Vec<Figure>,
    case: &'static str,
    what: &str,
    runs: &[Run],
    target: Option<Target>,
) {
    let overhead = runs.iter().map(|run| run.overhead_seconds * 1_000.0).collect();
    let figure = Figure::new(case, format!("{what}, overhead"), Unit::Milliseconds, overhead);
    figures.extend(figure.map(|figure| match target {
        Some(target) => figure.held_to(target),
        None => figure,
    }));
    figures.extend(process(case, format!("{what}, whole process"), runs));
}

/// The figure of whole processes.
fn process(case: &'static str, what: String, runs: &[Run]) -> Option<Figure> {
    let wall = runs.iter().map(|run| run.sample.wall_seconds * 1_000.0).collect();
    let figure = Figure::new(case, what, Unit::Milliseconds, wall)?;
    Some(figure.with_processor_time(processor_ms(runs)))
}

fn processor_ms(runs: &[Run]) -> Vec<f64> {
    runs.iter().map(|run| run.sample.cpu_seconds * 1_000.0).collect()
}

#[expect(clippy::cast_precision_loss, reason = "a figure for people")]
fn mebibytes(bytes: u64) -> f64 {
    bytes as f64 / f64::from(1 << 20)
}
