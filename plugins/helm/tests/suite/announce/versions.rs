//! Announcements follow the helm that would run: differences between Helm 3 and Helm 4 in values.

use std::collections::BTreeSet;

use crate::announce::round_trip::{SEEN, seen};
use crate::announce::subcharts::leaves;
use crate::announce::world::{Helm, World};

/// A difference, with the results of both versions.
struct Case {
    /// The difference.
    rule: &'static str,
    /// Values of the chart, of its subchart `s`, and of a value file.
    values: [&'static str; 3],
    set: &'static [(&'static str, &'static str)],
    /// Values in a template of Helm 4, without globals of subcharts.
    of_four: &'static [&'static str],
    /// The same for Helm 3.
    of_three: &'static [&'static str],
}

const CASES: &[Case] = &[
    Case {
        rule: "a null in a chart deletes its subchart's value only in Helm 3",
        values: ["s: {x: null, m: {k: null}}", "{x: 1, w: 2, m: {k: 3}}", ""],
        set: &[],
        of_four: &["s.m.k=3", "s.w=2", "s.x=1"],
        of_three: &["s.w=2"],
    },
    Case {
        rule: "and in Helm 4 if a sibling is given",
        values: ["s: {x: null}", "{x: 1, w: 2}", "s: {z: 4}"],
        set: &[],
        of_four: &["s.w=2", "s.z=4"],
        of_three: &["s.w=2", "s.z=4"],
    },
    Case {
        rule: "or set",
        values: ["s: {x: null}", "{x: 1, w: 2}", ""],
        set: &[("set.s.w", "5")],
        of_four: &["s.w=5"],
        of_three: &["s.w=5"],
    },
    Case {
        rule: "a given null deletes in both",
        values: ["a: {b: 1, c: 2}", "{x: 1, w: 2}", "{a: {b: null}, s: {x: null}}"],
        set: &[],
        of_four: &["a.c=2", "s.w=2"],
        of_three: &["a.c=2", "s.w=2"],
    },
    Case {
        rule: "so does a set null",
        values: ["a: {b: 1, c: 2}", "{x: 1, w: 2}", ""],
        set: &[("set.a", "null"), ("set.s.x", "null")],
        of_four: &["s.w=2"],
        of_three: &["s.w=2"],
    },
    Case {
        rule: "Helm 3 reads only the first document",
        values: ["a: 1\n---\nb: 2", "x: 1\n---\nx: 3", "c: 1\n---\nc: 2\nd: 2"],
        set: &[],
        of_four: &["a=1", "b=2", "c=2", "d=2", "s.x=3"],
        of_three: &["a=1", "c=1", "s.x=1"],
    },
];

fn world(case: &Case) -> World {
    let [values, of_subchart, given] = case.values;
    let world = World::with_values(values)
        .chart_file("templates/seen.yaml", SEEN)
        .chart_file("charts/s/Chart.yaml", "apiVersion: v2\nname: s\nversion: 0.1.0\n")
        .chart_file("charts/s/values.yaml", of_subchart)
        .chart_file("given.yaml", given)
        .array("value-files", &["given.yaml"]);
    case.set.iter().fold(world, |world, (name, value)| world.text(name, value))
}

/// Returns the announced defaults and the set values: together they are helm's values.
fn announced(world: &World, case: &Case, helm: Option<Helm>) -> BTreeSet<String> {
    let list = match helm {
        Some(helm) => world.values_with(helm),
        None => world.announced_values(),
    };
    let set = case.set.iter().map(|(name, value)| (name.to_string(), value.to_string()));
    let is_set = |name: &str| case.set.iter().any(|(set, _)| *set == name);
    let defaults =
        list.into_iter().filter(|one| !is_set(&one.name)).filter_map(|one| Some((one.name, one.string?)));
    let all = defaults.chain(set).filter(|(_, value)| value != "null");
    all.map(|(name, value)| format!("{}={value}", name.strip_prefix("set.").expect("value name"))).collect()
}

#[test]
fn values_follow_the_helm_that_would_run() {
    for case in CASES {
        for (helm, expected) in [(Helm::Four, case.of_four), (Helm::Three, case.of_three)] {
            let world = world(case);
            let of_four: BTreeSet<String> = case.of_four.iter().map(|leaf| (*leaf).to_owned()).collect();
            assert_eq!(announced(&world, case, Some(helm)), of_four, "{}: unrecorded {helm:?}", case.rule);
            // This run records helm's version.
            let expected: BTreeSet<String> = expected.iter().map(|leaf| (*leaf).to_owned()).collect();
            let helms = leaves(&seen(&world, helm)).into_iter().filter(|leaf| !leaf.ends_with("=null"));
            assert_eq!(helms.collect::<BTreeSet<_>>(), expected, "{}: {helm:?} itself", case.rule);
            assert_eq!(announced(&world, case, Some(helm)), expected, "{} with {helm:?}", case.rule);
        }
    }
}

#[test]
fn values_follow_the_rules_of_the_engine() {
    for case in CASES {
        for (engine, expected) in [("builtin", case.of_four), ("builtin-helm3", case.of_three)] {
            let world = world(case).variable("TIPHYS_HELM_ENGINE", engine);
            // This run records helm's version.
            seen(&world, Helm::Three);
            let expected: BTreeSet<String> = expected.iter().map(|leaf| (*leaf).to_owned()).collect();
            assert_eq!(announced(&world, case, Some(Helm::Three)), expected, "{}: {engine}", case.rule);
        }
    }
}

#[test]
fn version_in_a_directory_writable_by_others_is_ignored() {
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;

    let case = &CASES[0];
    let world = world(case);
    seen(&world, Helm::Three);
    let expected = |list: &[&str]| list.iter().map(|leaf| (*leaf).to_owned()).collect::<BTreeSet<_>>();
    assert_eq!(announced(&world, case, Some(Helm::Three)), expected(case.of_three));
    let mut folders =
        fs::read_dir(world.temporary()).expect("readable").map(|entry| entry.expect("an entry"));
    let is_of_runs = |entry: &fs::DirEntry| entry.file_name().as_encoded_bytes().starts_with(b"tiphys-helm-");
    let folder = folders.find(is_of_runs).expect("the base directory exists").path();
    for folder in [folder.join("versions"), folder] {
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o777)).expect("own directory");
        assert_eq!(announced(&world, case, Some(Helm::Three)), expected(case.of_four));
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o700)).expect("own directory");
    }
}

#[test]
fn null_of_a_chart_is_announced_by_both_versions() {
    let world = World::with_values("a: null\nm: {k: null}\n").chart_file("templates/seen.yaml", SEEN);
    let expected = ["a (any)", "m.k (any)"];
    assert_eq!(world.lines(), expected);
    for helm in Helm::ALL {
        seen(&world, helm);
        let names: Vec<_> = world.values_with(helm).into_iter().map(|one| (one.name, one.string)).collect();
        assert_eq!(names, ["set.a", "set.m.k"].map(|name| (name.to_owned(), None)), "{helm:?}");
    }
}
