//! The calls of the soak: good ones, bad ones, and plugins of every kind, over trees that the server has and that it has not.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::Failure;
use crate::bench::content::Words;
use crate::bench::place::write;
use crate::plugin_server::archive::{Archive, Contents, Index};
use crate::plugin_server::call::{Call, Ending, Method, Patience, Upload, call};
use crate::plugin_server::running::Server;

/// What the server is started with: fewer trees are kept than there are, so that some have to go, and plugins that take long to end do not
/// keep all others waiting.
pub(super) const SERVER_ARGUMENTS: [&str; 3] = ["--store-trees-max=8", "--jobs=16", "--plugin-grace=1"];

/// What the plugin does, see there.
const SCRIPT: &str = include_str!("behave.sh");

/// Trees that calls choose from, and files of each.
const TREES: u64 = 24;
const FILES: usize = 200;

/// The deadline of callers whose plugin hangs, and of all others.
const SHORT: Duration = Duration::from_millis(1_500);
const LONG: Duration = Duration::from_mins(1);

/// Problems that are shown; of a server that is broken each call is one.
const PROBLEMS_SHOWN_MAX: usize = 5;

/// gRPC statuses.
const UNKNOWN: u32 = 2;
const DEADLINE_EXCEEDED: u32 = 4;

/// How a call should end.
#[derive(Clone, Copy, Debug)]
enum Expected {
    Answered,
    /// With the same answer whenever the tree is the same.
    SameAnswer,
    Refused(&'static [u32]),
    GaveUp,
}

/// What is done to the archive.
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
    /// What the plugin is told to do.
    does: &'static str,
    timeout: Duration,
    patience: Patience,
    expected: Expected,
}

/// A good call, of which the others differ.
const GOOD: Kind = Kind {
    name: "generate",
    method: Method::Generate,
    sent: Sent::Whole,
    does: "print",
    timeout: LONG,
    patience: Patience::UntilAnswered,
    expected: Expected::SameAnswer,
};

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
    Kind { name: "plugin fails", does: "fail", expected: Expected::Refused(&[UNKNOWN]), ..GOOD },
    Kind { name: "plugin is killed", does: "kill", expected: Expected::Refused(&[UNKNOWN]), ..GOOD },
    Kind { name: "plugin prints much", does: "much", expected: Expected::Answered, ..GOOD },
    Kind { name: "plugin complains much", does: "loud", expected: Expected::Refused(&[UNKNOWN]), ..GOOD },
    Kind {
        name: "deadline passes",
        does: "hang",
        timeout: SHORT,
        expected: Expected::Refused(&[UNKNOWN, DEADLINE_EXCEEDED]),
        ..GOOD
    },
    Kind {
        name: "caller cancels the run",
        does: "hang",
        patience: Patience::CancelsIn(Duration::from_millis(150)),
        expected: Expected::GaveUp,
        ..GOOD
    },
    Kind {
        name: "caller cancels at once",
        patience: Patience::CancelsIn(Duration::ZERO),
        expected: Expected::GaveUp,
        ..GOOD
    },
    Kind {
        name: "caller cancels the upload",
        patience: Patience::CancelsAfter(20_000),
        expected: Expected::GaveUp,
        ..GOOD
    },
    Kind {
        name: "caller disappears",
        patience: Patience::HangsUpAfter(20_000),
        expected: Expected::GaveUp,
        ..GOOD
    },
    Kind {
        name: "wrong checksum",
        sent: Sent::WrongChecksum,
        expected: Expected::Refused(&[UNKNOWN]),
        ..GOOD
    },
    Kind { name: "half an archive", sent: Sent::Truncated, expected: Expected::Refused(&[UNKNOWN]), ..GOOD },
];

/// The plugin, and the archives of all trees in every state.
pub(super) struct Mix {
    plugin: String,
    trees: Vec<[Upload; 3]>,
    /// The first answer for each tree.
    answers: Mutex<HashMap<usize, Vec<u8>>>,
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
        let trees = (0..TREES).map(uploads).collect::<Result<_, _>>()?;
        Ok(Self { plugin, trees, answers: Mutex::default() })
    }

    /// Below `spec` of the plugin's file.
    pub(super) fn plugin(&self) -> &str {
        &self.plugin
    }

    /// Makes calls of all kinds until told to stop. Callers with different numbers have different orders.
    pub(super) fn call_until(&self, server: &Server, number: usize, stop: &AtomicBool) -> Tally {
        let mut tally = Tally::default();
        let mut words = Words::new(number as u64);
        let mut choose = |count: usize| usize::try_from(words.number() >> 33).unwrap_or_default() % count;
        while !stop.load(Ordering::Relaxed) {
            let kind = &KINDS[choose(KINDS.len())];
            let problem = self.one(server, kind, choose(self.trees.len()));
            tally.count(kind.name, problem);
        }
        tally
    }

    /// Makes a call, and says what is wrong with its end.
    fn one(&self, server: &Server, kind: &Kind, tree: usize) -> Option<String> {
        let [whole, truncated, wrong] = &self.trees[tree];
        let upload = match kind.sent {
            Sent::Whole => Some(whole),
            Sent::Truncated => Some(truncated),
            Sent::WrongChecksum => Some(wrong),
            Sent::Nothing => None,
        };
        let env = [("ARGOCD_ENV_DOES", kind.does)];
        let question = Call {
            method: kind.method,
            upload,
            env: &env,
            timeout: Some(kind.timeout),
            patience: kind.patience,
        };
        let ending = match call(&server.socket(), &question) {
            Ok(outcome) => outcome.ending,
            Err(failure) => return Some(failure.to_string()),
        };
        match (kind.expected, ending) {
            (Expected::SameAnswer, Ending::Answered(answer)) => {
                let mut answers = match self.answers.lock() {
                    Ok(answers) => answers,
                    Err(poisoned) => poisoned.into_inner(),
                };
                let first = answers.entry(tree).or_insert_with(|| answer.clone());
                (*first != answer).then(|| format!("another answer than before for tree {tree}"))
            }
            (Expected::Answered, Ending::Answered(_)) | (Expected::GaveUp, _) => None,
            (Expected::Refused(statuses), Ending::Refused(status)) if statuses.contains(&status) => None,
            (expected, Ending::Answered(answer)) => {
                Some(format!("{expected:?} was expected, not an answer of {} bytes", answer.len()))
            }
            (expected, ending) => Some(format!("{expected:?} was expected, not {ending:?}")),
        }
    }
}

/// The archive of a tree: as it is, with its second half missing, and under a wrong checksum.
fn uploads(seed: u64) -> Result<[Upload; 3], Failure> {
    let contents = Contents { files: FILES, seed, modified: 1_700_000_000, index: Index::Absent };
    let failed = |error| Failure::new(format!("packing: {error}"));
    let archive = contents.pack().map_err(failed)?;
    let half = Archive::of(archive.bytes[..archive.bytes.len() / 2].to_vec());
    let whole = Upload::new(&archive);
    let wrong = whole.with_wrong_checksum();
    Ok([whole, Upload::new(&half), wrong])
}

/// Calls by kind, and what was wrong with some.
#[derive(Debug, Default)]
pub(super) struct Tally {
    calls: BTreeMap<&'static str, (u64, Vec<String>)>,
}

impl Tally {
    fn count(&mut self, kind: &'static str, problem: Option<String>) {
        let (count, problems) = self.calls.entry(kind).or_default();
        *count += 1;
        problems.extend(problem);
    }

    /// Adds another caller's calls.
    pub(super) fn join(&mut self, other: Self) {
        for (kind, (count, problems)) in other.calls {
            let sum = self.calls.entry(kind).or_default();
            sum.0 += count;
            sum.1.extend(problems);
        }
    }

    /// What was wrong, the first of each kind.
    pub(super) fn problems(&self) -> impl Iterator<Item = String> {
        let problems = self.calls.iter().filter_map(|(kind, (count, problems))| {
            let first = problems.first()?;
            Some(format!("{kind}: {} of {count} calls went wrong, the first: {first}", problems.len()))
        });
        problems.take(PROBLEMS_SHOWN_MAX)
    }

    /// A table for people.
    pub(super) fn table(&self) -> String {
        let mut text = format!("{:34} {:>8} {:>8}\n", "calls", "made", "wrong");
        for (kind, (count, problems)) in &self.calls {
            writeln!(text, "{kind:34} {count:8} {:8}", problems.len()).ok();
        }
        text
    }
}
