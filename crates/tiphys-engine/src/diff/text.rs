//! Unified diffs of text.

use similar::{Algorithm, DiffTag, TextDiff};

/// Default number of unchanged lines around a difference.
pub const DEFAULT_CONTEXT_LINES: usize = 3;

/// Returns the hunks of a unified diff without a header; empty if the inputs are equal. A missing final newline is marked as by `diff`.
///
/// The running time is linear in practice: where the search for the shortest diff would become quadratic, a longer one is accepted. That
/// does not depend on a clock, so the result is deterministic.
pub fn unified(before: &str, after: &str, context_lines: usize) -> String {
    let (before, after) = (lines(before), lines(after));
    let diff = line_diff(&before, &after);
    let mut unified = diff.unified_diff();
    unified.context_radius(context_lines).iter_hunks().map(|hunk| hunk.to_string()).collect()
}

/// Returns `before` with changed lines that `is_ignored` accepts as they are in `after`, and their number. A line is changed together with
/// all that change beside it, or with its counterpart if as many lines are removed as added.
pub(super) fn with_ignored(before: &str, after: &str, is_ignored: &dyn Fn(&str) -> bool) -> (String, usize) {
    let (before, after) = (lines(before), lines(after));
    let (mut text, mut ignored) = (String::new(), 0);
    let are_ignored = |lines: &[&str]| lines.iter().all(|line| is_ignored(line.trim_end_matches('\n')));
    for operation in line_diff(&before, &after).ops() {
        let (removed, added) = (&before[operation.old_range()], &after[operation.new_range()]);
        if operation.tag() == DiffTag::Equal {
            text.extend(removed.iter().copied());
        } else if are_ignored(removed) && are_ignored(added) {
            text.extend(added.iter().copied());
            ignored += removed.len().max(added.len());
        } else if removed.len() == added.len() {
            for (old, new) in removed.iter().zip(added) {
                let is_pair = are_ignored(&[*old, *new]);
                text.push_str(if is_pair { new } else { old });
                ignored += usize::from(is_pair);
            }
        } else {
            text.extend(removed.iter().copied());
        }
    }
    (text, ignored)
}

fn line_diff<'a>(before: &'a [&'a str], after: &'a [&'a str]) -> TextDiff<'a, 'a, str> {
    TextDiff::configure().algorithm(Algorithm::Myers).newline_terminated(true).diff_slices(before, after)
}

/// Splits into lines. Only a newline ends a line; carriage returns are content.
fn lines(text: &str) -> Vec<&str> {
    text.split_inclusive('\n').collect()
}

#[cfg(test)]
mod tests;
