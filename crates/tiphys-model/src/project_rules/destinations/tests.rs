use crate::resources::{AppProject, ArgoCdSecret};

use super::{Cluster, Destinations, ProjectCluster};

fn project(spec: &str) -> AppProject {
    let text = format!("{{metadata: {{name: p}}, spec: {spec}}}");
    let node = tiphys_yaml::read_document(text.as_bytes()).expect(spec).expect(spec);
    AppProject::decode(&node).expect(spec)
}

fn destinations(spec: &str, clusters: &[ProjectCluster]) -> Destinations {
    let project = project(spec);
    Destinations::new(&project, std::iter::once(&project), clusters).expect(spec)
}

/// A cluster; `?` is an unknown value.
fn cluster(server: &str, name: &str) -> Cluster {
    let value = |value: &str| (value != "?").then(|| value.to_owned());
    Cluster { server: value(server), name: value(name) }
}

fn scoped(server: &str, name: &str, project: &str, namespaces: &[&str]) -> ProjectCluster {
    ProjectCluster {
        server: server.to_owned(),
        name: name.to_owned(),
        project: project.to_owned(),
        namespaces: namespaces.iter().map(|one| (*one).to_owned()).collect(),
        config_problem: None,
    }
}

#[test]
fn unknown_value_is_permitted_by_star_and_denied_by_every_denial() {
    const STAR: &str = "{server: '*', namespace: '*'}";
    for (items, server, name, expected) in [
        ("{server: '*', namespace: '*'}", "?", "prod", true),
        ("{server: 'https://*', namespace: '*'}", "?", "prod", false),
        ("{name: '*', namespace: '*'}", "https://prod", "?", true),
        ("{name: 'pro*', namespace: '*'}", "https://prod", "?", false),
        ("{name: '*', namespace: '*'}", "https://prod", "", false),
        ("{name: '!dev', namespace: '*'}", "?", "prod", true),
        (&format!("{STAR}, {{name: '!dev', namespace: '*'}}"), "https://prod", "?", false),
        (&format!("{STAR}, {{server: '!https://dev', namespace: '*'}}"), "?", "prod", false),
        (&format!("{STAR}, {{server: 'https://prod', namespace: '!a'}}"), "?", "prod", false),
        (&format!("{STAR}, {{server: 'https://prod', namespace: '!a'}}"), "https://dev", "?", true),
        (&format!("{STAR}, {{name: 'prod', namespace: '!a'}}"), "https://prod", "?", false),
        (&format!("{STAR}, {{name: 'prod', namespace: '!b'}}"), "https://prod", "?", true),
    ] {
        let rules = destinations(&format!("{{destinations: [{items}]}}"), &[]);
        assert_eq!(rules.permit(&cluster(server, name), "a"), expected, "{items} {server} {name}");
    }
}

#[test]
fn denial_applies_in_the_namespaces_of_its_entry() {
    const STAR: &str = "{server: '*', namespace: '*'}";
    for (item, namespace, expected) in [
        ("{name: '!prod', namespace: other}", "test", true),
        ("{name: '!prod', namespace: 'te*'}", "test", false),
        ("{name: '!prod', namespace: '!test'}", "test", true),
        ("{name: '!prod', namespace: '!other'}", "test", false),
        ("{server: '!https://prod', namespace: other}", "test", true),
        ("{server: '!https://prod', namespace: test}", "test", false),
        ("{name: '!prod'}", "test", true),
    ] {
        let rules = destinations(&format!("{{destinations: [{STAR}, {item}]}}"), &[]);
        for cluster in [cluster("https://prod", "prod"), cluster("?", "prod")] {
            assert_eq!(rules.permit(&cluster, namespace), expected, "{item} {namespace} {cluster:?}");
        }
    }
}

#[test]
fn scoped_clusters_are_destinations_of_their_project_only() {
    const NONE: &str = "{}";
    const ALL: &str = "{destinations: [{server: '*', namespace: '*'}]}";
    const OWN: &str =
        "{destinations: [{server: '*', namespace: '*'}], permitOnlyProjectScopedClusters: true}";
    let clusters = [
        scoped("https://own", "own", "p", &[]),
        scoped("https://narrow", "narrow", "p", &["team-a"]),
        scoped("https://theirs", "theirs", "q", &[]),
        scoped("https://open", "open", "", &[]),
        scoped("https://nameless", "", "p", &[]),
    ];
    for (spec, server, name, namespace, expected) in [
        (NONE, "https://own", "own", "x", true),
        (NONE, "?", "own", "x", true),
        (NONE, "https://own", "?", "x", true),
        (NONE, "https://other", "own", "x", false),
        (NONE, "https://narrow", "narrow", "team-a", true),
        (NONE, "https://narrow", "narrow", "team-b", false),
        (NONE, "https://open", "open", "x", false),
        (NONE, "https://theirs", "theirs", "x", false),
        (NONE, "", "", "x", false),
        (ALL, "https://theirs", "theirs", "x", false),
        (ALL, "?", "theirs", "x", false),
        (ALL, "https://theirs", "?", "x", false),
        (ALL, "https://open", "open", "x", true),
        (OWN, "https://own", "own", "x", true),
        (OWN, "https://open", "open", "x", false),
        (OWN, "https://unlisted", "", "x", false),
        ("{destinations: [{name: '!own', namespace: '*'}]}", "https://own", "own", "x", false),
    ] {
        let rules = destinations(spec, &clusters);
        assert_eq!(
            rules.permit(&cluster(server, name), namespace),
            expected,
            "{spec} {server} {name} {namespace}"
        );
    }
}

#[test]
fn cluster_is_permitted_if_some_namespace_is() {
    for (items, expected) in [
        ("", false),
        ("{server: '*', namespace: '*'}", true),
        ("{server: https://prod, namespace: 'team-[ab]-?*'}", true),
        ("{server: https://other, namespace: '*'}", false),
        ("{server: '*', namespace: '!kube-*'}", true),
        ("{server: '*', namespace: '!**'}", false),
        ("{server: '*', namespace: '{kube-*,x}'}, {server: '!https://prod', namespace: 'kube-*'}", false),
        ("{server: '*', namespace: '*'}, {server: '!https://prod', namespace: 'kube-*'}", true),
        ("{server: '*', namespace: '*'}, {name: '!prod', namespace: 'kube-*'}", true),
        ("{server: '*', namespace: '*'}, {name: '!prod', namespace: '*'}", false),
        ("{server: '*', namespace: a}, {server: '*', namespace: '!a'}", true),
    ] {
        let rules = destinations(&format!("{{destinations: [{items}]}}"), &[]);
        assert_eq!(rules.permit_cluster(&cluster("https://prod", "prod")), expected, "{items}");
    }
}

#[test]
fn cluster_secret_names_server_project_and_namespaces() {
    let read = |text: &str| {
        let node = tiphys_yaml::read_document(text.as_bytes()).expect(text).expect(text);
        ProjectCluster::of_secret(&ArgoCdSecret::decode(&node).expect(text))
    };
    let secret = "{metadata: {labels: {argocd.argoproj.io/secret-type: cluster}}, \
                  stringData: {server: 'https://c/', name: c, project: p, namespaces: 'a, b,', config: '{}'}}";
    assert_eq!(read(secret), Some(scoped("https://c", "c", "p", &["a", "b"])));
    let with_white_space = secret.replace("'https://c/', name: c", r#""https://c/\n", name: " c\n""#);
    assert_eq!(read(&with_white_space), read(secret));
    let of_no_project = secret.replace("project: p", r#"project: "p\n""#);
    assert_eq!(read(&of_no_project), Some(scoped("https://c", "c", "p\n", &["a", "b"])));
    assert_eq!(read(&secret.replace("cluster", "repository")), None);
}
