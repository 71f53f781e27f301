//! What `plugin test` prints.

use serde_json::{Value, json};

use crate::output;
use crate::terminal::one_line;

/// A case and what became of it.
pub(super) struct Tested {
    pub(super) name: String,
    pub(super) outcome: Outcome,
}

/// What became of a case.
pub(super) enum Outcome {
    /// It gives what it says.
    Passed,
    /// These files were written.
    Updated(Vec<&'static str>),
    /// It gives something else; the files were written nevertheless.
    Failed(Vec<Problem>, Vec<&'static str>),
    /// It is no case, and why.
    Malformed(String),
}

/// One expectation that does not hold.
pub(super) struct Problem {
    pub(super) file: &'static str,
    pub(super) message: String,
    /// From what is expected to what is given, as a unified diff.
    pub(super) diff: Option<String>,
}

/// One line a case, and what is wrong with those that failed; `diff_lines` of each difference at most.
pub(super) fn text(tested: &[Tested], diff_lines: usize) -> String {
    let mut lines = Vec::new();
    for Tested { name, outcome } in tested {
        let name = one_line(name);
        match outcome {
            Outcome::Passed => lines.push(format!("ok {name}")),
            Outcome::Updated(files) => lines.push(format!("updated {name}: {}", files.join(", "))),
            Outcome::Failed(problems, files) => {
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
            Outcome::Malformed(_) => {}
        }
    }
    output::lines(lines)
}

/// The shape of `plugin test -o json`.
pub(super) fn json(plugin: &str, tested: &[Tested]) -> Value {
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

fn case_json(tested: &Tested) -> Value {
    let (result, problems, updated) = match &tested.outcome {
        Outcome::Passed => ("ok", Vec::new(), [].as_slice()),
        Outcome::Updated(files) => ("updated", Vec::new(), files.as_slice()),
        Outcome::Failed(problems, files) => {
            let problem = |problem: &Problem| json!({"file": problem.file, "message": problem.message, "diff": problem.diff});
            ("failed", problems.iter().map(problem).collect(), files.as_slice())
        }
        Outcome::Malformed(why) => {
            ("malformed", vec![json!({"file": null, "message": why, "diff": null})], [].as_slice())
        }
    };
    json!({"name": tested.name, "result": result, "problems": problems, "updated": updated})
}

/// The numbers, on stderr.
pub(super) fn tell_summary(tested: &[Tested]) {
    let count = |fits: fn(&Outcome) -> bool| tested.iter().filter(|one| fits(&one.outcome)).count();
    let parts = [
        (count(|outcome| matches!(outcome, Outcome::Passed)), "passed"),
        (count(|outcome| matches!(outcome, Outcome::Updated(_))), "updated"),
        (count(|outcome| matches!(outcome, Outcome::Failed(..))), "failed"),
        (count(|outcome| matches!(outcome, Outcome::Malformed(_))), "malformed"),
    ];
    let parts: Vec<String> =
        parts.iter().filter(|(count, _)| *count > 0).map(|(count, word)| format!("{count} {word}")).collect();
    let plural = if tested.len() == 1 { "" } else { "s" };
    output::note(&format!("{} case{plural}: {}", tested.len(), parts.join(", ")));
}

fn indented(text: &str) -> impl Iterator<Item = String> {
    text.lines().map(|line| format!("  {line}"))
}
