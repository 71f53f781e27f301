//! `plugin check`: `testdata/check/<case>/` contains a plugin's file and the expected report. `dynamic.json` is the output of the dynamic
//! command and `failed.txt` its failure; the report then includes the findings about it. `programs.json` has the files of programs that are
//! not executable, and `null` for missing programs; all others are found.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use serde_json::Value;
use tiphys_plugin::config::check::{ProgramState, Rule, announcing_failed, check, check_announced};
use tiphys_plugin::config::read;
use tiphys_testkit::fixture;

fn folder() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/check")
}

#[test]
fn cases_give_their_reports() {
    for case in fixture::cases(&folder()) {
        let text = fs::read(case.join("plugin.yaml")).expect("the plugin's file");
        let mut report = check(&text, "plugin.yaml", &|program| program_state(&case, program));
        if let Ok(stdout) = fs::read(case.join("dynamic.json")) {
            let config = read(&text).expect("the file can be served");
            check_announced(&config, "plugin.yaml", Some(&stdout), &mut report);
        }
        if let Ok(message) = fs::read_to_string(case.join("failed.txt")) {
            report.findings.push(announcing_failed("plugin.yaml", message.trim_end()));
        }
        let mut report = serde_json::to_string_pretty(&report.to_json()).expect("JSON");
        report.push('\n');
        fixture::compare(&case.join("expected.json"), &report);
    }
}

fn program_state(case: &Path, program: &str) -> ProgramState {
    let Ok(programs) = fs::read_to_string(case.join("programs.json")) else { return ProgramState::Found };
    let programs: Value = serde_json::from_str(&programs).expect("JSON");
    match programs.get(program) {
        None => ProgramState::Found,
        Some(file) => {
            file.as_str().map_or(ProgramState::Missing, |file| ProgramState::NotExecutable(file.into()))
        }
    }
}

#[test]
fn rules_have_cases() {
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
