use std::collections::BTreeMap;

use super::GlobalIgnoreDifference;
use crate::resources::IgnoreDifference;

#[test]
fn settings_ignore_fields_by_group_and_kind() {
    let data: BTreeMap<String, String> = [
        ("resource.customizations", "apps/Deployment:\n  ignoreDifferences: |\n    jsonPointers: [/old]\nv1/Pod:\n  ignoreDifferences: |\n    jqPathExpressions: [.a]\nPod:\n  health.lua: x\n"),
        ("resource.customizations.ignoreDifferences.apps_Deployment", "jsonPointers: [/new]"),
        ("resource.customizations.ignoreDifferences.all", "managedFieldsManagers: [m]\njqPathExpressions: [.b, .c]"),
        ("resource.customizations.ignoreDifferences.Secret", ""),
        ("resource.customizations.ignoreDifferences.ConfigMap", "jsonPointers: /data"),
        ("resource.customizations.ignoreDifferences.a_b_c", "jsonPointers: [/data]"),
        ("resource.customizations.health.x", "ignoreDifferences"),
    ]
    .map(|(key, value)| (key.to_owned(), value.to_owned()))
    .into();
    let entry = |group: &str, kind: &str, [pointers, expressions, managers]: [&[&str]; 3]| {
        let list = |items: &[&str]| items.iter().map(|&item| item.to_owned()).collect();
        Ok(IgnoreDifference {
            group: group.to_owned(),
            kind: kind.to_owned(),
            json_pointers: list(pointers),
            jq_path_expressions: list(expressions),
            managed_fields_managers: list(managers),
            ..IgnoreDifference::default()
        })
    };
    let failed = |reason: &str| Err(reason.to_owned());
    let prefix = "resource.customizations";
    let expected = [
        (format!("{prefix}.ignoreDifferences.all"), entry("*", "*", [&[], &[".b", ".c"], &["m"]])),
        (
            format!("{prefix}.ignoreDifferences.ConfigMap"),
            failed("jsonPointers: expected a list of strings, found a string"),
        ),
        (format!("{prefix}.ignoreDifferences.a_b_c"), failed("expected GROUP_KIND or KIND")),
        (
            format!("{prefix}.ignoreDifferences.apps_Deployment"),
            entry("apps", "Deployment", [&["/new"], &[], &[]]),
        ),
        (prefix.to_owned(), entry("v1", "Pod", [&[], &[".a"], &[]])),
    ];
    let found = GlobalIgnoreDifference::all(&data);
    assert_eq!(found, expected.map(|(key, entry)| GlobalIgnoreDifference { key, entry }));
}

#[test]
fn customizations_with_errors_matter_only_if_they_ignore_differences() {
    for (value, reasons) in
        [("x: {ignoreDifferences: [1]}", 1), ("x: {health.lua: 1}", 0), ("ignoreDifferences", 1), ("[", 0)]
    {
        let data = BTreeMap::from([("resource.customizations".to_owned(), value.to_owned())]);
        let found = GlobalIgnoreDifference::all(&data);
        assert_eq!(found.iter().filter(|found| found.entry.is_err()).count(), reasons, "{value}");
    }
}
