//! Running the recorded answers of real programs against ours.
//!
//! `testdata/oracles/<name>.jsonl` holds the cases. `testdata/oracles/decisions.tsv` has a line for each case whose answer differs
//! on purpose: oracle, case id, decision. A difference without a line fails, and so does a line without a difference.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;

use serde_json::Value;

use crate::workspace_root;

/// All cases of an oracle. Lines are split at `\n` only.
pub fn cases(name: &str) -> Vec<Value> {
    let path = workspace_root().join("testdata/oracles").join(format!("{name}.jsonl"));
    let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    text.split('\n')
        .filter(|line| !line.is_empty())
        .map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{name}: {error}")))
        .collect()
}

/// Runs `answer` on every case that `applies`; it says `Err` with the difference where ours is not the recorded answer.
/// `part` names the field of the answer that is checked, and is the first column of the decisions (`manifest-split.server`).
/// The share that is equal is written to `target/oracles/<part>.txt`, which `cargo xtask test` prints.
pub fn check(part: &str, mut answer: impl FnMut(&Value) -> Option<Result<(), String>>) {
    let name = part.split('.').next().expect("split gives one item at least");
    let decisions = decisions(part);
    let (mut equal, mut decided, mut failures, mut stale) = (0_usize, 0_usize, String::new(), String::new());
    for case in cases(name) {
        let id = case["id"].as_str().expect("every case has an id");
        match (answer(&case), decisions.contains_key(id)) {
            (None, _) => {}
            (Some(Ok(())), false) => equal += 1,
            (Some(Ok(())), true) => writeln!(stale, "  {id}").expect("writing to a string"),
            (Some(Err(_)), true) => decided += 1,
            (Some(Err(difference)), false) => {
                writeln!(failures, "  {id}: {difference}").expect("writing to a string");
            }
        }
    }
    let total = equal + decided;
    #[expect(clippy::cast_precision_loss, reason = "a percentage for people")]
    let share = equal as f64 * 100.0 / total.max(1) as f64;
    let mut report =
        format!("{part}: {equal} of {total} equal ({share:.1} %), {decided} differ by decision\n");
    for (id, decision) in &decisions {
        writeln!(report, "  {id}: {decision}").expect("writing to a string");
    }
    let dir = workspace_root().join("target/oracles");
    fs::create_dir_all(&dir).expect("target/oracles can be made");
    fs::write(dir.join(format!("{part}.txt")), &report).expect("the report can be written");
    assert!(failures.is_empty(), "{part}: these differ without a decision:\n{failures}");
    assert!(stale.is_empty(), "{part}: these have a decision and do not differ:\n{stale}");
    assert!(total > 0, "{part}: no case was run");
}

fn decisions(part: &str) -> BTreeMap<String, String> {
    let path = workspace_root().join("testdata/oracles/decisions.tsv");
    let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    text.lines()
        .filter(|line| !line.starts_with('#') && !line.is_empty())
        .filter_map(|line| {
            let mut columns = line.splitn(3, '\t');
            let (oracle, id, decision) = (columns.next()?, columns.next()?, columns.next()?);
            (oracle == part).then(|| (id.to_owned(), decision.to_owned()))
        })
        .collect()
}
