use tiphys_api::AppProject;

use super::restricted_fields;

const OPEN: &str = "{sourceRepos: ['*'], destinations: [{server: '*', namespace: '*'}], clusterResourceWhitelist: [{group: '*', kind: '*'}]}";

fn restricted(spec: &str) -> Vec<&'static str> {
    let text = format!("{{metadata: {{name: p}}, spec: {spec}}}");
    let node = tiphys_yaml::read_document(text.as_bytes()).expect(spec).expect(spec);
    restricted_fields(&AppProject::decode(&node).expect(spec))
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
        (with("namespaceResourceWhitelist: [], clusterResourceBlacklist: []"), &[]),
        (with("permitOnlyProjectScopedClusters: true"), &["permitOnlyProjectScopedClusters"]),
    ];
    for (spec, expected) in cases {
        assert_eq!(restricted(&spec), expected, "{spec}");
    }
}
