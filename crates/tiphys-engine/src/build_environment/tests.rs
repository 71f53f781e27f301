use super::{BuildEnvironment, BuildEnvironmentError, BuildInputs};

const INPUTS: BuildInputs<'static> = BuildInputs {
    instance_name: "team_web",
    destination_namespace: "web",
    project: "shop",
    revision: "0123456789abcdef",
    repo_url: "https://git.example.com/repo.git",
    path: "apps/web",
    target_revision: "main",
    kube_version: "v1.28.3+k3s1",
    api_versions: &[],
};

#[test]
fn variables_are_in_argo_cd_order() {
    let api_versions =
        ["v1".to_owned(), "apps/v1/Deployment".to_owned(), "apps/v1".to_owned(), "v1".to_owned()];
    let build =
        BuildEnvironment::new(&BuildInputs { api_versions: &api_versions, ..INPUTS }).expect("valid inputs");
    let found: Vec<String> = build.variables().iter().map(|v| format!("{}={}", v.name, v.value)).collect();
    assert_eq!(
        found,
        [
            "ARGOCD_APP_NAME=team_web",
            "ARGOCD_APP_NAMESPACE=web",
            "ARGOCD_APP_PROJECT_NAME=shop",
            "ARGOCD_APP_REVISION=0123456789abcdef",
            "ARGOCD_APP_REVISION_SHORT=0123456",
            "ARGOCD_APP_REVISION_SHORT_8=01234567",
            "ARGOCD_APP_SOURCE_REPO_URL=https://git.example.com/repo.git",
            "ARGOCD_APP_SOURCE_PATH=apps/web",
            "ARGOCD_APP_SOURCE_TARGET_REVISION=main",
            "KUBE_VERSION=1.28.3",
            "KUBE_API_VERSIONS=apps/v1,apps/v1/Deployment,v1",
        ]
    );
}

#[test]
fn kubernetes_version_is_reduced_to_numbers() {
    let cases = [
        ("", Some("")),
        ("v1.28.3", Some("1.28.3")),
        ("1.31", Some("1.31")),
        ("v1.28.3-gke.100", Some("1.28.3")),
        ("1.28.x", Some("1.28")),
        ("1.29+", Some("1.29")),
        (" v1.30.0", Some("1.30.0")),
        ("1.2.3.4", Some("1.2.3.4")),
        ("1", None),
        ("01.2", None),
        ("latest", None),
        ("v", None),
        ("1.99999999999999999999", None),
    ];
    for (version, expected) in cases {
        let result = BuildEnvironment::new(&BuildInputs { kube_version: version, ..INPUTS });
        match expected {
            Some(expected) => assert_eq!(result.expect(version).variables()[9].value, expected, "{version}"),
            None => {
                assert_eq!(result, Err(BuildEnvironmentError::KubeVersion { version: version.to_owned() }));
            }
        }
    }
}

#[test]
fn revision_is_cut_at_a_character_boundary() {
    for (revision, expected) in [("abc", "abc"), ("日本語の枝", "日本"), ("", "")] {
        let build = BuildEnvironment::new(&BuildInputs { revision, ..INPUTS }).expect("valid inputs");
        assert_eq!(build.variables()[4].value, expected);
    }
}
