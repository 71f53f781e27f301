use super::ResourceReference;

#[test]
fn references_are_shown_in_one_line() {
    let cases = [
        (["", "ConfigMap", "infra", "dns", ".data.a"], "ConfigMap infra/dns .data.a"),
        (["apps", "Deployment", "", "web", ""], "Deployment.apps web (existence)"),
    ];
    for ([group, kind, namespace, name, path], expected) in
        cases.map(|(fields, expected)| (fields.map(str::to_owned), expected))
    {
        let reference = ResourceReference { group, version: "v1".to_owned(), kind, namespace, name, path };
        assert_eq!(reference.to_string(), expected);
    }
}
