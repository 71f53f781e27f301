//! Notes: what a command did by itself, and what needs no action. They are printed with `-v`; their number is printed without it.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::status;

/// Whether notes and details are printed.
static IS_VERBOSE: OnceLock<bool> = OnceLock::new();

/// Number of notes that were not printed.
static LEFT_OUT: AtomicUsize = AtomicUsize::new(0);

/// Sets whether notes and details are printed. Only the first call counts.
pub(crate) fn set_verbose(is_verbose: bool) {
    IS_VERBOSE.get_or_init(|| is_verbose);
}

/// Returns whether notes and details are printed.
pub(crate) fn is_verbose() -> bool {
    IS_VERBOSE.get() == Some(&true)
}

/// Prints or counts a note. What changes the meaning of a result is a warning instead.
pub(crate) fn note(text: &str) {
    if is_verbose() {
        status(&format!("note: {text}"));
    } else {
        LEFT_OUT.fetch_add(1, Ordering::Relaxed);
    }
}

/// Prints the number of notes that were not printed, if there are any.
pub(crate) fn print_note_count() {
    match LEFT_OUT.swap(0, Ordering::Relaxed) {
        0 => {}
        1 => status("1 note; -v shows it"),
        count => status(&format!("{count} notes; -v shows them")),
    }
}
