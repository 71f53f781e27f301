//! The cases of `cargo xtask bench` and their targets.

use std::path::Path;

use serde::Deserialize;

use super::Case;
use super::content::application_name;
use super::data::{Extent, OBJECTS_OF_MANY, Revision};
use super::figures::{Sheet, Target, Unit};
use super::place::remove;
use super::sample::{Sample, User};
use super::world::World;
use crate::plugin_server::running::{Rights, Start, named};
use crate::{Failure, e2e};

/// Files of the repositories for single renders.
const SIZES: [usize; 3] = [100, 10_000, 50_000];

/// Files of the repository that has targets.
pub(super) const FILES: usize = 10_000;

/// All cases, in the order in which they are measured.
pub(super) const CASES: [Case<World>; 12] = [
    Case { name: "fresh", about: "one render, objects fetched, no tree written yet", measure: fresh },
    Case { name: "overlay", about: "one render, tree cached, working copy by an overlay", measure: overlay },
    Case { name: "copy", about: "one render, tree cached, working copy by a copy", measure: copy },
    Case { name: "working-copy", about: "one render of a directory, --repo", measure: working_copy },
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
        about: "shell completion in a store of 1,000 Applications",
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

/// What the cache contains when a command starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cache {
    /// The fetched objects without a tree.
    Objects,
    /// The tree, too.
    Tree,
}

/// The two states of the cache, with their names.
const CACHES: [(Cache, &str); 2] = [(Cache::Objects, "no tree written yet"), (Cache::Tree, "tree known")];

/// A measured call of `tiphys render`.
#[derive(Clone, Copy)]
struct Render<'a> {
    files: usize,
    applications: usize,
    plugin: &'static str,
    revision: Revision,
    extent: Extent,
    cache: Cache,
    /// Name of the cache directory; by default the number of files.
    cache_name: Option<&'static str>,
    user: User,
    options: &'a [&'a str],
}

const RENDER: Render<'static> = Render {
    files: FILES,
    applications: 1,
    plugin: "nothing",
    revision: Revision::Commit,
    extent: Extent::Whole,
    cache: Cache::Tree,
    cache_name: None,
    user: User::Own,
    options: &[],
};

impl Render<'_> {
    fn measure(&self, world: &World) -> Result<Vec<Sample>, Failure> {
        let store = world.store(self.files, self.applications, self.plugin, (self.revision, self.extent))?;
        let cache = world.cache(self.cache_name.unwrap_or(&self.files.to_string()), self.user)?;
        // The command's user can write there.
        let report = cache.join("report.json");
        let mut line = world.line(&[&["render"], self.options].concat(), &store, &cache);
        line.extend(["--report".into(), report.clone().into()]);
        world.repeated(|_| {
            if self.cache == Cache::Objects {
                remove(&cache.join("trees"))?;
            }
            let sample = world.starter.sample(&line, self.user)?;
            Ok(Sample { overhead_seconds: slowest(&report)?, ..sample })
        })
    }
}

fn fresh(world: &World, sheet: &mut Sheet<'_>) -> Result<(), Failure> {
    for files in SIZES {
        for (extent, name, target_ms) in
            [(Extent::Whole, "whole", 250.0), (Extent::OwnFolder, "narrowed", 50.0)]
        {
            for (revision, named) in [(Revision::Branch, "branch"), (Revision::Commit, "commit")] {
                let render = Render { files, extent, revision, cache: Cache::Objects, ..RENDER };
                let target = (files == FILES).then_some(Target::AtMost(target_ms));
                sheet.overhead(&format!("{files} files, {name}, {named}"), &render.measure(world)?, target);
            }
        }
    }
    Ok(())
}

fn overlay(world: &World, sheet: &mut Sheet<'_>) -> Result<(), Failure> {
    let most = Target::AtMost(5.0);
    for files in SIZES {
        for (revision, named) in [(Revision::Commit, "commit"), (Revision::Branch, "branch")] {
            // A branch needs two calls of git, so the target is about a commit.
            let target = (files == FILES && revision == Revision::Commit).then_some(most);
            let samples = Render { files, revision, ..RENDER }.measure(world)?;
            sheet.overhead(&format!("{files} files, {named}"), &samples, target);
        }
    }
    if nix::unistd::geteuid().is_root() {
        let samples = Render { user: User::Unprivileged, ..RENDER }.measure(world)?;
        sheet.overhead(&format!("{FILES} files, commit, unprivileged user"), &samples, Some(most));
    }
    Ok(())
}

fn copy(world: &World, sheet: &mut Sheet<'_>) -> Result<(), Failure> {
    for files in SIZES {
        let target = (files == FILES).then_some(Target::AtMost(150.0));
        let samples = Render { files, options: &["--private-view=copy"], ..RENDER }.measure(world)?;
        sheet.overhead(&format!("{files} files, commit"), &samples, target);
    }
    Ok(())
}

fn working_copy(world: &World, sheet: &mut Sheet<'_>) -> Result<(), Failure> {
    let repository = world.repository(FILES)?;
    let folder = world.folder().join("working-copy");
    repository.checked_out(&folder)?;
    let repo = format!("--repo={}={}", repository.url(), folder.display());
    for (cache, name) in [(Cache::Objects, "first time"), (Cache::Tree, "again")] {
        let cache_name = Some("working-copy");
        let render = Render { revision: Revision::Branch, cache, cache_name, options: &[&repo], ..RENDER };
        sheet.overhead(&format!("{FILES} files, {name}"), &render.measure(world)?, None);
    }
    Ok(())
}

fn many(world: &World, sheet: &mut Sheet<'_>) -> Result<(), Failure> {
    let applications = 64;
    for (cache, name) in CACHES {
        let samples = Render { applications, revision: Revision::Branch, cache, ..RENDER }.measure(world)?;
        let what = format!("{applications} applications, {name}, whole process");
        sheet.processes(what, &samples, Target::AtMost(2_000.0));
    }
    Ok(())
}

fn throughput(world: &World, sheet: &mut Sheet<'_>) -> Result<(), Failure> {
    let applications = 500;
    for (cache, name) in CACHES {
        let samples = Render { applications, revision: Revision::Branch, cache, ..RENDER }.measure(world)?;
        let what = format!("{applications} applications, {name}");
        let rates = samples.iter().map(|sample| 500.0 / sample.wall_seconds).collect();
        let processor = samples.iter().map(|sample| sample.cpu_seconds * 1_000.0).collect();
        let figure = sheet.add(&what, Unit::PerSecond, rates);
        *figure = figure.clone().with_processor_time(processor).held_to(Target::AtLeast(100.0));
        sheet.peak(format!("{what}, peak memory"), &samples, Some(Target::AtMost(100.0)));
    }
    Ok(())
}

fn params(world: &World, sheet: &mut Sheet<'_>) -> Result<(), Failure> {
    let applications = 1_000;
    let cache = world.cache(&FILES.to_string(), User::Own)?;
    for (revision, named) in [(Revision::Branch, "branch"), (Revision::Commit, "commit")] {
        let store = world.store(FILES, applications, "nothing", (revision, Extent::Whole))?;
        let line = world.line(&["params", "list", &application_name(applications / 2)], &store, &cache);
        let samples = world.repeated(|_| world.starter.sample(&line, User::Own))?;
        let what = format!("{applications} Applications, {named}, whole process");
        sheet.processes(what, &samples, Target::AtMost(100.0));
    }
    Ok(())
}

fn server(world: &World, sheet: &mut Sheet<'_>) -> Result<(), Failure> {
    let folder = world.folder();
    let start = Start {
        program: &named(&world.tiphys, &folder.join("served"))?,
        client: &e2e::client(&world.root)?,
        arguments: &[],
        rights: Rights::Own,
        folder: folder.join("server"),
        plugin: &format!(
            "  generate:\n    command: [cat, {}]\n",
            world.plugins.join("nothing/printed.yaml").display()
        ),
    };
    let server = start.start()?;
    let sockets = format!("--plugin-sockets={}", folder.join("server/sockets").display());
    let samples = Render { plugin: "measured", options: &[&sockets], ..RENDER }.measure(world)?;
    drop(server);
    sheet.processes(format!("{FILES} files, whole process"), &samples, None);
    Ok(())
}

fn output(world: &World, sheet: &mut Sheet<'_>) -> Result<(), Failure> {
    let samples = Render { files: 100, plugin: "many", ..RENDER }.measure(world)?;
    sheet.overhead(&format!("{OBJECTS_OF_MANY} objects, commit"), &samples, None);
    Ok(())
}

/// The report of `tiphys render`, as far as it is needed here.
#[derive(Deserialize)]
struct Report {
    applications: Vec<ReportedApplication>,
}

#[derive(Deserialize)]
struct ReportedApplication {
    seconds: f64,
    sources: Vec<ReportedSource>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ReportedSource {
    plugin_seconds: f64,
}

/// The longest time of an application beside its plugin's own.
fn slowest(report: &Path) -> Result<f64, Failure> {
    let text = std::fs::read(report).map_err(|error| Failure::at(report, error))?;
    let report: Report = serde_json::from_slice(&text).map_err(|error| Failure::at(report, error))?;
    let overhead = report.applications.iter().map(|application| {
        application.seconds - application.sources.iter().map(|source| source.plugin_seconds).sum::<f64>()
    });
    Ok(overhead.fold(0.0, f64::max))
}
