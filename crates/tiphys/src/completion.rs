//! Shell completion: a script asks the program at each Tab what may stand where the cursor is.
//!
//! An answer is made from the definitions of the arguments, the store, the files of plugins in process and the folders of `--repo`. No
//! plugin runs, nothing is fetched, standard input is not read, and whatever fails only makes the answer shorter. Names are somebody
//! else's: what has control characters is left out, and what the shell would read as more than text is quoted.
//!
//! `clap_complete` has an engine for this; its scripts put candidates into the line unquoted, take what `:` and `=` divide in bash for
//! several words, and run the line that is being typed in PowerShell, so it is not used.

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

/// The first argument of a call by a shell's script; the shell and what has been typed follow.
pub(crate) const ARGUMENT: &str = "__complete";

/// How long an answer may take; later it is in the way of whoever types.
const ANSWER_TIME_MAX: Duration = Duration::from_secs(1);

/// Answers a shell's script. Failures are no answer: nobody asked for a message.
pub(crate) fn run(host: &Process) -> ExitCode {
    let (sender, receiver) = mpsc::channel();
    let asked = host.clone();
    // The file system may keep a thread for ever; the process ends without it.
    let thread = std::thread::Builder::new().spawn(move || sender.send(answer(&asked)));
    if thread.is_ok()
        && let Ok(Some(answer)) = receiver.recv_timeout(ANSWER_TIME_MAX)
    {
        // A script that has ended needs no answer.
        drop(output::print(&answer));
    }
    ExitCode::SUCCESS
}

/// The answer to a script's question; `None` if no script of ours asks so.
fn answer(host: &Process) -> Option<String> {
    let request = shell::Request::read(&host.completion_arguments()?)?;
    let mut root = Arguments::command();
    root.build();
    let line = line::Line::read(&root, &request.words, &request.word);
    let context = context::Context::new(host, &line);
    Some(request.print(answer::candidates(&line, &context)))
}

/// Something that may stand where the cursor is.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Candidate {
    /// The whole word, what has been typed of it included.
    value: String,
    /// What a shell may show beside it; one line, may be empty.
    description: String,
    end: End,
}

/// What comes behind a candidate.
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

    /// The same behind a text that has been typed before it.
    fn behind(self, before: &str) -> Self {
        Self { value: format!("{before}{}", self.value), ..self }
    }
}
