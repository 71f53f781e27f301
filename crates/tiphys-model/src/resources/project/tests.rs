use tiphys_yaml::Node;

use super::{AppProject, GroupKind, KindPattern, ReadOnlyKind, ReadOnlyLists};

fn node(project: &str) -> Node {
    tiphys_yaml::read_document(project.as_bytes()).expect(project).expect(project)
}

fn decode(project: &str) -> Result<AppProject, String> {
    AppProject::decode(&node(project)).map_err(|error| error.source.to_string())
}

fn kind(group: &str, kind: &str, name: Option<&str>) -> KindPattern {
    KindPattern { group: group.to_owned(), kind: kind.to_owned(), name: name.map(str::to_owned) }
}

#[test]
fn kind_lists_are_decoded_with_names() {
    let spec = decode(
        "spec: {clusterResourceWhitelist: [{group: '', kind: Namespace, name: 'team-*'}], \
         clusterResourceBlacklist: [{group: x, kind: Yak, name: ''}], sourceNamespaces: [team-a]}",
    )
    .expect("valid")
    .spec;
    assert_eq!(spec.cluster_resource_whitelist, [kind("", "Namespace", Some("team-*"))]);
    assert_eq!(spec.cluster_resource_blacklist, [kind("x", "Yak", None)]);
    assert_eq!(spec.source_namespaces, ["team-a"]);
}

#[test]
fn empty_list_of_namespaced_kinds_is_not_absent() {
    let cases: [(&str, Option<Vec<GroupKind>>); 3] = [
        ("{}", None),
        ("{namespaceResourceWhitelist: null}", None),
        ("{namespaceResourceWhitelist: []}", Some(vec![])),
    ];
    for (spec, expected) in cases {
        let project = decode(&format!("spec: {spec}")).expect(spec);
        assert_eq!(project.spec.namespace_resource_whitelist, expected, "{spec}");
    }
}

#[test]
fn read_only_lists_are_decoded_from_fields_and_annotation() {
    let lists = "namespaceReadOnlyAllowlist: [{kind: ConfigMap, namespace: 'x*'}], \
                 clusterReadOnlyAllowList: [{group: g, kind: K, name: one}]";
    let expected = ReadOnlyLists {
        namespaced: vec![ReadOnlyKind { object: kind("", "ConfigMap", None), namespace: "x*".to_owned() }],
        cluster: vec![kind("g", "K", Some("one"))],
    };
    let fields = decode(&format!("spec: {{{lists}}}")).expect("valid");
    assert_eq!(
        (fields.spec.read_only, fields.annotated_read_only),
        (expected.clone(), ReadOnlyLists::default())
    );
    let annotated =
        decode(&format!("metadata: {{annotations: {{tiphys/read-only: \"{{{lists}}}\"}}}}")).expect("valid");
    assert_eq!(
        (annotated.spec.read_only, annotated.annotated_read_only),
        (ReadOnlyLists::default(), expected)
    );
    let empty = decode("metadata: {annotations: {tiphys/read-only: ''}}").expect("valid");
    assert_eq!(empty.annotated_read_only, ReadOnlyLists::default());
}

#[test]
fn invalid_annotation_is_rejected_with_its_name() {
    let cases = [
        ("'{'", ": expected YAML: "),
        ("'[]'", ": expected a mapping, found a list"),
        (
            "'x: 1'",
            ".x: unknown field; known fields are namespaceReadOnlyAllowlist, clusterReadOnlyAllowList",
        ),
        (
            "'namespaceReadOnlyAllowlist: [{kind: A, names: b}]'",
            ".namespaceReadOnlyAllowlist[0].names: unknown field; known fields are group, kind, name, namespace",
        ),
        (
            "'clusterReadOnlyAllowList: [{kind: A, namespace: b}]'",
            ".clusterReadOnlyAllowList[0].namespace: unknown field; known fields are group, kind, name",
        ),
        (
            "'clusterReadOnlyAllowList: [{kind: 1}]'",
            ".clusterReadOnlyAllowList[0].kind: expected a string, found a number",
        ),
    ];
    for (annotation, expected) in cases {
        let error = decode(&format!("metadata:\n  annotations:\n    tiphys/read-only: {annotation}"))
            .expect_err(annotation);
        let expected = format!("line 3, column 23: metadata.annotations[tiphys/read-only]{expected}");
        assert!(error.starts_with(&expected), "{error}\n{expected}");
    }
}

#[test]
fn shipped_default_permits_every_destination() {
    let decoded = decode(
        "{metadata: {name: default}, spec: {sourceRepos: ['*'], destinations: [{server: '*', namespace: '*'}], \
         clusterResourceWhitelist: [{group: '*', kind: '*'}]}}",
    );
    assert_eq!(Ok(AppProject::shipped_default()), decoded);
}
