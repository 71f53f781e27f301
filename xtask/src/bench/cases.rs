//! The cases of `cargo xtask bench` and their targets.

use std::ffi::OsString;
use std::path::Path;

use serde::Deserialize;

use super::content::application_name;
use super::data::{Extent, OBJECTS_OF_MANY, Revision};
use super::figures::{Sheet, Target};
use super::sample::{Sample, User};
use super::world::World;
use super::{Case, case};
use crate::files::{read, remove};
use crate::plugin_server::running::{Rights, Start, named};
use crate::{Failure, e2e};

/// Files of the repositories for single renders.
const SIZES: [usize; 3] = [100, 10_000, 50_000];

/// Files of the repository that has targets.
pub(super) const FILES: usize = 10_000;

/// Applications of the store of interactive commands, each in its own file.
const APPLICATIONS: usize = 1_000;

/// All cases, in the order in which they are measured.
pub(super) const CASES: [Case<World>; 12] = [
    case("fresh", "one render, objects fetched, no tree written yet", fresh),
    case("overlay", "one render, tree cached, working copy by an overlay", overlay),
    case("copy", "one render, tree cached, working copy by a copy", copy),
    case("working-copy", "one render of a directory, --repo", working_copy),
    case("many", "64 applications of one repository in one command", many),
    case("throughput", "500 applications of one repository in one command", throughput),
    case("params", "params list in a store of 1,000 Applications", params),
    case("params-set", "params set in a store of 1,000 Applications", params_set),
    case("completion", "shell completion in a store of 1,000 Applications", completion),
    case("server", "one render by a plugin server behind a socket", server),
    case("output", "a plugin that prints 1,000 objects", output),
    case(
        "diff-base",
        "200 applications at two revisions, one changed, beside two renders of that one",
        super::base::measure,
    ),
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
        world.starter.repeated(|_| {
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
        sheet.processes(what, &samples, Some(Target::AtMost(2_000.0)));
    }
    Ok(())
}

fn throughput(world: &World, sheet: &mut Sheet<'_>) -> Result<(), Failure> {
    let applications = 500;
    for (cache, name) in CACHES {
        let samples = Render { applications, revision: Revision::Branch, cache, ..RENDER }.measure(world)?;
        let what = format!("{applications} applications, {name}");
        for sample in &samples {
            let figure = sheet.record(&what, "apps/s", 500.0 / sample.wall_seconds);
            figure.processor_ms.push(sample.cpu_seconds * 1_000.0);
            figure.target = Some(Target::AtLeast(100.0));
        }
        sheet.peak(&format!("{what}, peak memory"), &samples, Some(Target::AtMost(100.0)));
    }
    Ok(())
}

fn params(world: &World, sheet: &mut Sheet<'_>) -> Result<(), Failure> {
    interactive(world, sheet, 100.0, |_, application| {
        ["params", "list", application].map(str::to_owned).into()
    })
}

/// Each run sets another value, so that it writes.
fn params_set(world: &World, sheet: &mut Sheet<'_>) -> Result<(), Failure> {
    interactive(world, sheet, 150.0, |run, application| {
        ["params", "set", application, &format!("suffix=run-{run}")].map(str::to_owned).into()
    })
}

/// Measures a command with the arguments for a run and an application.
fn interactive(
    world: &World,
    sheet: &mut Sheet<'_>,
    target_ms: f64,
    arguments: impl Fn(usize, &str) -> Vec<String>,
) -> Result<(), Failure> {
    let cache = world.cache(&FILES.to_string(), User::Own)?;
    for (revision, named) in [(Revision::Branch, "branch"), (Revision::Commit, "commit")] {
        let store = world.store(FILES, APPLICATIONS, "nothing", (revision, Extent::Whole))?;
        let samples = world.starter.repeated(|run| {
            let arguments = arguments(run, &application_name(APPLICATIONS / 2));
            let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
            world.starter.sample(&world.line(&arguments, &store, &cache), User::Own)
        })?;
        let what = format!("{APPLICATIONS} Applications in as many files, {named}, whole process");
        sheet.processes(what, &samples, Some(Target::AtMost(target_ms)));
    }
    Ok(())
}

/// Measures the answers to the completion script of a shell.
fn completion(world: &World, sheet: &mut Sheet<'_>) -> Result<(), Failure> {
    let store = world.store(FILES, APPLICATIONS, "nothing", (Revision::Commit, Extent::Whole))?;
    let application = application_name(APPLICATIONS / 2);
    let typed: [(&str, &[&str]); 3] = [
        ("applications", &["params", "set", ""]),
        ("parameters", &["params", "set", &application, ""]),
        ("options", &["render", "--"]),
    ];
    for (what, words) in typed {
        let mut line = vec![world.starter.program.clone().into_os_string()];
        line.extend(["__complete", "zsh", "tiphys", "--store"].map(OsString::from));
        line.extend([store.clone().into_os_string(), "--plugins".into(), world.plugins.clone().into()]);
        line.extend(words.iter().map(OsString::from));
        let samples = world.starter.repeated(|_| world.starter.sample(&line, User::Own))?;
        let what = format!("{what}, {APPLICATIONS} Applications in as many files, whole process");
        sheet.processes(what, &samples, Some(Target::AtMost(50.0)));
    }
    Ok(())
}

fn server(world: &World, sheet: &mut Sheet<'_>) -> Result<(), Failure> {
    let folder = world.folder();
    let start = Start {
        program: &named(&world.starter.program, &folder.join("served"))?,
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
    let report: Report = serde_json::from_str(&read(report)?).map_err(|error| Failure::at(report, error))?;
    let overhead = report.applications.iter().map(|application| {
        application.seconds - application.sources.iter().map(|source| source.plugin_seconds).sum::<f64>()
    });
    Ok(overhead.fold(0.0, f64::max))
}
