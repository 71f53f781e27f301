//! Measured figures: their spread, their targets, and their table.

use std::time::Duration;

use serde::Serialize;

use super::sample::Sample;
use crate::table::{row, text};

/// The unit of a figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(super) enum Unit {
    #[serde(rename = "ms")]
    Milliseconds,
    /// Applications per second.
    #[serde(rename = "applications/s")]
    PerSecond,
    #[serde(rename = "calls/s")]
    CallsPerSecond,
    #[serde(rename = "count")]
    Count,
    #[serde(rename = "MiB")]
    Mebibytes,
}

impl Unit {
    pub(super) fn text(self) -> &'static str {
        match self {
            Self::Milliseconds => "ms",
            Self::PerSecond => "apps/s",
            Self::CallsPerSecond => "calls/s",
            Self::Count => "count",
            Self::Mebibytes => "MiB",
        }
    }
}

/// The target of a median.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum Target {
    AtMost(f64),
    AtLeast(f64),
}

impl Target {
    pub(super) fn is_met(self, median: f64) -> bool {
        match self {
            Self::AtMost(limit) => median <= limit,
            Self::AtLeast(limit) => median >= limit,
        }
    }

    pub(super) fn text(self) -> String {
        match self {
            Self::AtMost(limit) => format!("≤ {limit}"),
            Self::AtLeast(limit) => format!("≥ {limit}"),
        }
    }
}

/// One figure of a case, of all runs.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Figure {
    /// The case, as `--only` names it.
    case: &'static str,
    what: String,
    unit: Unit,
    /// The value of each run, sorted.
    values: Vec<f64>,
    /// Median of the CPU time in milliseconds, if the figure is about processes.
    processor_ms: Option<f64>,
    target: Option<Target>,
}

impl Figure {
    /// The figure of these runs.
    pub(super) fn new(case: &'static str, what: impl Into<String>, unit: Unit, values: Vec<f64>) -> Self {
        let values = sorted(values);
        Self { case, what: what.into(), unit, values, processor_ms: None, target: None }
    }

    /// Adds the CPU time of each run in milliseconds. A busy machine changes it less than the wall-clock time.
    pub(super) fn with_processor_time(self, milliseconds: Vec<f64>) -> Self {
        Self { processor_ms: Some(median(&sorted(milliseconds))), ..self }
    }

    /// Adds a target, if there is one.
    pub(super) fn held_to(self, target: impl Into<Option<Target>>) -> Self {
        Self { target: target.into(), ..self }
    }

    pub(super) fn min(&self) -> f64 {
        self.values.first().copied().unwrap_or_default()
    }

    pub(super) fn max(&self) -> f64 {
        self.values.last().copied().unwrap_or_default()
    }

    pub(super) fn median(&self) -> f64 {
        median(&self.values)
    }

    /// Whether the median meets the target; none without a target.
    pub(super) fn holds(&self) -> Option<bool> {
        self.target.map(|target| target.is_met(self.median()))
    }

    /// The object of `--json`.
    pub(super) fn json(&self) -> serde_json::Value {
        serde_json::json!({
            "case": self.case,
            "what": self.what,
            "unit": self.unit,
            "runs": self.values.len(),
            "min": self.min(),
            "median": self.median(),
            "max": self.max(),
            "values": self.values,
            "processorMs": self.processor_ms,
            "target": self.target,
            "holds": self.holds(),
        })
    }
}

/// Collects the figures of one case.
#[derive(Debug)]
pub(super) struct Sheet<'a> {
    pub(super) case: &'static str,
    pub(super) figures: &'a mut Vec<Figure>,
}

impl Sheet<'_> {
    pub(super) fn add(&mut self, what: impl Into<String>, unit: Unit, values: Vec<f64>) -> &mut Figure {
        self.figures.push(Figure::new(self.case, what, unit, values));
        let last = self.figures.len() - 1;
        &mut self.figures[last]
    }

    /// Adds wall-clock and CPU time of processes, and returns the median in milliseconds.
    pub(super) fn processes(
        &mut self,
        what: impl Into<String>,
        samples: &[Sample],
        target: impl Into<Option<Target>>,
    ) -> f64 {
        self.times(what, samples.iter().map(|sample| [sample.wall_seconds, sample.cpu_seconds]), target)
    }

    /// Adds the difference of two processes, run by run.
    pub(super) fn beside(
        &mut self,
        what: impl Into<String>,
        [ours, theirs]: [&[Sample]; 2],
        target: impl Into<Option<Target>>,
    ) {
        let difference = |(ours, theirs): (&Sample, &Sample)| {
            [ours.wall_seconds - theirs.wall_seconds, ours.cpu_seconds - theirs.cpu_seconds]
        };
        self.times(what, ours.iter().zip(theirs).map(difference), target);
    }

    fn times(
        &mut self,
        what: impl Into<String>,
        seconds: impl Iterator<Item = [f64; 2]>,
        target: impl Into<Option<Target>>,
    ) -> f64 {
        let (wall, processor) =
            seconds.map(|[wall, processor]| (wall * 1_000.0, processor * 1_000.0)).unzip();
        let figure = Figure::new(self.case, what, Unit::Milliseconds, wall).with_processor_time(processor);
        let median = figure.median();
        self.figures.push(figure.held_to(target));
        median
    }

    /// Adds two figures: the time beside the plugin's own commands, which has the target, and the time of the whole process.
    pub(super) fn overhead(&mut self, what: &str, samples: &[Sample], target: Option<Target>) {
        let overhead = samples.iter().map(|sample| sample.overhead_seconds * 1_000.0).collect();
        self.add(format!("{what}, overhead"), Unit::Milliseconds, overhead).target = target;
        self.processes(format!("{what}, whole process"), samples, None);
    }

    /// Adds the peak memory of processes.
    pub(super) fn peak(&mut self, what: impl Into<String>, samples: &[Sample], target: Option<Target>) {
        let peaks = samples.iter().map(|sample| mebibytes(sample.peak_bytes)).collect();
        self.add(what, Unit::Mebibytes, peaks).target = target;
    }
}

/// All figures as a table of Markdown.
pub(super) fn table(figures: &[Figure]) -> String {
    let mut rows = vec![
        row(["case", "what", "unit", "min", "median", "max", "runs", "cpu ms", "target", ""]),
        row(["---", "---", "---", "---:", "---:", "---:", "---:", "---:", "---:", "---"]),
    ];
    rows.extend(figures.iter().map(|figure| {
        vec![
            figure.case.to_owned(),
            figure.what.clone(),
            figure.unit.text().to_owned(),
            number(figure.min()),
            number(figure.median()),
            number(figure.max()),
            figure.values.len().to_string(),
            figure.processor_ms.map(number).unwrap_or_default(),
            figure.target.map(Target::text).unwrap_or_default(),
            figure.holds().map_or("", |holds| if holds { "pass" } else { "MISS" }).to_owned(),
        ]
    }));
    text(&rows, ["| ", " | ", " |"])
}

fn sorted(mut values: Vec<f64>) -> Vec<f64> {
    values.sort_by(f64::total_cmp);
    values
}

/// The middle value; of two, their mean.
fn median(sorted: &[f64]) -> f64 {
    let at = |index: usize| sorted.get(index).copied().unwrap_or_default();
    f64::midpoint(at(sorted.len().saturating_sub(1) / 2), at(sorted.len() / 2))
}

/// A number with about three digits, the precision of the measurements.
pub(super) fn number(value: f64) -> String {
    if value >= 100.0 { format!("{value:.0}") } else { format!("{value:.1}") }
}

pub(super) fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1_000.0
}

#[expect(clippy::cast_precision_loss, reason = "a displayed figure")]
pub(crate) fn float(count: u64) -> f64 {
    count as f64
}

pub(crate) fn mebibytes(bytes: u64) -> f64 {
    float(bytes) / f64::from(1 << 20)
}

#[cfg(test)]
mod tests;
