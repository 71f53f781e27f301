//! The calls of the soak: valid and invalid ones, and plugins of every kind, with trees that the server has cached and others.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use crate::Failure;
use crate::bench::content::Words;
use crate::files::write;
use crate::plugin_server::archive::{Contents, Upload};
use crate::plugin_server::call::{Call, Client, GiveUp, Method, Outcome};

/// Options of the server. It caches fewer trees than there are, so that it removes some, and plugins that take long to end do not
/// block all others.
pub(super) const SERVER_ARGUMENTS: [&str; 3] = ["--store-trees-max=8", "--jobs=16", "--plugin-grace=1"];

/// The plugin.
const SCRIPT: &str = include_str!("behave.sh");

/// Number of trees, and of files in each.
const TREES: u64 = 24;
const FILES: usize = 200;

/// The deadline of calls whose plugin hangs, and of all others.
const SHORT: Duration = Duration::from_millis(1_500);
const LONG: Duration = Duration::from_mins(1);

/// gRPC statuses.
const UNKNOWN: u32 = 2;
const DEADLINE_EXCEEDED: u32 = 4;

/// The expected outcome of a call.
#[derive(Clone, Copy, Debug)]
enum Expected {
    Answered,
    /// Always the same answer for the same tree.
    SameAnswer,
    /// One of these gRPC statuses.
    Refused(&'static [u32]),
    /// The caller ends the call.
    GaveUp,
}

/// The archive that is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sent {
    Whole,
    Truncated,
    WrongChecksum,
    Nothing,
}

/// One kind of call.
struct Kind {
    name: &'static str,
    method: Method,
    sent: Sent,
    /// What the plugin does.
    does: &'static str,
    timeout: Duration,
    give_up: GiveUp,
    expected: Expected,
}

/// A valid call, the base of the others.
const GOOD: Kind = Kind {
    name: "generate",
    method: Method::Generate,
    sent: Sent::Whole,
    does: "print",
    timeout: LONG,
    give_up: GiveUp::Never,
    expected: Expected::SameAnswer,
};

const fn refused(name: &'static str, sent: Sent, does: &'static str) -> Kind {
    Kind { name, sent, does, expected: Expected::Refused(&[UNKNOWN]), ..GOOD }
}

const fn given_up(name: &'static str, does: &'static str, give_up: GiveUp) -> Kind {
    Kind { name, does, give_up, expected: Expected::GaveUp, ..GOOD }
}

const KINDS: [Kind; 19] = [
    GOOD,
    Kind { name: "plugin spoils its files", does: "spoil", ..GOOD },
    Kind { name: "generate after that", ..GOOD },
    Kind { name: "plugin leaves processes", does: "leave", ..GOOD },
    Kind { name: "plugin leaves one at its output", does: "hold", ..GOOD },
    Kind { name: "match", method: Method::Match, expected: Expected::Answered, ..GOOD },
    Kind { name: "announce", method: Method::Announce, expected: Expected::Answered, ..GOOD },
    Kind {
        name: "check of the configuration",
        method: Method::CheckConfiguration,
        sent: Sent::Nothing,
        expected: Expected::Answered,
        ..GOOD
    },
    refused("plugin fails", Sent::Whole, "fail"),
    refused("plugin is killed", Sent::Whole, "kill"),
    Kind { name: "plugin prints much", does: "much", expected: Expected::Answered, ..GOOD },
    refused("plugin complains much", Sent::Whole, "loud"),
    Kind {
        name: "deadline passes",
        does: "hang",
        timeout: SHORT,
        expected: Expected::Refused(&[UNKNOWN, DEADLINE_EXCEEDED]),
        ..GOOD
    },
    given_up("caller cancels the run", "hang", GiveUp::CancelRun(Duration::from_millis(150))),
    given_up("caller cancels at once", "print", GiveUp::CancelRun(Duration::ZERO)),
    given_up("caller cancels the upload", "print", GiveUp::CancelUpload(20_000)),
    given_up("caller disappears", "print", GiveUp::HangUp(20_000)),
    refused("wrong checksum", Sent::WrongChecksum, "print"),
    refused("half an archive", Sent::Truncated, "print"),
];

/// The plugin and the archives.
pub(super) struct Mix {
    /// The content of `spec` in the plugin's file.
    pub(super) plugin: String,
    /// Each tree as a whole, truncated, and with a wrong checksum.
    trees: Vec<[Upload; 3]>,
    /// Checksum of the first answer for each tree.
    answers: Mutex<HashMap<usize, String>>,
    /// Number of calls by kind, and their problems.
    calls: Mutex<BTreeMap<&'static str, (u64, Vec<String>)>>,
}

impl Mix {
    /// Packs the trees and writes the plugin's script below `folder`.
    pub(super) fn new(folder: &Path) -> Result<Self, Failure> {
        let script = folder.join("behave.sh");
        write(&script, SCRIPT.as_bytes())?;
        let plugin = format!(
            "  discover:\n    find:\n      command: [sh, -c, 'ls apps']\n  generate:\n    command: [sh, {}]\n  parameters:\n    \
             dynamic:\n      command: [echo, '[{{\"name\": \"a\"}}]']\n",
            script.display()
        );
        let trees = (0..TREES).map(|seed| uploads(folder, seed)).collect::<Result<_, _>>()?;
        Ok(Self { plugin, trees, answers: Mutex::default(), calls: Mutex::default() })
    }

    /// Makes this many valid calls at once.
    pub(super) fn run_at_once(&self, client: &Client, count: usize) -> Result<(), Failure> {
        let env = ["ARGOCD_ENV_DOES=print".to_owned()];
        let call = Call { upload: Some(&self.trees[0][0]), env: &env, timeout: LONG, ..Call::default() };
        client.at_once(&call, count)?.into_iter().try_for_each(|outcome| outcome.answered().map(drop))
    }

    /// Makes calls of all kinds until `stop` is set. The number of the caller determines their order.
    pub(super) fn call_until(&self, client: &Client, number: usize, stop: &AtomicBool) {
        let mut words = Words::new(number as u64);
        let mut choose = |count: usize| usize::try_from(words.number() >> 33).unwrap_or_default() % count;
        while !stop.load(Ordering::Relaxed) {
            let kind = &KINDS[choose(KINDS.len())];
            let problem = self.one(client, kind, choose(self.trees.len()));
            let mut calls = self.calls.lock().unwrap_or_else(PoisonError::into_inner);
            let (count, problems) = calls.entry(kind.name).or_default();
            *count += 1;
            problems.extend(problem);
        }
    }

    /// The calls as a table, and the first problem of each kind.
    pub(super) fn summary(&self) -> (String, Vec<String>) {
        let calls = self.calls.lock().unwrap_or_else(PoisonError::into_inner);
        let mut table = format!("{:34} {:>8} {:>8}\n", "calls", "made", "wrong");
        let mut first_problems = Vec::new();
        for (kind, (count, problems)) in calls.iter() {
            let wrong = problems.len();
            writeln!(table, "{kind:34} {count:8} {wrong:8}").ok();
            let first = problems.first();
            first_problems.extend(
                first.map(|first| format!("{kind}: {wrong} of {count} calls failed, the first: {first}")),
            );
        }
        (table, first_problems)
    }

    /// Makes a call, and returns what is wrong with its outcome.
    fn one(&self, client: &Client, kind: &Kind, tree: usize) -> Option<String> {
        let [whole, truncated, wrong] = &self.trees[tree];
        let upload = match kind.sent {
            Sent::Whole => Some(whole),
            Sent::Truncated => Some(truncated),
            Sent::WrongChecksum => Some(wrong),
            Sent::Nothing => None,
        };
        let call = Call {
            method: kind.method,
            upload,
            env: &[format!("ARGOCD_ENV_DOES={}", kind.does)],
            timeout: kind.timeout,
            give_up: kind.give_up,
        };
        match client.call(&call) {
            Ok(outcome) => self.problem(kind.expected, tree, &outcome),
            Err(failure) => Some(failure.to_string()),
        }
    }

    fn problem(&self, expected: Expected, tree: usize, outcome: &Outcome) -> Option<String> {
        let is_answered = outcome.code == 0 && !outcome.gave_up;
        match expected {
            Expected::SameAnswer if is_answered => {
                let mut answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
                let first = answers.entry(tree).or_insert_with(|| outcome.checksum.clone());
                (*first != outcome.checksum).then(|| format!("another answer than before for tree {tree}"))
            }
            Expected::Answered if is_answered => None,
            Expected::Refused(statuses) if statuses.contains(&outcome.code) => None,
            Expected::GaveUp => None,
            expected => Some(format!("expected {expected:?}, found {outcome:?}")),
        }
    }
}

/// The archive of a tree as a whole, truncated, and with a wrong checksum.
fn uploads(folder: &Path, seed: u64) -> Result<[Upload; 3], Failure> {
    let whole = Contents { seed, ..Contents::of(FILES) }.upload(folder)?;
    let bytes = fs::read(&whole.file).map_err(|error| Failure::at(&whole.file, error))?;
    let half = Upload::write(whole.file.with_extension("half"), &bytes[..bytes.len() / 2])?;
    let wrong = Upload { checksum: "0".repeat(whole.checksum.len()), ..whole.clone() };
    Ok([whole, half, wrong])
}
