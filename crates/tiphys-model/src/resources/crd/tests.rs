use super::*;

#[test]
fn fields_are_added_below_existing_schemas() {
    let template = "spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/template/properties/spec/properties";
    let cases = [
        (Crd::Applications, "spec/versions/0/schema/openAPIV3Schema/properties/spec/properties", 4),
        (Crd::ApplicationSets, template, 4),
    ];
    for (crd, spec, count) in cases {
        let patch = crd_patch(crd);
        let paths: Vec<&str> =
            patch.as_array().expect("a list").iter().filter_map(|one| one["path"].as_str()).collect();
        assert_eq!(paths.len(), count);
        for (path, parent) in paths.iter().zip([
            "source/properties/helm/properties",
            "source/properties/plugin/properties",
            "sources/items/properties/helm/properties",
            "sources/items/properties/plugin/properties",
        ]) {
            let parent = format!("{spec}/{parent}");
            assert_eq!(*path, format!("/{parent}/dynamicParameters"));
        }
    }
}

#[test]
fn projects_get_both_lists() {
    let patch = crd_patch(Crd::AppProjects);
    let required: Vec<(&str, &Value)> = patch
        .as_array()
        .expect("a list")
        .iter()
        .map(|one| {
            (
                one["path"].as_str().and_then(|path| path.rsplit('/').next()).unwrap_or_default(),
                &one["value"]["items"]["required"],
            )
        })
        .collect();
    assert_eq!(
        required,
        [
            ("namespaceReadOnlyAllowlist", &json!(["kind", "namespace"])),
            ("clusterReadOnlyAllowList", &json!(["kind"]))
        ]
    );
}
