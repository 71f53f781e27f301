//! Recorded results of Argo CD's matchers: `glob-argo`.

use serde_json::Value;
use tiphys_go::glob::{Glob, Slash, go_match};
use tiphys_testkit::oracle::{self, Difference};

fn string<'a>(case: &'a Value, field: &str) -> &'a str {
    case[field].as_str().unwrap_or_else(|| panic!("{field} is a string: {case}"))
}

/// Compares whether a pattern matches; a malformed one does not.
fn compare(case: &Value, ours: &str) -> Result<(), Difference> {
    let recorded = if case.get("error").or_else(|| case.get("compile_error")).is_some() {
        "malformed"
    } else if case["match"] == true {
        "match"
    } else {
        "no match"
    };
    if ours == recorded { Ok(()) } else { Err(Difference::new(ours, recorded)) }
}

fn outcome<E>(matched: &Result<bool, E>) -> &'static str {
    match matched {
        Ok(true) => "match",
        Ok(false) => "no match",
        Err(_) => "malformed",
    }
}

#[test]
fn globs_match_as_in_argo_cd() {
    oracle::check("glob-argo.glob", |case| {
        if case["fn"] != "glob" {
            return None;
        }
        let separators = string(case, "separators");
        // No field of Argo CD has the separator `.`; with `.` and `/` exchanged these cases are of the separator `/`.
        let exchange = |text: &str| -> String {
            let exchanged = |c| match c {
                '.' => '/',
                '/' => '.',
                other => other,
            };
            if separators == "." { text.chars().map(exchanged).collect() } else { text.to_owned() }
        };
        let slash = if separators.is_empty() { Slash::Ordinary } else { Slash::Separator };
        let glob = Glob::new(&exchange(string(case, "pattern")), slash);
        let matched = glob.map(|glob| glob.matches(&exchange(string(case, "text"))));
        Some(compare(case, outcome(&matched)))
    });
}

#[test]
fn name_patterns_match_as_in_go() {
    oracle::check("glob-argo.filepath", |case| {
        (case["fn"] == "filepath").then(|| {
            let matched = go_match(string(case, "pattern").as_bytes(), string(case, "text").as_bytes());
            compare(case, outcome(&matched))
        })
    });
}
