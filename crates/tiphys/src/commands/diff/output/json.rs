//! Differences as JSON.

use serde_json::{Value, json};
use tiphys_engine::diff::ObjectDiff;
use tiphys_service::UnknownSet;
use tiphys_service::documents::DifferenceDocument;

use super::{ApplicationDiff, Sides, unified};
use crate::error;
use crate::output;

/// Formats `-o json`: a list with one entry per application, including equal ones.
///
/// ```json
/// [{"application": "shop", "namespace": "argocd", "change": "added|removed|changed|equal", "error": null, "baseError": null, "warnings": [], "equal": 3,
///   "renamedFrom": null, "renamedTo": "argocd/store",
///   "settings": [{"field": "spec.destination.server", "before": "https://a", "after": "https://b"}],
///   "objects": [{"group": "apps", "kind": "Deployment", "namespace": "web", "name": "shop",
///                "change": "added|removed|changed", "volatile": false, "before": {…}, "after": {…}, "patch": "--- …"}]}]
/// ```
///
/// `baseError` is the reason why the application could not be read or rendered at the base; then its objects count as added.
/// `before` is `null` for added objects, `after` for removed ones. A failed application has a string in `error`; `change`, `objects` and
/// `equal` are `null`. So is an application set whose applications are not all compared, at the end of the list: its name is in
/// `applicationSet`, and `application` is `null`.
pub(super) fn text(applications: &[ApplicationDiff], sides: &Sides, context_lines: usize) -> String {
    let list = applications.iter().map(|one| application(one, sides, context_lines));
    let sets = sides.sets.not_compared.iter().map(set);
    output::json(&Value::Array(list.chain(sets).collect()))
}

fn set(not_compared: &UnknownSet) -> Value {
    let UnknownSet { set, reason } = not_compared;
    json!({
        "application": null,
        "applicationSet": set.name,
        "namespace": set.namespace,
        "change": null,
        "error": reason,
        "equal": null,
        "objects": null,
    })
}

fn application(one: &ApplicationDiff, sides: &Sides, context_lines: usize) -> Value {
    let name = one.full_name();
    let renamed_from = sides.renamed.iter().find(|(_, new)| *new == name).map(|(old, _)| old.clone());
    let renamed_to = sides.renamed.iter().find(|(old, _)| *old == name).map(|(_, new)| new.clone());
    let patch = |object: &ObjectDiff| unified::patch(object, sides, context_lines);
    let document = DifferenceDocument::new(one, patch, error::warning_text);
    json!(DifferenceDocument { renamed_from, renamed_to, ..document })
}
