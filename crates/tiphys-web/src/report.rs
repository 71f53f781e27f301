//! Differences of applications as one HTML file that loads nothing.

use askama::Template;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest as _, Sha256};
use tiphys_service::documents::DifferenceDocument;

use crate::marks::marked_html;
use crate::serve::STYLE;

/// Filters the objects.
const SCRIPT: &str = include_str!("../assets/report.js");

/// The content of a report. Values of Secrets are already redacted.
#[derive(Debug, Default, Template)]
#[template(path = "report.html")]
pub struct DifferenceReport {
    /// The result: `2 changed; 3 objects are equal`.
    pub heading: String,
    /// Sentences below the heading.
    pub notes: Vec<String>,
    /// Errors.
    pub errors: Vec<String>,
    /// Applications and application sets that are not compared, with the reasons.
    pub not_compared: Vec<String>,
    /// Warnings.
    pub warnings: Vec<String>,
    /// The applications that differ. Patches of objects have no headings.
    pub applications: Vec<ReportedApplication>,
}

/// An application that differs.
#[derive(Debug)]
pub struct ReportedApplication {
    /// The full name, with a note if only one side has the application.
    pub title: String,
    /// The numbers of its objects: `1 added, 2 changed`.
    pub summary: String,
    /// The comparison.
    pub difference: DifferenceDocument,
}

impl DifferenceReport {
    /// Returns the HTML file. Its content security policy permits only its own style and script.
    pub fn to_html(&self) -> Result<String, askama::Error> {
        self.render().map(marked_html)
    }
}

/// Returns the source of a content security policy that permits an inline element with this content.
fn source(content: &str) -> String {
    format!("'sha256-{}'", STANDARD.encode(Sha256::digest(content)))
}

#[cfg(test)]
mod tests;
