//! Differences as JSON.

use serde_json::{Value, json};
use tiphys_engine::diff::{ObjectDiff, Shown};

use tiphys_service::UnknownSet;

use super::{ApplicationDiff, ChangedSetting, Presence, Sides, unified};
use crate::error::{self, ServiceError};
use crate::output;

/// Formats `-o json`: a list with one entry per application, including equal ones.
///
/// ```json
/// [{"application": "shop", "namespace": "argocd", "change": "added|removed|changed|equal", "error": null, "baseError": null, "warnings": [], "equal": 3,
///   "renamedFrom": null, "renamedTo": "argocd/store",
///   "settings": [{"field": "spec.destination.server", "before": "https://a", "after": "https://b"}],
///   "objects": [{"group": "apps", "kind": "Deployment", "namespace": "web", "name": "shop",
///                "change": "added|removed|changed", "before": {…}, "after": {…}, "patch": "--- …"}]}]
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

fn setting(ChangedSetting { field, before, after }: &ChangedSetting) -> Value {
    json!({"field": field, "before": before, "after": after})
}

fn application(one: &ApplicationDiff, sides: &Sides, context_lines: usize) -> Value {
    let object = |object: &ObjectDiff| {
        json!({
            "group": object.key.group,
            "kind": object.key.kind,
            "namespace": object.key.namespace,
            "name": object.key.name,
            "change": object.change.word(),
            "before": object.change.before().map(Shown::value),
            "after": object.change.after().map(Shown::value),
            "patch": unified::patch(object, sides, context_lines),
        })
    };
    let name = one.full_name();
    let renamed_from = sides.renamed.iter().find(|(_, new)| *new == name).map(|(old, _)| old);
    let renamed_to = sides.renamed.iter().find(|(old, _)| *old == name).map(|(_, new)| new);
    let comparison = one.result.as_ref().ok();
    let change = match one.presence {
        Presence::Added => "added",
        Presence::Removed => "removed",
        Presence::Both if one.differs() => "changed",
        Presence::Both => "equal",
    };
    json!({
        "application": one.name,
        "namespace": one.namespace,
        "change": comparison.map(|_| change),
        "error": one.result.as_ref().err().map(ServiceError::message),
        "baseError": one.base_error,
        "equal": comparison.map(|comparison| comparison.equal),
        "renamedFrom": renamed_from,
        "renamedTo": renamed_to,
        "settings": one.settings.iter().map(setting).collect::<Vec<_>>(),
        "objects": comparison.map(|comparison| comparison.objects.iter().map(object).collect::<Vec<_>>()),
        "warnings": one.warnings.iter().map(error::warning_text).collect::<Vec<_>>(),
    })
}
