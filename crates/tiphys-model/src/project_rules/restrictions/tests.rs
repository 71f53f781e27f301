use crate::resources::AppProject;

use super::unenforced_fields;

fn project(spec: &str) -> AppProject {
    let text = format!("{{metadata: {{name: p}}, spec: {spec}}}");
    let node = tiphys_yaml::read_document(text.as_bytes()).expect(spec).expect(spec);
    AppProject::decode(&node).expect(spec)
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
