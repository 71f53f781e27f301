//! Every body of a fuzz target over its seeds, and over seeds that were changed: the same ones in every run.

mod mutation;

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use mutation::Mutation;
use tiphys_fuzz::TARGETS;

/// Bytes of a seed; what is larger makes every run slower and shows nothing more.
const SEED_BYTES_MAX: usize = 8 * 1024;

fn fuzz_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz")
}

/// The seeds of a target with their names, sorted.
fn seeds(target: &str) -> Vec<(String, Vec<u8>)> {
    let dir = fuzz_folder().join("corpus").join(target);
    let mut seeds: Vec<_> = fs::read_dir(&dir)
        .unwrap_or_else(|error| panic!("{}: {error}", dir.display()))
        .map(|entry| {
            let path = entry.expect("the folder can be read").path();
            let name = path.file_name().expect("a name").to_string_lossy().into_owned();
            (name, fs::read(&path).expect("a seed can be read"))
        })
        .collect();
    seeds.sort();
    assert!(!seeds.is_empty(), "{}: no seeds", dir.display());
    seeds
}

/// Names in a folder without their extension, sorted.
fn names(dir: &Path) -> Vec<String> {
    let names = fs::read_dir(dir).expect("the folder is there").map(|entry| {
        let path = entry.expect("the folder can be read").path();
        path.file_stem().expect("a name").to_string_lossy().into_owned()
    });
    let mut names: Vec<_> = names.collect();
    names.sort();
    names
}

/// Runs a body over the seeds of its target and over changed ones.
fn check(name: &str) {
    let target = TARGETS.iter().find(|target| target.name == name).expect("a target of this name");
    let seeds = seeds(name);
    let run = |bytes: &[u8], what: &str| {
        let outcome = catch_unwind(AssertUnwindSafe(|| (target.body)(bytes)));
        assert!(outcome.is_ok(), "{name} fails for {what}: {:?}", bytes.escape_ascii().to_string());
    };
    for (seed, bytes) in &seeds {
        assert!(bytes.len() <= SEED_BYTES_MAX, "{name}/{seed} has {} bytes", bytes.len());
        run(bytes, seed);
    }
    let mut mutation = Mutation::new(seeds.into_iter().map(|(_, bytes)| bytes).collect());
    for number in 0..target.gate_inputs {
        run(&mutation.next(), &format!("changed seed {number}"));
    }
}

/// One test for each target, so that they run beside each other.
macro_rules! targets {
    ($($name:ident),+) => {
        $(
            #[test]
            fn $name() {
                check(stringify!($name));
            }
        )+

        const TESTED: &[&str] = &[$(stringify!($name)),+];
    };
}

targets!(
    chart_address,
    chart_archive,
    chart_index,
    chart_template,
    connection,
    edit,
    glob,
    go_template,
    gzip,
    helm_set,
    jq,
    json_reader,
    jsonpath,
    parameters,
    plugin_answer,
    plugin_file,
    registry_address,
    registry_challenge,
    repo_path,
    repo_url,
    split_output,
    tar,
    version_range,
    yaml_reader
);

#[test]
fn every_target_has_a_test_seeds_and_a_program() {
    let targets: Vec<_> = TARGETS.iter().map(|target| target.name).collect();
    assert_eq!(TESTED, targets);
    assert_eq!(names(&fuzz_folder().join("corpus")), targets);
    assert_eq!(names(&fuzz_folder().join("fuzz_targets")), targets);
    let manifest = fs::read_to_string(fuzz_folder().join("Cargo.toml")).expect("the manifest");
    let programs: Vec<_> = manifest
        .lines()
        .filter_map(|line| line.strip_prefix("path = \"fuzz_targets/")?.strip_suffix(".rs\""))
        .collect();
    assert_eq!(programs, targets);
}

#[test]
fn a_mutation_gives_the_same_inputs_every_time_and_different_ones() {
    let inputs = || {
        let mut mutation = Mutation::new(vec![b"first seed".to_vec(), b"second".to_vec()]);
        (0..100).map(|_| mutation.next()).collect::<Vec<_>>()
    };
    let (first, second) = (inputs(), inputs());
    assert_eq!(first, second);
    let mut different = first.clone();
    different.sort();
    different.dedup();
    assert!(different.len() > 90, "{} of 100 are different", different.len());
}
