//! `diff --base` of many applications with one changed, beside two renders of that one.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::content::application_name;
use super::data::{Repository, git};
use super::figures::{Figure, Target, Unit};
use super::place::{remove, write};
use super::sample::{Sample, User};
use super::world::World;
use crate::Failure;

/// Applications of the store: every second one runs a plugin, which sees its own folder; the others are plain manifests.
const APPLICATIONS: usize = 200;

/// Files of the repository. The store is in it, too.
const FILES: usize = 10_000;

/// The application whose parameter changes.
const CHANGED: usize = 100;

/// What a comparison may take beside twice the time of two renders of the one application that changed, in milliseconds.
const ALLOWANCE_MS: f64 = 300.0;

/// A working copy with a change that is not committed.
struct Fixture {
    folder: PathBuf,
    store: PathBuf,
    cache: PathBuf,
    repo: String,
}

/// Measures the comparison and, in turn with it, two renders of what changed.
pub(super) fn measure(world: &World, case: &'static str, figures: &mut Vec<Figure>) -> Result<(), Failure> {
    let fixture = Fixture::make(world)?;
    let render = ["render", &application_name(CHANGED), "--output-dir", "out"].map(OsString::from);
    let diff = ["diff", "--base", "HEAD", "--exit-code=false"].map(OsString::from);
    for (keeps_trees, name) in [(false, "no tree written yet"), (true, "trees known")] {
        let (mut renders, mut diffs, mut allowed) = (Vec::new(), Vec::new(), Vec::new());
        for run in 0..=world.runs() {
            if !keeps_trees {
                remove(&fixture.cache.join("trees"))?;
            }
            let two = [fixture.sample(world, &render)?, fixture.sample(world, &render)?];
            let two_ms: f64 = two.iter().map(|one| one.wall_seconds * 1_000.0).sum();
            if !keeps_trees {
                remove(&fixture.cache.join("trees"))?;
            }
            let compared = fixture.sample(world, &diff)?;
            // The first is to warm up.
            if run > 0 {
                renders.push(two_ms);
                diffs.push(compared);
                allowed.push(2.0f64.mul_add(two_ms, ALLOWANCE_MS));
            }
        }
        let two = Figure::new(case, format!("two renders of one, {name}"), Unit::Milliseconds, renders);
        figures.extend(two);
        let allowed =
            Figure::new(case, "", Unit::Milliseconds, allowed).map(|figure| figure.median().round());
        let wall = diffs.iter().map(|sample| sample.wall_seconds * 1_000.0).collect();
        let processor = diffs.iter().map(|sample| sample.cpu_seconds * 1_000.0).collect();
        let what = format!("{APPLICATIONS} applications, one changed, {name}");
        let figure = Figure::new(case, what, Unit::Milliseconds, wall);
        let figure = figure.map(|figure| figure.with_processor_time(processor));
        figures.extend(figure.zip(allowed).map(|(figure, most)| figure.held_to(Target::AtMost(most))));
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
            write(&file, application(&repository, index, "one").as_bytes())?;
        }
        let place = folder.display().to_string();
        git(&["-C", &place, "add", "store"], None)?;
        let person = ["-c", "user.name=bench", "-c", "user.email=bench@example.com"];
        git(&[&["-C", &place], &person[..], &["commit", "--quiet", "-m", "two"]].concat(), None)?;
        let changed = store.join(format!("{}.yaml", application_name(CHANGED)));
        write(&changed, application(&repository, CHANGED, "two").as_bytes())?;
        let repo = format!("--repo={}={place}", repository.url());
        Ok(Self { folder, store, cache: world.cache("compared", User::Own)?, repo })
    }

    fn sample(&self, world: &World, arguments: &[OsString]) -> Result<Sample, Failure> {
        let mut line = vec![world.tiphys.clone().into_os_string()];
        line.extend(arguments.iter().map(|argument| {
            if argument == "out" {
                self.folder.with_extension("out").into_os_string()
            } else {
                argument.clone()
            }
        }));
        let options: [(&str, &Path); 3] =
            [("--store", &self.store), ("--plugins", &world.plugins), ("--cache-dir", &self.cache)];
        line.extend(options.iter().flat_map(|(option, path)| [OsString::from(option), (*path).into()]));
        line.push(OsString::from(&self.repo));
        world.starter.sample(&line, User::Own)
    }
}

fn application(repository: &Repository, index: usize, suffix: &str) -> String {
    let (annotations, plugin) = if index.is_multiple_of(2) {
        (
            "  annotations:\n    argocd.argoproj.io/manifest-generate-paths: .\n",
            format!(
                "    plugin:\n      name: shell\n      parameters:\n        - name: suffix\n          string: {suffix}\n"
            ),
        )
    } else {
        ("", String::new())
    };
    format!(
        "apiVersion: argoproj.io/v1alpha1
kind: Application
metadata:
  name: {name}
  namespace: argocd
{annotations}spec:
  project: default
  source:
    repoURL: {url}
    path: apps/{name}
{plugin}  destination:
    server: https://kubernetes.default.svc
    namespace: bench
",
        name = application_name(index),
        url = repository.url(),
    )
}
