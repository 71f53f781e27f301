//! Progress of long operations on a terminal.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tiphys_source::ProgressSink;

use crate::output::note;
use crate::settings::Process;
use crate::terminal::one_line;

/// Counts steps, and shows them on a terminal if there are several.
pub(crate) struct Progress {
    what: &'static str,
    total: usize,
    done: AtomicUsize,
    shown: bool,
}

impl Progress {
    /// Progress of `total` steps, each called `what`.
    pub(crate) fn new(host: &Process, what: &'static str, total: usize) -> Self {
        Self { what, total, done: AtomicUsize::new(0), shown: host.stderr_is_terminal() && total > 1 }
    }

    /// Counts a completed step.
    #[expect(clippy::print_stderr, reason = "progress for a person at a terminal")]
    pub(crate) fn step(&self, name: &str) {
        let done = self.done.fetch_add(1, Ordering::Relaxed) + 1;
        if self.shown {
            // The next step overwrites the line, the last one clears it.
            let end = if done == self.total { "\r\x1b[K" } else { "" };
            let name = one_line(name);
            eprint!("\r\x1b[K{} {done} of {}: {name}{end}", self.what, self.total);
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
        progress if is_terminal => show_fetching(progress),
        _ => {}
    })
}

#[expect(clippy::print_stderr, reason = "progress for a person at a terminal")]
fn show_fetching(progress: &tiphys_source::Progress<'_>) {
    use tiphys_source::Progress;
    match progress {
        Progress::LookingUp { .. } | Progress::UsingCheckout { .. } => {}
        Progress::Fetching { repository, revision } => {
            eprintln!("fetching {} of {} …", one_line(revision), one_line(repository));
        }
        Progress::Fetched { repository, duration } => {
            eprintln!("fetched {} in {:.1} s", one_line(repository), duration.as_secs_f64());
        }
    }
}
