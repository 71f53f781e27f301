//! The output of `plugin test`.

use serde_json::{Value, json};
use tiphys_service::plugin::test::{TestOutcome, TestProblem, TestResult};

use crate::error::warning_text;
use crate::output;
use crate::terminal::one_line;

/// One line per case, and the differences of failed cases, each limited to `diff_lines` lines.
pub(super) fn text(tested: &[TestResult], diff_lines: usize) -> String {
    let mut lines = Vec::new();
    for TestResult { name, outcome, .. } in tested {
        let name = one_line(name);
        match outcome {
            TestOutcome::Passed => lines.push(format!("ok {name}")),
            TestOutcome::Updated(files) => lines.push(format!("updated {name}: {}", files.join(", "))),
            TestOutcome::Failed(problems, files) => {
                lines.push(format!("FAILED {name}"));
                for problem in problems {
                    lines.extend(indented(&format!("{}: {}", problem.file, problem.message)));
                    let diff = problem.diff.as_deref().unwrap_or_default();
                    lines.extend(indented(diff).take(diff_lines));
                    let more = diff.lines().count().saturating_sub(diff_lines);
                    if more > 0 {
                        lines.push(format!("  … {more} more lines; --diff-lines shows more of them"));
                    }
                }
                if !files.is_empty() {
                    lines.push(format!("  updated: {}", files.join(", ")));
                }
            }
            TestOutcome::Malformed(_) => {}
        }
    }
    output::lines(lines)
}

/// Formats `plugin test -o json`.
pub(super) fn json(plugin: &str, tested: &[TestResult]) -> Value {
    let cases: Vec<Value> = tested.iter().map(case_json).collect();
    let count = |result: &str| cases.iter().filter(|case| case["result"] == result).count();
    json!({
        "plugin": plugin,
        "ok": count("ok") + count("updated"),
        "failed": count("failed"),
        "malformed": count("malformed"),
        "cases": cases,
    })
}

fn case_json(tested: &TestResult) -> Value {
    let (result, problems, updated) = match &tested.outcome {
        TestOutcome::Passed => ("ok", Vec::new(), [].as_slice()),
        TestOutcome::Updated(files) => ("updated", Vec::new(), files.as_slice()),
        TestOutcome::Failed(problems, files) => {
            let problem = |problem: &TestProblem| json!({"file": problem.file, "message": problem.message, "diff": problem.diff});
            ("failed", problems.iter().map(problem).collect(), files.as_slice())
        }
        TestOutcome::Malformed(why) => (
            "malformed",
            vec![json!({"file": null, "message": warning_text(why), "diff": null})],
            [].as_slice(),
        ),
    };
    json!({"name": tested.name, "result": result, "problems": problems, "updated": updated})
}

/// Prints the counts to standard error.
pub(super) fn print_summary(tested: &[TestResult]) {
    let count = |fits: fn(&TestOutcome) -> bool| tested.iter().filter(|one| fits(&one.outcome)).count();
    let parts = [
        (count(|outcome| matches!(outcome, TestOutcome::Passed)), "passed"),
        (count(|outcome| matches!(outcome, TestOutcome::Updated(_))), "updated"),
        (count(|outcome| matches!(outcome, TestOutcome::Failed(..))), "failed"),
        (count(|outcome| matches!(outcome, TestOutcome::Malformed(_))), "malformed"),
    ];
    let parts: Vec<String> =
        parts.iter().filter(|(count, _)| *count > 0).map(|(count, word)| format!("{count} {word}")).collect();
    let plural = if tested.len() == 1 { "" } else { "s" };
    output::status(&format!("{} case{plural}: {}", tested.len(), parts.join(", ")));
}

fn indented(text: &str) -> impl Iterator<Item = String> {
    text.lines().map(|line| format!("  {line}"))
}
