//! Shell completion: a script calls the program at each Tab for the candidates at the cursor.
//!
//! Candidates come from the definitions of the arguments, the store, the files of in-process plugins and the directories of `--repo`. No
//! plugin runs, nothing is fetched, and standard input is not read. A failure only leaves out candidates. Names are untrusted: those with
//! control characters are left out, and shell syntax is quoted.
//!
//! `clap_complete` has an engine for this, but its scripts insert candidates unquoted, split words at `:` and `=` in bash, and in
//! PowerShell run the line that is being typed.

mod answer;
mod context;
mod line;
mod names;
mod parameters;
mod paths;
mod quoting;
mod shell;

use std::process::ExitCode;
use std::sync::mpsc;
use std::time::Duration;

use clap::CommandFactory;

use crate::args::Arguments;
use crate::output;
use crate::settings::Process;

pub(crate) use shell::script;

/// The first argument of a call by a completion script. The shell and the words follow.
pub(crate) const ARGUMENT: &str = "__complete";

/// Limit for an answer. A later one would delay typing.
const ANSWER_TIME_MAX: Duration = Duration::from_secs(1);

/// Answers a completion script. Failures print nothing.
pub(crate) fn run(host: &Process) -> ExitCode {
    let (sender, receiver) = mpsc::channel();
    let asked = host.clone();
    // A blocked file system call may keep the thread; the process ends without it.
    let thread = std::thread::Builder::new().spawn(move || sender.send(answer(&asked)));
    if thread.is_ok()
        && let Ok(Some(answer)) = receiver.recv_timeout(ANSWER_TIME_MAX)
    {
        // The script may have ended.
        drop(output::print(&answer));
    }
    ExitCode::SUCCESS
}

/// Returns the answer, or `None` if the arguments are not those of a completion script.
fn answer(host: &Process) -> Option<String> {
    let request = shell::Request::read(&host.completion_arguments()?)?;
    let mut root = Arguments::command();
    root.build();
    let line = line::Line::read(&root, &request.words, &request.word);
    let context = context::Context::new(host, &line);
    Some(request.print(answer::candidates(&line, &context)))
}

/// A candidate at the cursor.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Candidate {
    /// The whole word, including the typed part.
    value: String,
    /// A description on one line; may be empty.
    description: String,
    end: End,
}

/// The character after a candidate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    /// The next word.
    Word,
    /// More of this word.
    Open,
}

impl Candidate {
    fn word(value: impl Into<String>, description: impl Into<String>) -> Self {
        Self { value: value.into(), description: description.into(), end: End::Word }
    }

    fn open(value: impl Into<String>, description: impl Into<String>) -> Self {
        Self { end: End::Open, ..Self::word(value, description) }
    }

    /// Adds a prefix that has been typed.
    fn with_prefix(self, before: &str) -> Self {
        Self { value: format!("{before}{}", self.value), ..self }
    }
}
