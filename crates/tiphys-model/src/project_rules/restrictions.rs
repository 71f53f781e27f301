//! The fields of a project that are not enforced.

use crate::resources::AppProject;

/// Returns the names of the fields that restrict the project's Applications and are not enforced: [`crate::project_rules::ProjectRules`] enforces all others.
pub fn unenforced_fields(project: &AppProject) -> Vec<&'static str> {
    if project.spec.signature_keys.is_empty() { Vec::new() } else { vec!["signatureKeys"] }
}

#[cfg(test)]
mod tests;
