//! Unified diffs of text.

use similar::{Algorithm, TextDiff};

/// Default number of unchanged lines around a difference.
pub const DEFAULT_CONTEXT_LINES: usize = 3;

/// Returns the hunks of a unified diff without a header; empty if the inputs are equal. A missing final newline is marked as by `diff`.
///
/// The running time is linear in practice: where the search for the shortest diff would become quadratic, a longer one is accepted. That
/// does not depend on a clock, so the result is deterministic.
pub fn unified(before: &str, after: &str, context_lines: usize) -> String {
    let (before, after) = (lines(before), lines(after));
    let diff = TextDiff::configure()
        .algorithm(Algorithm::Myers)
        .newline_terminated(true)
        .diff_slices(&before, &after);
    let mut unified = diff.unified_diff();
    unified.context_radius(context_lines).iter_hunks().map(|hunk| hunk.to_string()).collect()
}

/// Splits into lines. Only a newline ends a line; carriage returns are content.
fn lines(text: &str) -> Vec<&str> {
    text.split_inclusive('\n').collect()
}

#[cfg(test)]
mod tests;
