use std::fs;

use serde_json::json;

use super::{CaseError, CaseOutput, Expected, TestMode, TestOutcome, judge, required_runs};

/// Compares a case with the plugin's output. Returns the outcome in words: `passed`, `updated FILES`, or the files of the problems.
fn outcome(expected: &Expected, given: &CaseOutput, mode: TestMode) -> (String, Vec<(String, String)>) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let outcome = judge(folder.path(), expected, given, mode).expect("the folder can be written to");
    let word = match outcome {
        TestOutcome::Passed => "passed".to_owned(),
        TestOutcome::Updated(files) => format!("updated {}", files.join(" ")),
        TestOutcome::Failed(problems, updated) => {
            let files: Vec<&str> = problems.iter().map(|problem| problem.file).collect();
            format!("failed {}, updated {}", files.join(" "), updated.join(" "))
        }
        TestOutcome::Malformed(why) => why.message().to_owned(),
    };
    let mut written: Vec<(String, String)> = fs::read_dir(folder.path())
        .expect("the folder can be read")
        .map(|entry| entry.expect("an entry").path())
        .map(|path| {
            let name = path.file_name().expect("a name").to_string_lossy().into_owned();
            (name, fs::read_to_string(path).expect("a text"))
        })
        .collect();
    written.sort();
    (word, written)
}

fn manifests(name: &str) -> Expected {
    Expected { manifests: Some(vec![json!({"kind": "A", "name": name})]), ..Expected::default() }
}

fn error(lines: &[&str]) -> Expected {
    let lines = lines.iter().map(|line| (*line).to_owned()).collect();
    Expected { error: Some(lines), ..Expected::default() }
}

fn generates(name: &str) -> CaseOutput {
    CaseOutput { manifests: Some(Ok(vec![json!({"name": name, "kind": "A"})])), ..CaseOutput::default() }
}

fn fails() -> CaseOutput {
    let wrong =
        CaseError { message: "t/app: plugin: no port\nsecond line".to_owned(), own: "no port".to_owned() };
    CaseOutput { manifests: Some(Err(wrong)), ..CaseOutput::default() }
}

#[test]
fn a_case_passes_if_it_gives_the_same_values_or_an_error_with_every_line() {
    let cases = [
        (manifests("a"), generates("a"), "passed"),
        (manifests("a"), generates("b"), "failed expected.yaml, updated "),
        (manifests("a"), fails(), "failed expected.yaml, updated "),
        (error(&["no port"]), fails(), "passed"),
        (error(&["second line", "app: plugin"]), fails(), "passed"),
        (error(&["no port", "no host"]), fails(), "failed error.txt, updated "),
        (error(&["no port"]), generates("a"), "failed error.txt, updated "),
    ];
    for (expected, given, word) in cases {
        let (outcome, written) = outcome(&expected, &given, TestMode::Compare);
        assert_eq!((outcome.as_str(), written.len()), (word, 0), "{expected:?} {given:?}");
    }
}

#[test]
fn an_update_writes_what_differs_and_never_turns_a_success_into_a_failure_or_the_reverse() {
    let yaml = "kind: A\nname: b\n";
    let cases = [
        (manifests("b"), generates("b"), "passed", None),
        (manifests("a"), generates("b"), "updated expected.yaml", Some(("expected.yaml", yaml))),
        (manifests("a"), fails(), "failed expected.yaml, updated ", None),
        (error(&["no port"]), fails(), "passed", None),
        (error(&["no host"]), fails(), "updated error.txt", Some(("error.txt", "no port\n"))),
        (error(&["no port"]), generates("b"), "failed error.txt, updated ", None),
        (Expected::default(), generates("b"), "updated expected.yaml", Some(("expected.yaml", yaml))),
        (Expected::default(), fails(), "updated error.txt", Some(("error.txt", "no port\n"))),
    ];
    for (expected, given, word, due) in cases {
        let (outcome, written) = outcome(&expected, &given, TestMode::Update);
        let due: Vec<(String, String)> =
            due.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect();
        assert_eq!((outcome.as_str(), written), (word, due), "{expected:?} {given:?}");
    }
}

#[test]
fn announcements_are_compared_and_a_new_case_gets_them_if_there_are_any() {
    let announces = |list| CaseOutput { announcement: Some(Ok(list)), ..CaseOutput::default() };
    let says = |list| Expected { announcement: Some(list), ..Expected::default() };
    let cases = [
        (says(json!([{"name": "a"}])), announces(json!([{"name": "a"}])), TestMode::Compare, "passed"),
        (
            says(json!([{"name": "a"}])),
            announces(json!([])),
            TestMode::Compare,
            "failed announcement.json, updated ",
        ),
        (says(json!([{"name": "a"}])), announces(json!([])), TestMode::Update, "updated announcement.json"),
        (Expected::default(), announces(json!([])), TestMode::Update, "passed"),
        (
            Expected::default(),
            announces(json!([{"name": "a"}])),
            TestMode::Update,
            "updated announcement.json",
        ),
    ];
    for (expected, given, mode, word) in cases {
        assert_eq!(outcome(&expected, &given, mode).0, word, "{expected:?} {given:?}");
    }
}

#[test]
fn only_what_a_case_speaks_of_is_run() {
    let announcement = Expected { announcement: Some(json!([])), ..Expected::default() };
    let cases = [
        (manifests("a"), TestMode::Compare, (true, false)),
        (manifests("a"), TestMode::Update, (true, false)),
        (error(&["a"]), TestMode::Compare, (true, false)),
        (announcement, TestMode::Update, (false, true)),
        (Expected::default(), TestMode::Update, (true, true)),
    ];
    for (expected, mode, asked) in cases {
        let due = required_runs(&expected, mode);
        assert_eq!((due.manifests, due.announcement), asked, "{expected:?}");
    }
}
