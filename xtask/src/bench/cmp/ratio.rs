//! Targets of issue 5: parts of what Argo CD's server takes.

use std::fmt::Write as _;

use serde::Serialize;

use super::super::figures::{Target, Unit, number};
use super::View;

/// What a row is held to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Aim {
    /// A figure for people.
    None,
    /// The same whatever the other side takes.
    Bound(Target),
    /// One so-manieth of what the other side takes; where it is not measured, of what it took once (`spec/baseline.md`).
    Part { baseline: f64, one_in: f64, one_in_with_copies: f64 },
}

impl Aim {
    /// The target, with the other side's median if there is one.
    pub(super) fn target(self, view: View, other: Option<f64>) -> Option<Target> {
        match self {
            Self::None => None,
            Self::Bound(target) => Some(target),
            Self::Part { baseline, one_in, one_in_with_copies } => {
                let one_in = if view == View::Auto { one_in } else { one_in_with_copies };
                let tenths = other.unwrap_or(baseline) / one_in * 10.0;
                Some(Target::AtMost(tenths.floor() / 10.0))
            }
        }
    }
}

/// Our median beside the other one and beside the target.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct Ratio {
    pub(super) row: &'static str,
    pub(super) what: String,
    pub(super) unit: Unit,
    pub(super) ours: f64,
    pub(super) other: Option<f64>,
    pub(super) target: Option<Target>,
}

/// A table of Markdown with the rows that have a target or something to compare with.
pub(super) fn table(ratios: &[Ratio]) -> String {
    let mut text = "| row | what | ours | other | ours / other | target | |\n".to_owned();
    text.push_str("|---|---|---:|---:|---:|---:|---|\n");
    for ratio in ratios.iter().filter(|ratio| ratio.other.is_some() || ratio.target.is_some()) {
        let other = ratio.other.map(number).unwrap_or_default();
        let quotient =
            ratio.other.filter(|other| *other > 0.0).map(|other| format!("{:.3}", ratio.ours / other));
        let (target, verdict) = match ratio.target {
            None => (String::new(), ""),
            Some(Target::AtMost(most)) => (format!("≤ {most}"), verdict(ratio.ours <= most)),
            Some(Target::AtLeast(least)) => (format!("≥ {least}"), verdict(ratio.ours >= least)),
        };
        writeln!(
            text,
            "| {} | {} | {} {} | {other} | {} | {target} | {verdict} |",
            ratio.row,
            ratio.what,
            number(ratio.ours),
            ratio.unit.text(),
            quotient.unwrap_or_default(),
        )
        .ok();
    }
    text
}

fn verdict(is_met: bool) -> &'static str {
    if is_met { "met" } else { "**missed**" }
}

#[cfg(test)]
mod tests;
