use tiphys_api::AppProject;

use super::{restricted_fields, unenforced_fields};

const OPEN: &str = "{sourceRepos: ['*'], destinations: [{server: '*', namespace: '*'}], clusterResourceWhitelist: [{group: '*', kind: '*'}]}";

fn project(spec: &str) -> AppProject {
    let text = format!("{{metadata: {{name: p}}, spec: {spec}}}");
    let node = tiphys_yaml::read_document(text.as_bytes()).expect(spec).expect(spec);
    AppProject::decode(&node).expect(spec)
}

#[test]
fn restricting_fields_are_named() {
    let with = |more: &str| OPEN.replace("]}", &format!("], {more}}}"));
    let cases: [(String, &[&str]); 8] = [
        (OPEN.to_owned(), &[]),
        ("{}".to_owned(), &["sourceRepos", "destinations", "clusterResourceWhitelist"]),
        (OPEN.replace("sourceRepos: ['*']", "sourceRepos: ['https://x']"), &["sourceRepos"]),
        (
            "{sourceRepos: ['*'], destinations: [{server: '*', namespace: 'team-*'}], clusterResourceWhitelist: [{group: '*', kind: Namespace}]}".to_owned(),
            &["destinations", "clusterResourceWhitelist"],
        ),
        (with("namespaceResourceBlacklist: [{group: '*', kind: '*'}]"), &["namespaceResourceBlacklist"]),
        (with("namespaceResourceWhitelist: [{group: '', kind: ConfigMap}]"), &["namespaceResourceWhitelist"]),
        (with("namespaceResourceWhitelist: [], clusterResourceBlacklist: []"), &["namespaceResourceWhitelist"]),
        (with("permitOnlyProjectScopedClusters: true"), &["permitOnlyProjectScopedClusters"]),
    ];
    for (spec, expected) in cases {
        assert_eq!(restricted_fields(&project(&spec)), expected, "{spec}");
    }
}

#[test]
fn only_signature_keys_are_not_enforced() {
    assert_eq!(
        unenforced_fields(&project("{sourceRepos: [x], signatureKeys: [{keyID: A}]}")),
        ["signatureKeys"]
    );
    assert_eq!(
        unenforced_fields(&project("{sourceRepos: [x], clusterResourceBlacklist: [{kind: '*'}]}")),
        [""; 0]
    );
}
