//! Random repositories, rendered with the real helm and kustomize: if the inputs of an Application are equal on two sides, so is its result;
//! and a result depends on each of its inputs.

mod application;
mod repository;
mod world;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::OnceLock;

use futures_util::StreamExt as _;
use serde_json::Value;
use tiphys_engine::Manifest;
use tiphys_render::{InputFiles, Renderer, Side, has_equal_inputs};
use tiphys_testkit::dice::Dice;
use tiphys_testkit::git::Repository;
use tiphys_tree::RepoPath;

use application::VALUES;
use repository::{Files, PACKAGES, SECOND};
use world::{BASE, World};

/// The first repository's seed. Each other one has the next.
const SEED: u64 = 0x1d0_7e57;

/// Repositories, each with ten Applications.
const REPOSITORIES: u64 = 8;

/// Changes of each repository, and single paths that are removed from it.
const CHANGES: usize = 10;
const REMOVALS: usize = 15;

/// The minimum share of removed inputs that the result shows, in percent.
const REMOVALS_SHOWN_MIN: usize = 95;

/// The minimum numbers of cases.
const EQUAL_MIN: usize = 300;
const REMOVED_MIN: usize = 100;

/// Repositories that are rendered at once for each processor.
const PER_PROCESSOR: usize = 2;

/// Results of all comparisons.
#[derive(Debug, Default)]
struct Outcome {
    /// Applications with equal inputs of different revisions that were rendered.
    equal: usize,
    /// Those of them that can be rendered.
    valid: usize,
    /// Different results of equal inputs.
    holes: Vec<String>,
    /// Removed inputs of Applications that can be rendered.
    removed: usize,
    /// Removed inputs without which the result is the same.
    unused: Vec<String>,
}

impl Outcome {
    fn and(mut self, other: Self) -> Self {
        self.equal += other.equal;
        self.valid += other.valid;
        self.holes.extend(other.holes);
        self.removed += other.removed;
        self.unused.extend(other.unused);
        self
    }
}

/// A repository with its Applications, and their results at its first commit.
struct Base {
    seed: u64,
    files: Files,
    repositories: [Repository; 2],
    /// The folder of charts.
    packages: PathBuf,
    applications: Vec<Value>,
    /// The rendered objects, or an error.
    results: Vec<Result<String, String>>,
}

impl Base {
    async fn new(world: &World, seed: u64, dice: &mut Dice) -> Self {
        let files = repository::random_files(dice);
        let applications = application::random_applications(dice);
        let repositories =
            ["first", "second"].map(|name| Repository::init(world.path(&format!("{name}-{seed}"))));
        repository::write(&files, &repositories);
        for repository in &repositories {
            repository.commit(BASE);
            repository.git(&["tag", BASE]);
        }
        let packages = world.path(&format!("packages-{seed}"));
        let of_base = ["clone", "--quiet", ".", &packages.display().to_string()];
        repositories[0].git(&of_base);
        let packages = packages.join(PACKAGES);
        let (renderer, _) = world.sides(&repositories, &packages).await;
        let mut results = Vec::new();
        for application in &applications {
            results.push(rendered(&renderer, application).await);
        }
        Self { seed, files, repositories, packages, applications, results }
    }

    /// Compares changed files and Applications with the base. `removed` is the path that is the change.
    async fn compare(
        &self,
        world: &World,
        (files, applications): (&Files, &[Value]),
        what: &str,
        removed: Option<&str>,
    ) -> Outcome {
        repository::write(files, &self.repositories);
        let (base, head) = world.sides(&self.repositories, &self.packages).await;
        let mut outcome = Outcome::default();
        for ((before, after), result) in self.applications.iter().zip(applications).zip(&self.results) {
            let (a, b) = (application::decoded(before), application::decoded(after));
            let sides =
                [(&base, &a), (&head, &b)].map(|(renderer, application)| Side { renderer, application });
            let is_equal = has_equal_inputs(sides[0], sides[1]).await;
            let is_removed = match removed {
                Some(path) => result.is_ok() && input_paths(&base, before).await.contains_key(path),
                None => false,
            };
            if !is_removed && (!is_equal || removed.is_some()) {
                continue;
            }
            let found = rendered(&head, after).await;
            let shows = found.as_ref().ok() != result.as_ref().ok();
            let case = format!("seed {:#x}: {what}: {after}", self.seed);
            if is_equal {
                outcome.equal += 1;
                outcome.valid += usize::from(found.is_ok());
                if shows {
                    outcome
                        .holes
                        .push(format!("{case}\n  before {before}\n    {result:?}\n  after\n    {found:?}"));
                }
            }
            if is_removed {
                outcome.removed += 1;
                if !shows {
                    outcome.unused.push(case);
                }
            }
        }
        outcome
    }
}

/// Returns the objects in their order.
async fn rendered(renderer: &Renderer, application: &Value) -> Result<String, String> {
    let rendered = renderer.render(&application::decoded(application)).await;
    let rendered = rendered.map_err(|error| tiphys_plugin::chain(&error))?;
    let objects: Vec<Value> = rendered.manifests.into_iter().map(Manifest::into_value).collect();
    Ok(Value::from(objects).to_string())
}

/// Returns the paths of all inputs, and whether only the files directly in them count. None if the whole revision counts.
async fn input_paths(renderer: &Renderer, application: &Value) -> BTreeMap<String, bool> {
    let inputs = renderer.inputs(&application::decoded(application)).await.unwrap_or_default();
    let mut all = BTreeMap::new();
    for input in inputs {
        let InputFiles::Paths { paths, .. } = input.files else { return BTreeMap::new() };
        let of_second = if input.repository == VALUES { SECOND } else { "" };
        let entry = |path: &RepoPath| (format!("{of_second}{path}"), paths.shallow.contains(path));
        all.extend(paths.all.keys().map(entry));
    }
    all
}

/// Removes a path, or the files directly in a directory. Returns whether there were any.
fn remove(files: &mut Files, path: &str, is_shallow: bool) -> bool {
    let count = files.len();
    if is_shallow {
        files.retain(|file, _| file.rsplit_once('/').is_none_or(|(folder, _)| folder != path));
    } else {
        repository::remove(files, path);
    }
    files.len() < count
}

/// Compares random changes of a random repository, and removals of its Applications' inputs.
async fn compare(world: &World, seed: u64) -> Outcome {
    let dice = &mut Dice::new(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let base = Base::new(world, seed, dice).await;
    let mut outcome = Outcome::default();
    for _ in 0..CHANGES {
        let (mut files, mut applications) = (base.files.clone(), base.applications.clone());
        let mut what = repository::change(&mut files, dice).join(", ");
        if dice.chance(30) {
            let index = dice.below(applications.len());
            application::change(&mut applications[index], dice);
            what += ", a setting";
        }
        outcome = outcome.and(Box::pin(base.compare(world, (&files, &applications), &what, None)).await);
    }
    repository::write(&base.files, &base.repositories);
    let (renderer, _) = world.sides(&base.repositories, &base.packages).await;
    let mut inputs = BTreeMap::new();
    for application in &base.applications {
        inputs.append(&mut input_paths(&renderer, application).await);
    }
    let exists = |path: &str, is_shallow| remove(&mut base.files.clone(), path, is_shallow);
    let mut existing: Vec<_> =
        inputs.into_iter().filter(|(path, is_shallow)| exists(path, *is_shallow)).collect();
    for _ in 0..REMOVALS {
        let (path, is_shallow) = existing.swap_remove(dice.below(existing.len()));
        let mut files = base.files.clone();
        remove(&mut files, &path, is_shallow);
        let what = format!("without {path}");
        let compared = base.compare(world, (&files, &base.applications), &what, Some(&path));
        outcome = outcome.and(Box::pin(compared).await);
    }
    outcome
}

async fn compare_all() -> Outcome {
    let at_once = PER_PROCESSOR * std::thread::available_parallelism().map_or(1, std::num::NonZeroUsize::get);
    let world = &World::new(&["plugins/helm", "plugins/kustomize"], at_once, None);
    let outcomes: Vec<Outcome> = futures_util::stream::iter(SEED..SEED + REPOSITORIES)
        .map(|seed| compare(world, seed))
        .buffer_unordered(at_once)
        .collect()
        .await;
    world.end().await;
    outcomes.into_iter().fold(Outcome::default(), Outcome::and)
}

/// Returns the results that both tests check.
fn outcome() -> &'static Outcome {
    static OUTCOME: OnceLock<Outcome> = OnceLock::new();
    OUTCOME.get_or_init(|| {
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("a runtime");
        runtime.block_on(compare_all())
    })
}

#[test]
fn equal_inputs_mean_equal_results() {
    let Outcome { equal, valid, holes, .. } = outcome();
    assert!(holes.is_empty(), "{} of {equal} results differ:\n{}", holes.len(), holes.join("\n"));
    assert!(*equal >= EQUAL_MIN && valid * 4 > equal * 3, "{equal} equal inputs, {valid} with objects");
}

#[test]
fn results_depend_on_each_input() {
    let Outcome { removed, unused, .. } = outcome();
    let shown = (removed - unused.len()) * 100;
    assert!(
        *removed >= REMOVED_MIN && shown >= removed * REMOVALS_SHOWN_MIN,
        "{} of {removed} results do not depend on a removed input:\n{}",
        unused.len(),
        unused.join("\n")
    );
}
