//! Announcements follow the helm that would run: what Helm 3 and Helm 4 do differently with values.

use std::collections::BTreeSet;

use crate::round_trip::{SEEN, seen};
use crate::subcharts::leaves;
use crate::world::{Helm, World};

/// Where the two differ, and what each has.
struct Case {
    /// What differs.
    rule: &'static str,
    /// Values of the chart, of its subchart `s`, and of a value file.
    values: [&'static str; 3],
    /// Parameters.
    set: &'static [(&'static str, &'static str)],
    /// What a template of Helm 4 sees, globals of subcharts aside.
    of_four: &'static [&'static str],
    /// The same of Helm 3.
    of_three: &'static [&'static str],
}

const CASES: &[Case] = &[
    Case {
        rule: "a null of a chart deletes what its subchart has in Helm 3 alone",
        values: ["s: {x: null, m: {k: null}}", "{x: 1, w: 2, m: {k: 3}}", ""],
        set: &[],
        of_four: &["s.m.k=3", "s.w=2", "s.x=1"],
        of_three: &["s.w=2"],
    },
    Case {
        rule: "and in Helm 4 where something is given beside it",
        values: ["s: {x: null}", "{x: 1, w: 2}", "s: {z: 4}"],
        set: &[],
        of_four: &["s.w=2", "s.z=4"],
        of_three: &["s.w=2", "s.z=4"],
    },
    Case {
        rule: "or is set beside it",
        values: ["s: {x: null}", "{x: 1, w: 2}", ""],
        set: &[("set.s.w", "5")],
        of_four: &["s.w=5"],
        of_three: &["s.w=5"],
    },
    Case {
        rule: "a null that is given deletes in both",
        values: ["a: {b: 1, c: 2}", "{x: 1, w: 2}", "{a: {b: null}, s: {x: null}}"],
        set: &[],
        of_four: &["a.c=2", "s.w=2"],
        of_three: &["a.c=2", "s.w=2"],
    },
    Case {
        rule: "so does one that is set",
        values: ["a: {b: 1, c: 2}", "{x: 1, w: 2}", ""],
        set: &[("set.a", "null"), ("set.s.x", "null")],
        of_four: &["s.w=2"],
        of_three: &["s.w=2"],
    },
    Case {
        rule: "of several documents Helm 3 reads the first one",
        values: ["a: 1\n---\nb: 2", "x: 1\n---\nx: 3", "c: 1\n---\nc: 2\nd: 2"],
        set: &[],
        of_four: &["a=1", "b=2", "c=2", "d=2", "s.x=3"],
        of_three: &["a=1", "c=1", "s.x=1"],
    },
];

fn world(case: &Case) -> World {
    let [values, of_subchart, given] = case.values;
    let world = World::chart(values)
        .chart_file("templates/seen.yaml", SEEN)
        .chart_file("charts/s/Chart.yaml", "apiVersion: v2\nname: s\nversion: 0.1.0\n")
        .chart_file("charts/s/values.yaml", of_subchart)
        .chart_file("given.yaml", given)
        .array("value-files", &["given.yaml"]);
    case.set.iter().fold(world, |world, (name, value)| world.text(name, value))
}

/// What is announced with a default, and what is set: together they are what helm has.
fn announced(world: &World, case: &Case, helm: Option<Helm>) -> BTreeSet<String> {
    let list = match helm {
        Some(helm) => world.values_with(helm),
        None => world.values(),
    };
    let set = case.set.iter().map(|(name, value)| (name.to_string(), value.to_string()));
    let is_set = |name: &str| case.set.iter().any(|(set, _)| *set == name);
    let defaults =
        list.into_iter().filter(|one| !is_set(&one.name)).filter_map(|one| Some((one.name, one.string?)));
    let all = defaults.chain(set).filter(|(_, value)| value != "null");
    all.map(|(name, value)| format!("{}={value}", name.strip_prefix("set.").expect("a value"))).collect()
}

#[test]
fn values_are_those_of_the_helm_that_would_run() {
    for case in CASES {
        for (helm, expected) in [(Helm::Four, case.of_four), (Helm::Three, case.of_three)] {
            let world = world(case);
            let of_four: BTreeSet<String> = case.of_four.iter().map(|leaf| (*leaf).to_owned()).collect();
            assert_eq!(announced(&world, case, Some(helm)), of_four, "{}: nobody knows {helm:?}", case.rule);
            // Helm is asked for its version here, and remembered.
            let expected: BTreeSet<String> = expected.iter().map(|leaf| (*leaf).to_owned()).collect();
            let helms = leaves(&seen(&world, helm)).into_iter().filter(|leaf| !leaf.ends_with("=null"));
            assert_eq!(helms.collect::<BTreeSet<_>>(), expected, "{}: {helm:?} itself", case.rule);
            assert_eq!(announced(&world, case, Some(helm)), expected, "{} with {helm:?}", case.rule);
        }
    }
}

#[test]
fn a_version_in_a_folder_that_others_may_write_to_counts_as_nothing() {
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;

    let case = &CASES[0];
    let world = world(case);
    seen(&world, Helm::Three);
    let expected = |list: &[&str]| list.iter().map(|leaf| (*leaf).to_owned()).collect::<BTreeSet<_>>();
    assert_eq!(announced(&world, case, Some(Helm::Three)), expected(case.of_three));
    let mut folders =
        fs::read_dir(world.temporary()).expect("a folder").map(|entry| entry.expect("an entry"));
    let is_of_runs = |entry: &fs::DirEntry| entry.file_name().as_encoded_bytes().starts_with(b"tiphys-helm-");
    let folder = folders.find(is_of_runs).expect("that of runs").path();
    for folder in [folder.join("versions"), folder] {
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o777)).expect("it is ours");
        assert_eq!(announced(&world, case, Some(Helm::Three)), expected(case.of_four));
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o700)).expect("it is ours");
    }
}

#[test]
fn a_null_of_a_chart_is_announced_whatever_helm_makes_of_it() {
    let world = World::chart("a: null\nm: {k: null}\n").chart_file("templates/seen.yaml", SEEN);
    let expected = ["a (any)", "m.k (any)"];
    assert_eq!(world.lines(), expected);
    for helm in Helm::ALL {
        seen(&world, helm);
        let names: Vec<_> = world.values_with(helm).into_iter().map(|one| (one.name, one.string)).collect();
        assert_eq!(names, ["set.a", "set.m.k"].map(|name| (name.to_owned(), None)), "{helm:?}");
    }
}
