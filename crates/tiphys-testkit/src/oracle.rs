//! Compares recorded answers of real programs with ours.
//!
//! `testdata/oracles/<name>.jsonl` contains the cases. `testdata/oracles/decisions.tsv` has a line for each case that differs on purpose:
//! oracle, case id, our answer, decision. A difference without a line is an error, and so is a line without a difference or with another
//! answer. `UPDATE=1` writes the answers.

use std::collections::BTreeMap;
use std::fmt::{Display, Write as _};
use std::fs;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::{fixture, workspace_root};

/// Maximum characters of an answer in `decisions.tsv`. A longer one is shortened and gets a checksum.
const ANSWER_MAX: usize = 100;

/// A difference from a recorded answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    ours: String,
    recorded: String,
}

impl Difference {
    /// Our answer and the recorded one, which differ.
    pub fn new(ours: impl Display, recorded: impl Display) -> Self {
        Self { ours: ours.to_string(), recorded: recorded.to_string() }
    }
}

/// Returns all cases of an oracle. Lines are split at `\n` only.
pub fn cases(name: &str) -> Vec<Value> {
    let path = workspace_root().join("testdata/oracles").join(format!("{name}.jsonl"));
    let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    text.split('\n')
        .filter(|line| !line.is_empty())
        .map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{name}: {error}")))
        .collect()
}

/// Decodes the base64 of a recorded field.
pub fn base64(text: &str) -> Vec<u8> {
    STANDARD.decode(text).expect("recorded base64 is valid")
}

/// Runs `answer` on every case for which `applies` is true. `answer` returns the difference from the recorded answer, if any.
/// `part` names the checked field, and is the first column of the decisions (`manifest-split.server`).
/// The share of equal answers is written to `target/oracles/<part>.txt`, which `cargo xtask test` prints.
pub fn check(part: &str, mut answer: impl FnMut(&Value) -> Option<Result<(), Difference>>) {
    let name = part.split('.').next().expect("split returns at least one item");
    let decisions = decisions(part);
    let (mut equal, mut wrong, mut answers) = (0_usize, String::new(), BTreeMap::new());
    for case in cases(name) {
        let id = case["id"].as_str().expect("every case has an id");
        let decided = decisions.get(id).map(|decision| decision.answer.as_str());
        let problem = match (answer(&case), decided) {
            (None, _) => continue,
            (Some(Ok(())), None) => {
                equal += 1;
                continue;
            }
            (Some(Ok(())), Some(_)) => "has a decision but does not differ".to_owned(),
            (Some(Err(Difference { ours, recorded })), None) => {
                format!("differs without a decision: {ours}\n    instead of {recorded}")
            }
            (Some(Err(Difference { ours, .. })), Some(decided)) => {
                let answer = shortened(&ours);
                let is_decided = decided == answer || fixture::is_updating();
                answers.insert(id.to_owned(), answer);
                if is_decided {
                    continue;
                }
                format!("differs from the decision (UPDATE=1 writes it): {ours}\n    instead of {decided}")
            }
        };
        writeln!(wrong, "  {id}: {problem}").expect("writing to a string");
    }
    let total = equal + answers.len();
    #[expect(clippy::cast_precision_loss, reason = "a displayed percentage")]
    let share = equal as f64 * 100.0 / total.max(1) as f64;
    let mut report =
        format!("{part}: {equal} of {total} equal ({share:.1} %), {} differ by decision\n", answers.len());
    for (id, Decision { reason, .. }) in &decisions {
        writeln!(report, "  {id}: {reason}").expect("writing to a string");
    }
    let dir = workspace_root().join("target/oracles");
    fs::create_dir_all(&dir).expect("target/oracles can be made");
    fs::write(dir.join(format!("{part}.txt")), &report).expect("the report can be written");
    assert!(wrong.is_empty(), "{part}:\n{wrong}");
    assert!(total > 0, "{part}: no case was run");
    if fixture::is_updating() {
        update(part, &answers);
    }
}

/// A line of `decisions.tsv`.
struct Decision {
    answer: String,
    reason: String,
}

fn decisions_file() -> PathBuf {
    workspace_root().join("testdata/oracles/decisions.tsv")
}

fn decisions(part: &str) -> BTreeMap<String, Decision> {
    let path = decisions_file();
    let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let decision = |line: &str| match line.split('\t').collect::<Vec<_>>()[..] {
        [oracle, id, answer, reason] if oracle == part => {
            Some((id.to_owned(), Decision { answer: answer.to_owned(), reason: reason.to_owned() }))
        }
        _ => None,
    };
    text.lines().filter_map(decision).collect()
}

/// Writes the answers of a part into `decisions.tsv`. Tests of one program do it in turn.
fn update(part: &str, answers: &BTreeMap<String, String>) {
    static WRITING: Mutex<()> = Mutex::new(());
    let _writing = WRITING.lock().unwrap_or_else(PoisonError::into_inner);
    let path = decisions_file();
    let mut updated = String::new();
    for line in fs::read_to_string(&path).expect("the decisions can be read").lines() {
        let mut columns: Vec<&str> = line.split('\t').collect();
        if let [oracle, id, answer, _] = &mut columns[..]
            && *oracle == part
            && let Some(ours) = answers.get(*id)
        {
            *answer = ours;
        }
        writeln!(updated, "{}", columns.join("\t")).expect("writing to a string");
    }
    fs::write(&path, updated).expect("the decisions can be written");
}

/// Formats an answer on one line. A long one is shortened and gets a checksum.
fn shortened(answer: &str) -> String {
    let mut line = String::new();
    for c in answer.chars() {
        if c.is_control() { line.extend(c.escape_default()) } else { line.push(c) }
    }
    match line.char_indices().nth(ANSWER_MAX) {
        None => line,
        Some((end, _)) => {
            let [a, b, c, d, ..] = Sha256::digest(&line)[..] else { unreachable!("32 bytes") };
            format!("{}… {:08x}", &line[..end], u32::from_be_bytes([a, b, c, d]))
        }
    }
}
