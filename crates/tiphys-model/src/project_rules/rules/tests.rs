use crate::resources::AppProject;

use super::{Permission, ProjectRules};
use crate::project_rules::{Cluster, ObjectIdentity, Scope};

fn project(name: &str, spec: &str) -> AppProject {
    let text = format!("{{metadata: {{name: {name}}}, spec: {spec}}}");
    let node = tiphys_yaml::read_document(text.as_bytes()).expect(spec).expect(spec);
    AppProject::decode(&node).expect(spec)
}

fn rules(spec: &str) -> ProjectRules {
    ProjectRules::new(&project("p", spec), &[], &[]).expect(spec)
}

fn cluster(server: Option<&str>, name: Option<&str>) -> Cluster {
    Cluster { server: server.map(str::to_owned), name: name.map(str::to_owned) }
}

fn object(kind: &str, namespace: Option<&str>) -> ObjectIdentity {
    ObjectIdentity {
        group: String::new(),
        kind: kind.to_owned(),
        namespace: namespace.map(str::to_owned),
        name: "x".to_owned(),
    }
}

#[test]
fn refusals_have_the_words_of_argo_cd() {
    let rules = rules(
        "{destinations: [{server: https://c, namespace: a}], namespaceResourceWhitelist: [{kind: Pod}]}",
    );
    let here = cluster(Some("https://c"), None);
    let error =
        |refused: Result<(), crate::project_rules::Refused>| refused.expect_err("refused").to_string();
    let kind =
        |kind, namespace, scope| error(rules.check_object(&here, &object(kind, namespace), scope).map(drop));
    for (message, expected) in [
        (
            error(rules.permits_source("https://user:password@git.example.com/x")),
            "application repo URL https://user:***@git.example.com/x is not permitted in project 'p'",
        ),
        (
            error(rules.permits_application_in("team", "shop", "argocd")),
            "application 'shop' in namespace 'team' is not permitted to use project 'p'",
        ),
        (
            error(rules.permits_destination(&here, "b")),
            "application destination server 'https://c' and namespace 'b' do not match any of the allowed destinations in project 'p'",
        ),
        (
            error(rules.permits_destination(&cluster(None, Some("prod")), "a")),
            "application destination name 'prod' and namespace 'a' do not match any of the allowed destinations in project 'p'",
        ),
        (kind("Node", None, Scope::Cluster), "resource :Node is not permitted in project p"),
        (kind("Pod", Some("b"), Scope::Namespaced), "namespace b is not permitted in project 'p'"),
        (
            error(rules.permit_look_up(&here, &object("ConfigMap", Some("a"))).map(drop)),
            "reading ConfigMap a/x is not permitted in project 'p'",
        ),
    ] {
        assert_eq!(message, expected);
    }
    assert_eq!(rules.permits_application_in("argocd", "shop", "argocd"), Ok(()));
    assert_eq!(rules.permits_destination(&here, "a"), Ok(()));
}

#[test]
fn kind_of_unknown_scope_is_reported_if_one_scope_refuses() {
    let by_cluster = "resource :Thing is not permitted in project p if it is cluster-scoped";
    let by_namespace = "resource :Thing is not permitted in project p if it is namespaced";
    for (spec, expected) in [
        ("{}", Ok(Permission::Reported(by_cluster.to_owned()))),
        ("{clusterResourceWhitelist: [{group: '*', kind: '*'}]}", Ok(Permission::Granted)),
        (
            "{clusterResourceWhitelist: [{group: '*', kind: '*'}], namespaceResourceWhitelist: []}",
            Ok(Permission::Reported(by_namespace.to_owned())),
        ),
        (
            "{namespaceResourceBlacklist: [{kind: 'T*'}]}",
            Err("resource :Thing is not permitted in project p".to_owned()),
        ),
    ] {
        let answer = rules(spec).permits_kind("", "Thing", "x", Scope::Unknown);
        assert_eq!(answer.map_err(|refused| refused.to_string()), expected, "{spec}");
    }
}

#[test]
fn object_is_checked_with_its_own_namespace() {
    let rules = rules(
        "{destinations: [{server: '*', namespace: a}], clusterResourceWhitelist: [{kind: Thing, name: 'x*'}]}",
    );
    let here = cluster(Some("https://c"), Some("c"));
    for (namespace, scope, expected) in [
        (Some("a"), Scope::Namespaced, true),
        (Some("b"), Scope::Namespaced, false),
        (None, Scope::Namespaced, false),
        (None, Scope::Cluster, true),
        (Some("b"), Scope::Cluster, true),
        (Some("a"), Scope::Unknown, true),
        (Some("b"), Scope::Unknown, false),
        (None, Scope::Unknown, true),
    ] {
        let answer = rules.check_object(&here, &object("Thing", namespace), scope);
        assert_eq!(answer.is_ok(), expected, "{namespace:?} {scope:?}");
    }
}

#[test]
fn global_projects_are_appended() {
    let own = project("p", "{sourceRepos: [https://a/x], sourceNamespaces: [own]}");
    let global = project(
        "g",
        "{sourceRepos: [https://b/x, '!https://a/secret'], destinations: [{server: '*', namespace: a}], \
         sourceNamespaces: [theirs], clusterResourceWhitelist: [{kind: Node}], namespaceResourceBlacklist: [{kind: Pod}]}",
    );
    let rules = ProjectRules::new(&own, &[&global], &[]).expect("valid");
    let here = cluster(Some("https://c"), Some("c"));
    assert!(rules.permits_source("https://a/x").is_ok());
    assert!(rules.permits_source("https://b/x").is_ok());
    assert!(rules.permits_source("https://a/secret").is_err());
    assert!(rules.permits_destination(&here, "a").is_ok());
    assert!(rules.permits_kind("", "Node", "x", Scope::Cluster).is_ok());
    assert!(rules.permits_kind("", "Pod", "x", Scope::Namespaced).is_err());
    assert!(rules.permits_kind("", "Service", "x", Scope::Namespaced).is_ok());
    // Argo CD does not append these.
    assert!(rules.permits_application_in("own", "x", "argocd").is_ok());
    assert!(rules.permits_application_in("theirs", "x", "argocd").is_err());
    for list in ["[]", "[{kind: ConfigMap}]"] {
        let global = project("g", &format!("{{namespaceResourceWhitelist: {list}}}"));
        let rules = ProjectRules::new(&own, &[&global], &[]).expect("valid");
        assert!(rules.permits_kind("", "Service", "x", Scope::Namespaced).is_err(), "{list}");
    }
}

#[test]
fn invalid_rule_is_an_error_that_names_its_field() {
    for (spec, expected) in [
        (
            "{sourceRepos: ['*', 'https://a[']}",
            "spec.sourceRepos[1]: pattern \"https://a[\": malformed character class",
        ),
        ("{sourceRepos: ['!*']}", "spec.sourceRepos[0]: pattern \"!*\" denies everything; remove the entry"),
        (
            "{destinations: [{server: '*', namespace: '![x'}]}",
            "spec.destinations[0].namespace: pattern \"[x\": malformed character class",
        ),
        (
            "{destinations: [{server: '!*', namespace: '*'}]}",
            "spec.destinations[0].server: pattern \"!*\" denies everything; remove the entry",
        ),
        ("{destinations: [{name: '{a'}]}", "spec.destinations[0].name: pattern \"{a\": `{` is not closed"),
        (
            "{destinations: [{name: '!a\\'}]}",
            "spec.destinations[0].name: pattern \"a\\\\\": the backslash at the end escapes no character",
        ),
        (
            "{clusterResourceBlacklist: [{kind: Pod}, {kind: Pod, name: '['}]}",
            "spec.clusterResourceBlacklist[1].name: pattern \"[\": syntax error in pattern",
        ),
        (
            "{namespaceResourceBlacklist: [{group: 'x*[', kind: Pod}]}",
            "spec.namespaceResourceBlacklist[0].group: pattern \"x*[\": syntax error in pattern",
        ),
        (
            "{namespaceReadOnlyAllowlist: [{kind: ConfigMap}]}",
            "spec.namespaceReadOnlyAllowlist[0].namespace: a namespace is required; for all namespaces write \"*\"",
        ),
        (
            "{namespaceReadOnlyAllowlist: [{kind: ConfigMap, namespace: '!a'}]}",
            "spec.namespaceReadOnlyAllowlist[0].namespace: pattern \"!a\": a read-only list permits only; remove the `!`",
        ),
        (
            "{clusterReadOnlyAllowList: [{kind: '['}]}",
            "spec.clusterReadOnlyAllowList[0].kind: pattern \"[\": syntax error in pattern",
        ),
        ("{sourceNamespaces: ['[']}", "spec.sourceNamespaces[0]: pattern \"[\": malformed character class"),
        ("{sourceNamespaces: ['/(/']}", "spec.sourceNamespaces[0]: regular expression \"/(/\": "),
    ] {
        let message = |error: crate::project_rules::RuleError| error.to_string();
        let own = ProjectRules::new(&project("p", spec), &[], &[]).map_err(message).expect_err(spec);
        assert!(own.starts_with(&format!("project 'p': {expected}")), "{own}");
        if !spec.contains("sourceNamespaces") {
            let global = project("g", spec);
            let error =
                ProjectRules::new(&project("p", "{}"), &[&global], &[]).map_err(message).expect_err(spec);
            assert!(error.starts_with(&format!("project 'g': {expected}")), "{error}");
        }
    }
    let text =
        "{metadata: {name: p, annotations: {tiphys/read-only: 'namespaceReadOnlyAllowlist: [{kind: A}]'}}}";
    let node = tiphys_yaml::read_document(text.as_bytes()).expect("YAML").expect("a document");
    let error = ProjectRules::new(&AppProject::decode(&node).expect("valid"), &[], &[]).expect_err("invalid");
    assert_eq!(error.field, "metadata.annotations[tiphys/read-only].namespaceReadOnlyAllowlist[0].namespace");
}

#[test]
fn shipped_default_permits_everything() {
    let rules = ProjectRules::new(&AppProject::shipped_default(), &[], &[]).expect("valid");
    let here = cluster(None, Some("c"));
    assert!(rules.permits_source("https://git.example.com/x").is_ok());
    assert!(rules.permits_destination(&here, "kube-system").is_ok());
    assert_eq!(rules.permits_kind("g", "K", "n", Scope::Unknown), Ok(Permission::Granted));
    assert!(rules.clone().permit_look_up(&here, &object("ConfigMap", Some("a"))).is_ok());
    assert!(rules.without_look_ups().permit_look_up(&here, &object("ConfigMap", Some("a"))).is_err());
}
