//! The growth of a quantity: the slope of the least-squares line through its samples.

use std::fmt::Write as _;

use super::Sample;
use crate::bench::figures::{float, mebibytes};

/// A quantity that must not grow.
pub(super) struct Quantity {
    name: &'static str,
    of: fn(&Sample) -> f64,
    /// Allowed growth of the line from the first to the last sample. Samples differ by this much while several kinds of calls run.
    growth_max: f64,
}

/// All of them. Memory and files are in mebibytes.
pub(super) const QUANTITIES: [Quantity; 7] = [
    Quantity { name: "descriptors", of: |sample| float(sample.look.descriptors), growth_max: 8.0 },
    Quantity { name: "threads", of: |sample| float(sample.look.threads), growth_max: 8.0 },
    Quantity { name: "processes", of: |sample| float(sample.look.descendants), growth_max: 6.0 },
    Quantity { name: "zombies", of: |sample| float(sample.look.zombies), growth_max: 2.0 },
    Quantity { name: "files and folders", of: |sample| float(sample.entries), growth_max: 2_000.0 },
    Quantity { name: "MiB of files", of: |sample| mebibytes(sample.bytes), growth_max: 8.0 },
    Quantity { name: "MiB of memory", of: |sample| mebibytes(sample.look.resident_bytes), growth_max: 12.0 },
];

/// The growth of a quantity.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Growth {
    name: &'static str,
    least: f64,
    most: f64,
    per_minute: f64,
    /// From the first to the last sample, by the line.
    total: f64,
    total_max: f64,
}

impl Growth {
    /// Of these samples.
    pub(super) fn of(quantity: &Quantity, samples: &[&Sample]) -> Self {
        let points: Vec<(f64, f64)> =
            samples.iter().map(|sample| (sample.at.as_secs_f64() / 60.0, (quantity.of)(sample))).collect();
        let values = || points.iter().map(|point| point.1);
        let minutes = match (points.first(), points.last()) {
            (Some(first), Some(last)) => last.0 - first.0,
            _ => 0.0,
        };
        let per_minute = slope(&points);
        Self {
            name: quantity.name,
            least: values().fold(f64::INFINITY, f64::min),
            most: values().fold(f64::NEG_INFINITY, f64::max),
            per_minute,
            total: per_minute * minutes,
            total_max: quantity.growth_max,
        }
    }

    /// The problem, if it grew too much.
    pub(super) fn problem(&self) -> Option<String> {
        (self.total > self.total_max).then(|| {
            format!(
                "{}: {:.1} more per minute, {:.1} in total; allowed: {:.1}",
                self.name, self.per_minute, self.total, self.total_max
            )
        })
    }
}

/// The slope of the line that is nearest to all points; flat for fewer than two different places.
fn slope(points: &[(f64, f64)]) -> f64 {
    let count = points.iter().map(|_| 1.0).sum::<f64>();
    let mean = |value: fn(&(f64, f64)) -> f64| points.iter().map(value).sum::<f64>() / count;
    let (x, y) = (mean(|point| point.0), mean(|point| point.1));
    let together: f64 = points.iter().map(|point| (point.0 - x) * (point.1 - y)).sum();
    let spread: f64 = points.iter().map(|point| (point.0 - x).powi(2)).sum();
    if spread > 0.0 { together / spread } else { 0.0 }
}

/// The growths as a table.
pub(super) fn table(growths: &[Growth]) -> String {
    let mut text = format!(
        "{:18} {:>9} {:>9} {:>12} {:>9} {:>9}\n",
        "after the warm-up", "least", "most", "per minute", "growth", "allowed"
    );
    for growth in growths {
        let Growth { name, least, most, per_minute, total, total_max } = growth;
        let verdict = if growth.problem().is_some() { "  GROWS" } else { "" };
        writeln!(
            text,
            "{name:18} {least:9.1} {most:9.1} {per_minute:12.2} {total:9.1} {total_max:9.1}{verdict}"
        )
        .ok();
    }
    text
}

#[cfg(test)]
mod tests;
