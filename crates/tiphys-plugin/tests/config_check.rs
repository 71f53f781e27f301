//! `plugin check`: `testdata/check/<case>/` holds a plugin's file and the report that is due.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use serde_json::Value;
use tiphys_plugin::config::check::{Rule, check};
use tiphys_testkit::fixture;

fn folder() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/check")
}

#[test]
fn each_case_gives_its_report() {
    for case in fixture::cases(&folder()) {
        let text = fs::read(case.join("plugin.yaml")).expect("the plugin's file");
        let mut report = serde_json::to_string_pretty(&check(&text, "plugin.yaml").to_json()).expect("JSON");
        report.push('\n');
        fixture::compare(&case.join("expected.json"), &report);
    }
}

#[test]
fn every_rule_has_a_case() {
    let mut found: BTreeSet<String> = BTreeSet::new();
    for case in fixture::cases(&folder()) {
        let expected = fs::read_to_string(case.join("expected.json")).expect("the report");
        let report: Value = serde_json::from_str(&expected).expect("JSON");
        let rules = report["findings"].as_array().expect("findings").iter();
        found.extend(rules.map(|finding| finding["rule"].as_str().expect("a rule").to_owned()));
    }
    let all: BTreeSet<String> = Rule::ALL.iter().map(|rule| rule.name().to_owned()).collect();
    assert_eq!(found, all);
}
