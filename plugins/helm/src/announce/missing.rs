//! Warns about dependencies without a chart, whose values are not announced.

use crate::chart::Dependency;
use crate::redaction::Redactor;

/// Returns a warning that names these dependencies. `None` without any. Each has the names of its parent charts.
pub(super) fn warning(missing: &[(Vec<&str>, &Dependency)]) -> Option<String> {
    if missing.is_empty() {
        return None;
    }
    let names: Vec<String> = missing.iter().map(|(parents, one)| described(parents, one)).collect();
    let (charts, reason) = if names.len() == 1 {
        ("the subchart", "its chart is missing")
    } else {
        ("these subcharts", "their charts are missing")
    };
    Some(format!(
        "the values of {charts} are not listed, since {reason}: {}; run `helm dependency build`, or name a folder with the chart: \
         --repo URL=DIR",
        names.join(", ")
    ))
}

/// Returns the name, the version and the repository.
fn described(parents: &[&str], dependency: &Dependency) -> String {
    let name = parents.iter().copied().chain([dependency.known_as()]).collect::<Vec<_>>().join("/");
    let Dependency { repository, version, .. } = dependency;
    let redactor = Redactor::default().with_urls([repository.as_str()]);
    let repository = redactor.redact(repository);
    match (version.as_str(), repository.as_str()) {
        ("", "") => name,
        (version, "") => format!("{name} ({version})"),
        ("", repository) => format!("{name} ({repository})"),
        (version, repository) => format!("{name} ({version} of {repository})"),
    }
}

#[cfg(test)]
mod tests;
