//! `tiphys appset generate -o wide`.

use serde_json::Value;

use crate::output::Table;

/// Returns a table with the columns of Argo CD's command that a generated Application has.
pub(super) fn table(applications: &[Value]) -> String {
    let mut table =
        Table::new(&["NAME", "CLUSTER", "NAMESPACE", "PROJECT", "SYNCPOLICY", "REPO", "PATH", "TARGET"]);
    for application in applications {
        let (metadata, spec) = (&application["metadata"], &application["spec"]);
        let destination = &spec["destination"];
        let source = match &spec["sources"][0] {
            Value::Null => &spec["source"],
            first => first,
        };
        let name = match text(&metadata["namespace"]) {
            "" => text(&metadata["name"]).to_owned(),
            namespace => format!("{namespace}/{}", text(&metadata["name"])),
        };
        let cluster = first([&destination["server"], &destination["name"]]);
        table.row([
            name,
            cluster,
            text(&destination["namespace"]).to_owned(),
            text(&spec["project"]).to_owned(),
            sync_policy(&spec["syncPolicy"]).to_owned(),
            text(&source["repoURL"]).to_owned(),
            first([&source["path"], &source["chart"]]),
            text(&source["targetRevision"]).to_owned(),
        ]);
    }
    table.render()
}

fn sync_policy(policy: &Value) -> &'static str {
    match &policy["automated"] {
        Value::Null => "Manual",
        automated if automated["enabled"] == false => "Manual",
        automated if automated["prune"] == true => "Auto-Prune",
        _ => "Auto",
    }
}

fn first(values: [&Value; 2]) -> String {
    values.map(text).into_iter().find(|value| !value.is_empty()).unwrap_or_default().to_owned()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}
