use crate::resources::AppProject;

use super::ObjectIdentity;
use crate::project_rules::{Cluster, PermittedBy, ProjectCluster, ProjectRules};

fn project(name: &str, annotation: &str, spec: &str) -> AppProject {
    let text = format!(
        "{{metadata: {{name: {name}, annotations: {{tiphys/read-only: \"{annotation}\"}}}}, spec: {spec}}}"
    );
    let node = tiphys_yaml::read_document(text.as_bytes()).expect(&text).expect(&text);
    AppProject::decode(&node).expect(&text)
}

/// Parses `KIND[.GROUP] [NAMESPACE/]NAME`.
fn object(text: &str) -> ObjectIdentity {
    let (kind, name) = text.split_once(' ').expect(text);
    let (kind, group) = kind.split_once('.').unwrap_or((kind, ""));
    let (namespace, name) =
        name.split_once('/').map_or((None, name), |(namespace, name)| (Some(namespace), name));
    ObjectIdentity {
        group: group.to_owned(),
        kind: kind.to_owned(),
        namespace: namespace.map(str::to_owned),
        name: name.to_owned(),
    }
}

fn prod() -> Cluster {
    Cluster { server: Some("https://prod".to_owned()), name: Some("prod".to_owned()) }
}

/// Returns the rule as `PROJECT LIST[INDEX]`, or the refusal.
fn answer(rules: &ProjectRules, cluster: &Cluster, object: &ObjectIdentity) -> String {
    match rules.permit_look_up(cluster, object) {
        Ok(permit) => {
            assert_eq!((permit.destination(), permit.object()), (cluster, object));
            assert_eq!(permit.is_secret(), object.kind == "Secret" && object.group.is_empty());
            let PermittedBy { project, list, index } = permit.rule();
            index.map_or_else(|| format!("{project} {list}"), |index| format!("{project} {list}[{index}]"))
        }
        Err(refused) => {
            assert_eq!(refused.to_string(), format!("reading {object} is not permitted in project 'p'"));
            "refused".to_owned()
        }
    }
}

/// Destinations of the cases: all of them are on the cluster `prod`.
const HERE: &str = "destinations: [{server: 'https://prod', namespace: 'team-*'}]";

const NO: &str = "refused";

/// Checks rows of lists of the project, an object and the answer.
fn check(cases: &[(&str, &str, &str)]) {
    for (lists, text, expected) in cases {
        let separator = if lists.is_empty() { "" } else { ", " };
        let project = project("p", "", &format!("{{{HERE}{separator}{lists}}}"));
        let rules = ProjectRules::new(&project, &[], &[]).expect(lists);
        assert_eq!(answer(&rules, &prod(), &object(text)), *expected, "{lists}: {text}");
        assert_eq!(answer(&rules.without_look_ups(), &prod(), &object(text)), NO, "{lists}: {text}");
    }
}

#[test]
fn look_ups_are_permitted_by_kinds_and_destinations() {
    const ABSENT: &str = "p namespaceResourceWhitelist";
    const ALLOWED: &str = "p namespaceResourceWhitelist[0]";
    check(&[
        // Principle 1, namespaced: an absent list permits all kinds but Secrets.
        ("", "ConfigMap team-a/x", ABSENT),
        ("", "ConfigMap kube-system/x", NO),
        ("", "ConfigMap /x", NO),
        ("", "Secret team-a/x", NO),
        ("", "Secret.example.org team-a/x", ABSENT),
        ("namespaceResourceWhitelist: []", "ConfigMap team-a/x", NO),
        ("namespaceResourceWhitelist: [{kind: ConfigMap}]", "ConfigMap team-a/x", ALLOWED),
        (
            "namespaceResourceWhitelist: [{kind: Pod}, {kind: '*Map'}]",
            "ConfigMap team-a/x",
            "p namespaceResourceWhitelist[1]",
        ),
        ("namespaceResourceWhitelist: [{kind: configmap}]", "ConfigMap team-a/x", NO),
        ("namespaceResourceWhitelist: [{group: apps, kind: ConfigMap}]", "ConfigMap team-a/x", NO),
        ("namespaceResourceBlacklist: [{kind: ConfigMap}]", "ConfigMap team-a/x", NO),
        ("namespaceResourceBlacklist: [{kind: 'Config*'}]", "ConfigMap team-a/x", NO),
        ("namespaceResourceBlacklist: [{kind: Pod}]", "ConfigMap team-a/x", ABSENT),
        // Principle 1, cluster-scoped.
        ("", "Node x", NO),
        ("clusterResourceWhitelist: [{kind: Node}]", "Node x", "p clusterResourceWhitelist[0]"),
        ("clusterResourceWhitelist: [{kind: Node, name: 'a*'}]", "Node x", NO),
        ("clusterResourceWhitelist: [{kind: Node, name: 'x*'}]", "Node x1", "p clusterResourceWhitelist[0]"),
        (
            "clusterResourceWhitelist: [{kind: Node}], clusterResourceBlacklist: [{kind: Node, name: x}]",
            "Node x",
            NO,
        ),
        (
            "clusterResourceWhitelist: [{kind: ConfigMap}], namespaceResourceWhitelist: []",
            "ConfigMap team-a/x",
            NO,
        ),
        // Secrets need an entry without wildcards.
        ("namespaceResourceWhitelist: [{group: '*', kind: '*'}]", "Secret team-a/x", NO),
        ("namespaceResourceWhitelist: [{group: '*', kind: Secret}]", "Secret team-a/x", NO),
        ("namespaceResourceWhitelist: [{kind: 'Secre?'}]", "Secret team-a/x", NO),
        ("namespaceResourceWhitelist: [{kind: '\\Secret'}]", "Secret team-a/x", NO),
        ("namespaceResourceWhitelist: [{kind: Secret}]", "Secret team-a/x", ALLOWED),
        (
            "namespaceResourceWhitelist: [{kind: '*'}, {kind: Secret}]",
            "Secret team-a/x",
            "p namespaceResourceWhitelist[1]",
        ),
        ("namespaceResourceWhitelist: [{kind: Secret}]", "Secret kube-system/x", NO),
        (
            "namespaceResourceWhitelist: [{kind: Secret}], namespaceResourceBlacklist: [{kind: 'S*'}]",
            "Secret team-a/x",
            NO,
        ),
        ("clusterResourceWhitelist: [{kind: Secret}]", "Secret x", NO),
    ]);
}

#[test]
fn look_ups_are_permitted_by_read_only_lists() {
    const READ: &str = "p namespaceReadOnlyAllowlist[0]";
    check(&[
        // Principle 2: the namespace need not be a destination.
        ("namespaceReadOnlyAllowlist: [{kind: ConfigMap, namespace: infra}]", "ConfigMap infra/x", READ),
        ("namespaceReadOnlyAllowlist: [{kind: ConfigMap, namespace: 'in*'}]", "ConfigMap infra/x", READ),
        ("namespaceReadOnlyAllowlist: [{kind: ConfigMap, namespace: '*'}]", "ConfigMap /x", NO),
        ("namespaceReadOnlyAllowlist: [{kind: ConfigMap, namespace: other}]", "ConfigMap infra/x", NO),
        (
            "namespaceReadOnlyAllowlist: [{kind: ConfigMap, namespace: infra, name: other}]",
            "ConfigMap infra/x",
            NO,
        ),
        (
            "namespaceReadOnlyAllowlist: [{kind: ConfigMap, namespace: infra, name: '[x-z]'}]",
            "ConfigMap infra/x",
            READ,
        ),
        ("namespaceReadOnlyAllowlist: [{kind: configmap, namespace: infra}]", "ConfigMap infra/x", NO),
        (
            "namespaceReadOnlyAllowlist: [{group: '*', kind: '*', namespace: '*'}]",
            "Thing.example.org infra/x",
            READ,
        ),
        ("namespaceReadOnlyAllowlist: [{kind: '*', namespace: '*'}]", "Thing.example.org infra/x", NO),
        ("namespaceReadOnlyAllowlist: [{kind: Node, namespace: '*'}]", "Node x", NO),
        ("clusterReadOnlyAllowList: [{kind: Node}]", "Node x", "p clusterReadOnlyAllowList[0]"),
        ("clusterReadOnlyAllowList: [{kind: Node, name: 'a*'}]", "Node x", NO),
        ("clusterReadOnlyAllowList: [{kind: ConfigMap}]", "ConfigMap infra/x", NO),
        // Principle 2 and blacklists.
        (
            "namespaceReadOnlyAllowlist: [{kind: ConfigMap, namespace: '*'}], namespaceResourceBlacklist: [{kind: ConfigMap}]",
            "ConfigMap infra/x",
            NO,
        ),
        ("clusterReadOnlyAllowList: [{kind: Node}], clusterResourceBlacklist: [{kind: 'N*'}]", "Node x", NO),
        ("namespaceReadOnlyAllowlist: [{kind: '*', namespace: '*'}]", "Secret infra/x", NO),
        ("namespaceReadOnlyAllowlist: [{group: '*', kind: Secret, namespace: '*'}]", "Secret infra/x", NO),
        ("namespaceReadOnlyAllowlist: [{kind: Secret, namespace: infra}]", "Secret infra/x", READ),
        ("namespaceReadOnlyAllowlist: [{kind: Secret, namespace: infra, name: other}]", "Secret infra/x", NO),
        (
            "namespaceReadOnlyAllowlist: [{kind: Secret, namespace: infra}], namespaceResourceBlacklist: [{group: '*', kind: '*'}]",
            "Secret infra/x",
            READ,
        ),
        (
            "namespaceReadOnlyAllowlist: [{kind: 'S*', namespace: infra}], namespaceResourceBlacklist: [{kind: Secret}]",
            "Secret infra/x",
            NO,
        ),
    ]);
}

#[test]
fn cluster_must_be_a_destination() {
    const READ: &str = "namespaceReadOnlyAllowlist: [{kind: ConfigMap, namespace: '*'}], clusterReadOnlyAllowList: [{kind: Node}], \
                        clusterResourceWhitelist: [{kind: Namespace}]";
    let clusters = [
        ProjectCluster {
            server: "https://own".to_owned(),
            project: "p".to_owned(),
            ..ProjectCluster::default()
        },
        ProjectCluster {
            server: "https://theirs".to_owned(),
            project: "q".to_owned(),
            ..ProjectCluster::default()
        },
    ];
    for (destinations, server, expected) in [
        ("", Some("https://prod"), false),
        ("{server: https://prod, namespace: x}", Some("https://prod"), true),
        ("{server: https://prod, namespace: x}", Some("https://other"), false),
        ("{server: https://prod, namespace: x}", None, false),
        ("{server: '*', namespace: x}", None, true),
        (
            "{server: '*', namespace: x}, {server: '!https://prod', namespace: '*'}",
            Some("https://prod"),
            false,
        ),
        ("{server: '*', namespace: x}, {server: '*', namespace: '!x'}", Some("https://prod"), true),
        ("{server: '*', namespace: '*'}", Some("https://theirs"), false),
        ("", Some("https://own"), true),
    ] {
        let project = project("p", "", &format!("{{destinations: [{destinations}], {READ}}}"));
        let rules = ProjectRules::new(&project, &[], &clusters).expect(destinations);
        let cluster = Cluster { server: server.map(str::to_owned), name: Some(String::new()) };
        for text in ["ConfigMap infra/x", "Node x", "Namespace x"] {
            let answer = answer(&rules, &cluster, &object(text));
            assert_eq!(answer != "refused", expected, "{destinations} {server:?} {text}: {answer}");
        }
    }
}

#[test]
fn rule_names_its_project_and_list() {
    let own = project(
        "p",
        "{namespaceReadOnlyAllowlist: [{kind: Pod, namespace: a}, {kind: Pod, namespace: b}], clusterReadOnlyAllowList: [{kind: Node}]}",
        &format!(
            "{{{HERE}, namespaceReadOnlyAllowlist: [{{kind: Pod, namespace: c}}], namespaceResourceWhitelist: [{{kind: Event}}]}}"
        ),
    );
    let global = project(
        "g",
        "{namespaceReadOnlyAllowlist: [{kind: Secret, namespace: s}]}",
        "{destinations: [{server: https://dev, namespace: d}], namespaceResourceWhitelist: [{kind: Service}], \
         clusterReadOnlyAllowList: [{kind: Namespace}], namespaceReadOnlyAllowlist: [{kind: Job, namespace: j}]}",
    );
    let rules = ProjectRules::new(&own, &[&global], &[]).expect("valid");
    for (text, expected) in [
        ("Pod a/x", "p tiphys/read-only:namespaceReadOnlyAllowlist[0]"),
        ("Pod b/x", "p tiphys/read-only:namespaceReadOnlyAllowlist[1]"),
        ("Pod c/x", "p namespaceReadOnlyAllowlist[0]"),
        ("Node x", "p tiphys/read-only:clusterReadOnlyAllowList[0]"),
        ("Event team-a/x", "p namespaceResourceWhitelist[0]"),
        ("Service team-a/x", "g namespaceResourceWhitelist[0]"),
        ("Namespace x", "g clusterReadOnlyAllowList[0]"),
        ("Job j/x", "g namespaceReadOnlyAllowlist[0]"),
        ("Secret s/x", "g tiphys/read-only:namespaceReadOnlyAllowlist[0]"),
        ("ConfigMap team-a/x", "refused"),
    ] {
        assert_eq!(answer(&rules, &prod(), &object(text)), expected, "{text}");
    }
    let dev = Cluster { server: Some("https://dev".to_owned()), name: None };
    assert_eq!(answer(&rules, &dev, &object("Service d/x")), "g namespaceResourceWhitelist[0]");
}
