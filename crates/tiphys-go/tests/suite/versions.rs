//! Comparison with Helm for random ranges and versions. Helm's function `semverCompare` matches the same versions, and both reject the same
//! ranges.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use tiphys_go::versions::{Version, VersionRange};
use tiphys_testkit::dice::Dice;
use tiphys_testkit::tools;

/// Seed of the random generator; another one generates other ranges.
const SEED: u64 = 0x5eed_0f7e_1510_0042;

const RANGES: usize = 600;
const VERSIONS: usize = 120;

/// Maximum number of invalid ranges to check; each requires a run of Helm.
const INVALID_MAX: usize = 20;

const TEMPLATE: &str = r#"rows:
{{- range $range := .Values.ranges }}
- "{{ range $version := $.Values.versions }}{{ if semverCompare $range $version }}1{{ else }}0{{ end }}{{ end }}"
{{- end }}
"#;

fn version(dice: &mut Dice) -> String {
    let number = ["0", "1", "2", "3", "10"];
    let mut text = dice.one(&["", "", "", "v"]).to_owned() + dice.one(&number);
    for _ in 0..dice.below(4).min(2) {
        text = text + "." + dice.one(&number);
    }
    text + dice.one(&["", "", "", "-0", "-rc.1", "-alpha", "-alpha.2", "-rc.x-1"])
        + dice.one(&["", "", "+b.1"])
}

fn pattern(dice: &mut Dice) -> String {
    let number = ["0", "1", "2", "3", "10", "x", "*", "X"];
    let mut text = dice.one(&["", "", "", "v"]).to_owned() + dice.one(&number);
    let more = if dice.below(20) == 0 { 3 } else { dice.below(3) };
    for _ in 0..more {
        text = text + "." + dice.one(&number);
    }
    let wrong = dice.below(40) == 0;
    let tail = if wrong {
        dice.one(&["-", "-01", "x", ".", "|1"])
    } else {
        dice.one(&["", "", "", "-0", "-rc.1", "-alpha.1"])
    };
    text + tail + dice.one(&["", "", "", "+b"])
}

fn range(dice: &mut Dice) -> String {
    let operators = ["", "=", "!=", ">", "<", ">=", "=>", "<=", "=<", "~", "~>", "^", "^", "~"];
    let mut text = String::new();
    for index in 0..=dice.below(4) {
        if index > 0 {
            text += dice.one(&[" ", ", ", ",", " , ", "||", " || ", "  "]);
        }
        if dice.below(6) == 0 {
            text = text + &pattern(dice) + dice.one(&[" - ", " - ", "  -  ", " -"]) + &pattern(dice);
        } else {
            text = text + dice.one(&operators) + dice.one(&["", "", " "]) + &pattern(dice);
        }
    }
    text
}

/// Runs Helm to compare versions with ranges.
fn run_helm(folder: &Path, helm: &str, ranges: &[&str], versions: &[String]) -> Output {
    let versions: Vec<&str> = versions.iter().map(String::as_str).collect();
    // The `Debug` format of these lists is valid JSON.
    let values = format!("{{\"ranges\": {ranges:?}, \"versions\": {versions:?}}}");
    fs::write(folder.join("values.yaml"), values).expect("a file can be written");
    #[expect(clippy::disallowed_methods, reason = "tests only")]
    let output = Command::new(tools::program(helm)).args(["template", "x"]).arg(folder).output();
    output.expect("Helm starts")
}

fn chart() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a temporary directory");
    let write =
        |name: &str, text: &str| fs::write(folder.path().join(name), text).expect("a file can be written");
    fs::create_dir(folder.path().join("templates")).expect("a directory can be created");
    write("Chart.yaml", "apiVersion: v2\nname: c\nversion: 1.0.0\n");
    write("templates/rows.yaml", TEMPLATE);
    folder
}

fn check(helm: &str) {
    let dice = &mut Dice::new(SEED);
    let folder = chart();
    let versions: Vec<String> = (0..VERSIONS).map(|_| version(dice)).collect();
    let parsed: Vec<Version> = versions.iter().map(|text| Version::parse(text).expect(text)).collect();
    let texts: Vec<String> = (0..RANGES).map(|_| range(dice)).collect();
    let (mut valid, mut invalid) = (Vec::new(), Vec::new());
    for text in &texts {
        match VersionRange::parse(text) {
            Ok(range) => valid.push((text.as_str(), range)),
            Err(_) => invalid.push(text.as_str()),
        }
    }
    assert!(valid.len() > RANGES / 3 && invalid.len() > INVALID_MAX, "{} of {RANGES}", valid.len());

    let names: Vec<&str> = valid.iter().map(|(text, _)| *text).collect();
    let output = run_helm(folder.path(), helm, &names, &versions);
    let (answer, errors) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    let rows: Vec<&str> =
        answer.lines().filter_map(|line| line.strip_prefix("- \"")?.strip_suffix('"')).collect();
    assert_eq!(rows.len(), valid.len(), "Helm rejects a range that is valid here: {errors}");
    for ((text, range), row) in valid.iter().zip(rows) {
        for ((version, parsed), expected) in versions.iter().zip(&parsed).zip(row.chars()) {
            assert_eq!(range.matches(parsed), expected == '1', "{version} in {text:?}");
        }
    }
    for text in invalid.into_iter().take(INVALID_MAX) {
        let output = run_helm(folder.path(), helm, &[text], &versions);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(errors.contains("constraint"), "Helm accepts {text:?}, which is invalid here: {errors}");
    }
}

#[test]
fn helm_4_matches_same_versions_in_random_ranges() {
    check("helm");
}

#[test]
fn helm_3_matches_same_versions_in_random_ranges() {
    check("helm3");
}
