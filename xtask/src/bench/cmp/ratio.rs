//! Targets that are parts of the figures of Argo CD's server.

use std::fmt::Write as _;

use serde::Serialize;

use super::super::figures::{Target, Unit, number};
use super::View;

/// The target of a row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Aim {
    None,
    /// Does not depend on the other side.
    Bound(Target),
    /// The figure of the other side divided by `one_in`. `baseline` is its figure if it is not measured.
    Part {
        baseline: f64,
        one_in: f64,
        one_in_with_copies: f64,
    },
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

/// Our median beside the other one and the target.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct Ratio {
    pub(super) row: &'static str,
    pub(super) what: String,
    pub(super) unit: Unit,
    pub(super) ours: f64,
    pub(super) other: Option<f64>,
    pub(super) target: Option<Target>,
}

/// A table of Markdown with the rows that have a target or another side.
pub(super) fn table(ratios: &[Ratio]) -> String {
    let mut text = "| row | what | ours | other | ours / other | target | |\n".to_owned();
    text.push_str("|---|---|---:|---:|---:|---:|---|\n");
    for ratio in ratios.iter().filter(|ratio| ratio.other.is_some() || ratio.target.is_some()) {
        let other = ratio.other.map(number).unwrap_or_default();
        let quotient =
            ratio.other.filter(|other| *other > 0.0).map(|other| format!("{:.3}", ratio.ours / other));
        let target = ratio.target.map(Target::text).unwrap_or_default();
        let verdict = match ratio.target.map(|target| target.is_met(ratio.ours)) {
            None => "",
            Some(true) => "met",
            Some(false) => "**missed**",
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

#[cfg(test)]
mod tests;
