//! Measured figures: their spread, their targets, and how they are shown.

use std::fmt::Write as _;

use serde::Serialize;

/// What a figure counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(super) enum Unit {
    /// Milliseconds.
    #[serde(rename = "ms")]
    Milliseconds,
    /// Applications in a second.
    #[serde(rename = "applications/s")]
    PerSecond,
    /// Calls in a second.
    #[serde(rename = "calls/s")]
    CallsPerSecond,
    /// Things that are counted.
    #[serde(rename = "count")]
    Count,
    /// Mebibytes.
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

/// What the median is held against.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum Target {
    /// No more than this.
    AtMost(f64),
    /// No less than this.
    AtLeast(f64),
}

/// One figure of a case, of all runs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct Figure {
    /// The case, as `--only` names it.
    pub(super) case: &'static str,
    /// What was done.
    pub(super) what: String,
    pub(super) unit: Unit,
    /// The value of each run, sorted; never empty.
    values: Vec<f64>,
    /// Processor time of one run in milliseconds, the median of all; where the figure is a process's.
    processor_ms: Option<f64>,
    pub(super) target: Option<Target>,
}

impl Figure {
    /// The figure of these runs; none without runs.
    pub(super) fn new(
        case: &'static str,
        what: impl Into<String>,
        unit: Unit,
        mut values: Vec<f64>,
    ) -> Option<Self> {
        values.sort_by(f64::total_cmp);
        let figure = Self { case, what: what.into(), unit, values, processor_ms: None, target: None };
        (!figure.values.is_empty()).then_some(figure)
    }

    /// The same with the processor time of each run in milliseconds, which a busy machine changes less than it changes the wall clock.
    pub(super) fn with_processor_time(self, milliseconds: Vec<f64>) -> Self {
        let time = Self::new(self.case, "", Unit::Milliseconds, milliseconds);
        Self { processor_ms: time.map(|time| time.median()), ..self }
    }

    /// The same with a target.
    pub(super) fn held_to(self, target: Target) -> Self {
        Self { target: Some(target), ..self }
    }

    pub(super) fn min(&self) -> f64 {
        self.values.first().copied().unwrap_or_default()
    }

    pub(super) fn max(&self) -> f64 {
        self.values.last().copied().unwrap_or_default()
    }

    /// The value in the middle; of two, the mean.
    pub(super) fn median(&self) -> f64 {
        let middle = self.values.len() / 2;
        let upper = self.values.get(middle).copied().unwrap_or_default();
        if self.values.len() % 2 == 1 {
            return upper;
        }
        let lower = middle.checked_sub(1).and_then(|index| self.values.get(index)).copied().unwrap_or(upper);
        f64::midpoint(lower, upper)
    }

    /// Whether the median meets the target; none without a target.
    pub(super) fn holds(&self) -> Option<bool> {
        self.target.map(|target| match target {
            Target::AtMost(bound) => self.median() <= bound,
            Target::AtLeast(bound) => self.median() >= bound,
        })
    }

    /// As `--json` writes it.
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

/// A table for people, which is a table of Markdown, too.
pub(super) fn table(figures: &[Figure]) -> String {
    let heading =
        ["case", "what", "unit", "min", "median", "max", "runs", "cpu ms", "target", ""].map(str::to_owned);
    let rule =
        ["---", "---", "---", "---:", "---:", "---:", "---:", "---:", "---:", "---"].map(str::to_owned);
    let mut rows = vec![heading, rule];
    for figure in figures {
        let target = match figure.target {
            None => String::new(),
            Some(Target::AtMost(bound)) => format!("≤ {bound}"),
            Some(Target::AtLeast(bound)) => format!("≥ {bound}"),
        };
        let verdict = match figure.holds() {
            None => "",
            Some(true) => "pass",
            Some(false) => "MISS",
        };
        rows.push([
            figure.case.to_owned(),
            figure.what.clone(),
            figure.unit.text().to_owned(),
            number(figure.min()),
            number(figure.median()),
            number(figure.max()),
            figure.values.len().to_string(),
            figure.processor_ms.map(number).unwrap_or_default(),
            target,
            verdict.to_owned(),
        ]);
    }
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..10).map(width).collect();
    let mut text = String::new();
    for row in &rows {
        for (cell, width) in row.iter().zip(&widths) {
            write!(text, "| {cell:width$} ").ok();
        }
        text.push_str("|\n");
    }
    text
}

/// Three digits or so: nobody can measure more.
pub(super) fn number(value: f64) -> String {
    if value >= 100.0 { format!("{value:.0}") } else { format!("{value:.1}") }
}

#[cfg(test)]
mod tests;
