//! `diff --base` of many applications with one changed, beside two renders of that one.

use std::path::PathBuf;

use super::cases::FILES;
use super::content::application_name;
use super::data::{Application, Extent, Repository, Revision, commit};
use super::figures::{Sheet, Target};
use super::sample::{Sample, User};
use super::world::World;
use crate::Failure;
use crate::files::{remove, write};

/// Applications of the store. Every second one runs a plugin on its own directory; the others are plain manifests.
const APPLICATIONS: usize = 200;

/// The application whose parameter changes.
const CHANGED: usize = 100;

/// Limit of a comparison beyond twice the time of two renders of the changed application, in milliseconds.
const ALLOWANCE_MS: f64 = 300.0;

/// A working copy with an uncommitted change. The store is in the repository.
struct Fixture {
    folder: PathBuf,
    store: PathBuf,
    cache: PathBuf,
    repo: String,
}

/// Measures the comparison and, in turn with it, two renders of the changed application.
pub(super) fn measure(world: &World, sheet: &mut Sheet<'_>) -> Result<(), Failure> {
    let fixture = Fixture::make(world)?;
    let out = fixture.folder.with_extension("out").display().to_string();
    let render = ["render", &application_name(CHANGED), "--output-dir", &out];
    let diff = ["diff", "--base", "HEAD", "--exit-code=false"];
    for (keeps_trees, name) in [(false, "no tree written yet"), (true, "trees known")] {
        let forget = || if keeps_trees { Ok(()) } else { remove(&fixture.cache.join("trees")) };
        let runs = world.starter.repeated(|_| {
            forget()?;
            let [one, two] = [fixture.sample(world, &render)?, fixture.sample(world, &render)?];
            forget()?;
            let renders = Sample {
                wall_seconds: one.wall_seconds + two.wall_seconds,
                cpu_seconds: one.cpu_seconds + two.cpu_seconds,
                ..one
            };
            Ok((renders, fixture.sample(world, &diff)?))
        })?;
        let (renders, diffs): (Vec<_>, Vec<_>) = runs.into_iter().unzip();
        let two_ms = sheet.processes(format!("two renders of one, {name}"), &renders, None);
        let what = format!("{APPLICATIONS} applications, one changed, {name}");
        sheet.processes(what, &diffs, Some(Target::AtMost(2.0f64.mul_add(two_ms, ALLOWANCE_MS).round())));
    }
    Ok(())
}

impl Fixture {
    fn make(world: &World) -> Result<Self, Failure> {
        let repository = world.repository(FILES)?;
        let folder = world.folder().join("compared");
        repository.checked_out(&folder)?;
        let store = folder.join("store");
        for index in 0..APPLICATIONS {
            let file = store.join(format!("{}.yaml", application_name(index)));
            write(&file, application(&repository, index, "one"))?;
        }
        commit(&folder)?;
        let changed = store.join(format!("{}.yaml", application_name(CHANGED)));
        write(&changed, application(&repository, CHANGED, "two"))?;
        let place = folder.display();
        let repo = format!("--repo={}={place}", repository.url());
        Ok(Self { folder, store, cache: world.cache("compared", User::Own)?, repo })
    }

    fn sample(&self, world: &World, arguments: &[&str]) -> Result<Sample, Failure> {
        let line = world.line(&[arguments, &[&self.repo]].concat(), &self.store, &self.cache);
        world.starter.sample(&line, User::Own)
    }
}

fn application(repository: &Repository, index: usize, suffix: &str) -> String {
    let revision = Revision::Branch;
    let application = if index.is_multiple_of(2) {
        Application { revision, extent: Extent::OwnFolder, plugin: Some(("shell", suffix)) }
    } else {
        Application { revision, extent: Extent::Whole, plugin: None }
    };
    repository.application(index, &application)
}
