//! Progress of long operations: one line on a terminal, which all other output erases first.

use std::io::{self, StderrLock, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use tiphys_source::ProgressSink;

use crate::output::note;
use crate::settings::Process;
use crate::terminal::one_line;

/// Erases the line of the cursor.
const ERASE: &str = "\r\x1b[K";

/// The line on standard error.
static LINE: Line = Line { is_shown: AtomicBool::new(false) };

/// Returns standard error without a line of progress. All output to a terminal begins with this call.
pub(crate) fn stderr() -> StderrLock<'static> {
    let mut out = io::stderr().lock();
    LINE.erase(&mut out);
    out
}

/// A line of progress.
struct Line {
    is_shown: AtomicBool,
}

impl Line {
    /// Replaces the line. A longer one than the terminal is cut by it, so that it can be erased.
    fn show(&self, out: &mut impl Write, text: &str) {
        // A closed standard error is ignored.
        drop(write!(out, "{ERASE}\x1b[?7l{}\x1b[?7h", one_line(text)));
        self.is_shown.store(true, Ordering::Relaxed);
    }

    fn erase(&self, out: &mut impl Write) {
        if self.is_shown.swap(false, Ordering::Relaxed) {
            drop(write!(out, "{ERASE}"));
        }
    }
}

/// Counts steps, and shows them on a terminal if there are several.
pub(crate) struct Progress {
    what: &'static str,
    /// `None` if it is not known before the end.
    total: Option<usize>,
    done: AtomicUsize,
    shown: bool,
}

impl Progress {
    /// Progress of `total` steps, each called `what`.
    pub(crate) fn new(host: &Process, what: &'static str, total: usize) -> Self {
        let shown = host.stderr_is_terminal() && total > 1;
        Self { what, total: Some(total), done: AtomicUsize::new(0), shown }
    }

    /// Progress of a number of steps that is not known yet.
    pub(crate) fn uncounted(host: &Process, what: &'static str) -> Self {
        Self { what, total: None, done: AtomicUsize::new(0), shown: host.stderr_is_terminal() }
    }

    /// Counts a completed step.
    pub(crate) fn step(&self, name: &str) {
        let done = self.done.fetch_add(1, Ordering::Relaxed) + 1;
        let what = self.what;
        match self.total {
            _ if !self.shown => {}
            None => show(&format!("{what} {done}: {name}")),
            Some(total) if done < total => show(&format!("{what} {done} of {total}: {name}")),
            Some(_) => drop(stderr()),
        }
    }
}

/// Returns what reports the use of repositories and charts. The progress of fetching is shown on a terminal.
pub(crate) fn of_sources(process: &Process) -> ProgressSink {
    let is_terminal = process.stderr_is_terminal();
    Arc::new(move |progress| match progress {
        tiphys_source::Progress::UsingCheckout { repository } => {
            note(&format!(
                "the files of this checkout are used for {repository}; --repo names other folders"
            ));
        }
        tiphys_source::Progress::Fetching { repository, revision } if is_terminal => {
            show(&format!("fetching {revision} of {repository} …"));
        }
        tiphys_source::Progress::Fetched { .. } if is_terminal => drop(stderr()),
        _ => {}
    })
}

fn show(text: &str) {
    LINE.show(&mut io::stderr().lock(), text);
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;

    use super::Line;

    #[test]
    fn line_is_replaced_and_erased_once() {
        let (line, mut out) = (Line { is_shown: AtomicBool::new(false) }, Vec::new());
        line.erase(&mut out);
        assert!(out.is_empty());
        line.show(&mut out, "1 of 3\n");
        line.show(&mut out, "2 of 3");
        line.erase(&mut out);
        line.erase(&mut out);
        let shown = "\r\x1b[K\x1b[?7l1 of 3\\n\x1b[?7h\r\x1b[K\x1b[?7l2 of 3\x1b[?7h\r\x1b[K";
        assert_eq!(String::from_utf8(out).expect("UTF-8"), shown);
    }
}
