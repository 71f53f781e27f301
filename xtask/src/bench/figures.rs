//! Measured figures: their spread, their targets, and their table.

use std::time::Duration;

use serde::Serialize;

use super::sample::Sample;

/// Units of figures.
pub(super) const MS: &str = "ms";
pub(super) const MEBIBYTES: &str = "MiB";

/// The target of a median.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum Target {
    AtMost(f64),
    AtLeast(f64),
}

impl Target {
    fn is_met(self, median: f64) -> bool {
        match self {
            Self::AtMost(limit) => median <= limit,
            Self::AtLeast(limit) => median >= limit,
        }
    }

    fn text(self) -> String {
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
    unit: &'static str,
    /// The value of each run.
    values: Vec<f64>,
    /// CPU time of each run in milliseconds, if the figure is about processes. A busy machine changes it less than the wall-clock time.
    pub(super) processor_ms: Vec<f64>,
    pub(super) target: Option<Target>,
}

impl Figure {
    /// Minimum, median and maximum.
    pub(super) fn spread(&self) -> [f64; 3] {
        let sorted = sorted(&self.values);
        [
            sorted.first().copied().unwrap_or_default(),
            median(&self.values),
            sorted.last().copied().unwrap_or_default(),
        ]
    }

    /// The object of `--json`.
    pub(super) fn json(&self) -> serde_json::Value {
        let [min, median, max] = self.spread();
        serde_json::json!({
            "case": self.case,
            "what": self.what,
            "unit": self.unit,
            "runs": self.values.len(),
            "min": min,
            "median": median,
            "max": max,
            "values": self.values,
            "processorMs": self.processor(),
            "target": self.target,
            "isMet": self.target.map(|target| target.is_met(median)),
        })
    }

    /// The median of the CPU time.
    fn processor(&self) -> Option<f64> {
        (!self.processor_ms.is_empty()).then(|| median(&self.processor_ms))
    }

    /// The cells of a table.
    fn row(&self) -> [String; 10] {
        let [min, median, max] = self.spread();
        let verdict = self.target.map(|target| if target.is_met(median) { "pass" } else { "MISS" });
        [
            self.case.to_owned(),
            self.what.clone(),
            self.unit.to_owned(),
            number(min),
            number(median),
            number(max),
            self.values.len().to_string(),
            self.processor().map(number).unwrap_or_default(),
            self.target.map(Target::text).unwrap_or_default(),
            verdict.unwrap_or_default().to_owned(),
        ]
    }
}

/// Collects the figures of one case.
#[derive(Debug)]
pub(super) struct Sheet<'a> {
    pub(super) case: &'static str,
    pub(super) figures: &'a mut Vec<Figure>,
}

impl Sheet<'_> {
    /// Adds a value to the figure of this name, which begins with its first value.
    pub(super) fn record(&mut self, what: impl Into<String>, unit: &'static str, value: f64) -> &mut Figure {
        let (case, what) = (self.case, what.into());
        let index = self.figures.iter().position(|figure| figure.case == case && figure.what == what);
        let index = index.unwrap_or_else(|| {
            let (values, processor_ms) = (Vec::new(), Vec::new());
            self.figures.push(Figure { case, what, unit, values, processor_ms, target: None });
            self.figures.len() - 1
        });
        self.figures[index].values.push(value);
        &mut self.figures[index]
    }

    /// Adds wall-clock and CPU time of processes, and returns the median in milliseconds.
    pub(super) fn processes(
        &mut self,
        what: impl Into<String>,
        samples: &[Sample],
        target: Option<Target>,
    ) -> f64 {
        let what = what.into();
        for sample in samples {
            let figure = self.record(&what, MS, sample.wall_seconds * 1_000.0);
            figure.processor_ms.push(sample.cpu_seconds * 1_000.0);
            figure.target = target;
        }
        self.median(&what).unwrap_or_default()
    }

    /// Adds the difference of two processes, run by run.
    pub(super) fn beside(
        &mut self,
        what: impl Into<String>,
        [ours, theirs]: [&[Sample]; 2],
        target: Option<Target>,
    ) {
        let difference = |(ours, theirs): (&Sample, &Sample)| Sample {
            wall_seconds: ours.wall_seconds - theirs.wall_seconds,
            cpu_seconds: ours.cpu_seconds - theirs.cpu_seconds,
            ..Sample::default()
        };
        self.processes(what, &ours.iter().zip(theirs).map(difference).collect::<Vec<_>>(), target);
    }

    /// Adds two figures: the time beside the plugin's own commands, which has the target, and the time of the whole process.
    pub(super) fn overhead(&mut self, what: &str, samples: &[Sample], target: Option<Target>) {
        for sample in samples {
            self.record(format!("{what}, overhead"), MS, sample.overhead_seconds * 1_000.0).target = target;
        }
        self.processes(format!("{what}, whole process"), samples, None);
    }

    /// Adds the peak memory of processes.
    pub(super) fn peak(&mut self, what: &str, samples: &[Sample], target: Option<Target>) {
        for sample in samples {
            self.record(what, MEBIBYTES, mebibytes(sample.peak_bytes)).target = target;
        }
    }

    /// The median of a figure of this case.
    pub(super) fn median(&self, what: &str) -> Option<f64> {
        let is_it = |figure: &&Figure| figure.case == self.case && figure.what == what;
        self.figures.iter().find(is_it).map(|figure| median(&figure.values))
    }
}

/// All figures as a table of Markdown.
pub(super) fn table(figures: &[Figure]) -> String {
    let mut rows = vec![
        ["case", "what", "unit", "min", "median", "max", "runs", "cpu ms", "target", ""].map(str::to_owned),
        ["---", "---", "---", "---:", "---:", "---:", "---:", "---:", "---:", "---"].map(str::to_owned),
    ];
    rows.extend(figures.iter().map(Figure::row));
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: [usize; 10] = std::array::from_fn(width);
    let line = |row: &[String; 10]| -> String {
        let cells = row.iter().zip(widths).map(|(cell, width)| format!("| {cell:width$} "));
        cells.chain(["|\n".to_owned()]).collect()
    };
    rows.iter().map(line).collect()
}

fn sorted(values: &[f64]) -> Vec<f64> {
    let mut values = values.to_vec();
    values.sort_by(f64::total_cmp);
    values
}

/// The middle value; of two, their mean.
fn median(values: &[f64]) -> f64 {
    let sorted = sorted(values);
    let at = |index: usize| sorted.get(index).copied().unwrap_or_default();
    f64::midpoint(at(sorted.len().saturating_sub(1) / 2), at(sorted.len() / 2))
}

/// A number with about three digits, the precision of the measurements.
fn number(value: f64) -> String {
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
