//! Differences as an HTML file. It has the texts of the other formats, and what standard error reports.

use tiphys_engine::diff::ObjectDiff;
use tiphys_process::escape_text;
use tiphys_service::documents::DifferenceDocument;
use tiphys_web::{DifferenceReport, ReportedApplication};

use super::{ApplicationDiff, NotCompared, Sides, base_warnings, not_compared_lines, notes, title};
use crate::error::{self, ServiceError};

/// Formats the report.
pub(super) fn text(
    applications: &[ApplicationDiff],
    sides: &Sides,
    context_lines: usize,
) -> Result<String, ServiceError> {
    let application = |one: &ApplicationDiff| {
        let (title, summary) = title(one);
        let patch = |object: &ObjectDiff| object.change.hunks(context_lines);
        ReportedApplication {
            title,
            summary,
            difference: DifferenceDocument::new(one, patch, error::warning_text),
        }
    };
    let warnings = super::warning_lines(applications.iter().flat_map(|one| &one.warnings));
    let of_base = base_warnings(applications, sides).map(|warning| format!("warning: {warning}"));
    html(&DifferenceReport {
        heading: super::counts_line(applications, NotCompared::of(applications, sides)),
        notes: [vec![format!("From {} to {}.", sides.before, sides.after)], notes(applications, sides)]
            .concat(),
        errors: sides.sets.errors.clone(),
        not_compared: not_compared_lines(applications, sides).collect(),
        warnings: sides.sets.warnings.iter().cloned().chain(warnings).chain(of_base).collect(),
        applications: applications.iter().filter(|one| one.differs()).map(application).collect(),
    })
}

/// Formats the report of a comparison that failed as a whole.
pub(super) fn failure(error: &str) -> Result<String, ServiceError> {
    let (heading, errors) = ("not compared".to_owned(), vec![error.to_owned()]);
    html(&DifferenceReport { heading, errors, ..DifferenceReport::default() })
}

/// Standard output may be the log of a CI system.
fn html(report: &DifferenceReport) -> Result<String, ServiceError> {
    let html = report.to_html().map_err(|error| ServiceError::rendering(format!("HTML report: {error}")))?;
    Ok(escape_text(&html))
}
