//! Unified differences of texts.

use similar::{Algorithm, TextDiff};

/// Equal lines that are shown around a difference, where nobody asks for another number.
pub const DEFAULT_CONTEXT_LINES: usize = 3;

/// The hunks of a unified diff, without a heading; empty if the texts are equal. A last line without a newline is marked as `diff` does.
///
/// Takes time in proportion to the texts' lengths for all practical purposes: the search for the shortest difference is given up for a
/// longer one where it would become quadratic. No clock decides that, so that the answer is always the same.
pub fn unified(before: &str, after: &str, context_lines: usize) -> String {
    let (before, after) = (lines(before), lines(after));
    let diff = TextDiff::configure()
        .algorithm(Algorithm::Myers)
        .newline_terminated(true)
        .diff_slices(&before, &after);
    let mut unified = diff.unified_diff();
    unified.context_radius(context_lines).iter_hunks().map(|hunk| hunk.to_string()).collect()
}

/// Only a newline ends a line; carriage returns are content.
fn lines(text: &str) -> Vec<&str> {
    text.split_inclusive('\n').collect()
}

#[cfg(test)]
mod tests;
