//! Requests from environment variables.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use super::{Request, places};
use crate::host::Host;

fn request(variables: &[(&str, &str)]) -> Result<Request, String> {
    Request::of(&Host::for_test(Path::new("/repo/charts/web"), variables))
        .map_err(|error| crate::failure::chain(&error))
}

#[test]
fn root_is_working_directory_minus_application_path() {
    let cases = [
        ("charts/web", "/repo"),
        ("./charts/../charts/web/", "/repo"),
        ("web", "/repo/charts"),
        ("", "/repo/charts/web"),
        (".", "/repo/charts/web"),
        ("repo/charts/web", "/"),
    ];
    for (source_path, root) in cases {
        let expected = (PathBuf::from(root), PathBuf::from("/repo/charts/web"));
        assert_eq!(
            places(Path::new("/repo/charts/web"), source_path, None).unwrap(),
            expected,
            "{source_path}"
        );
    }
    let error = places(Path::new("/repo/charts/web"), "other", None).unwrap_err().to_string();
    assert!(
        error.starts_with("the working directory /repo/charts/web is not ARGOCD_APP_SOURCE_PATH (other)"),
        "{error}"
    );
}

#[test]
fn root_is_above_a_linked_application_path() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    fs::create_dir_all(root.join("charts/web")).unwrap();
    symlink("charts/web", root.join("link")).unwrap();
    let found = places(&root.join("charts/web"), "link", None).unwrap();
    assert_eq!(found, (root.clone(), root.join("link")));
}

#[test]
fn ambiguous_root_is_resolved_by_the_run_context() {
    let temporary = tempfile::tempdir().unwrap();
    let root = temporary.path().canonicalize().unwrap();
    let folder = root.join("shared/apps/web");
    fs::create_dir_all(&folder).unwrap();
    fs::create_dir(root.join("apps")).unwrap();
    symlink("../shared/apps/web", root.join("apps/web")).unwrap();
    symlink(".", root.join("here")).unwrap();
    let error = places(&folder, "apps/web", None).unwrap_err().to_string();
    assert!(error.contains("(apps/web) below two directories, one of them through a link"), "{error}");
    let cases = [
        (root.clone(), "apps/web", (root.clone(), root.join("apps/web"))),
        (root.join("here"), "apps/web", (root.clone(), root.join("apps/web"))),
        (root.join("shared"), "apps/web", (root.join("shared"), folder.clone())),
        (root.clone(), "shared/apps/web", (root.clone(), folder.clone())),
        (folder.clone(), ".", (folder.clone(), folder.clone())),
    ];
    for (known, source_path, expected) in cases {
        assert_eq!(places(&folder, source_path, Some(&known)).unwrap(), expected, "{known:?}");
    }
    let error = places(&folder, "web", Some(&root)).unwrap_err().to_string();
    assert!(error.contains("(web) below source.root of the run context"), "{error}");
}

#[test]
fn release_name_is_application_name_without_namespace() {
    let cases = [
        ("my-app", "my-app"),
        ("team_app", "app"),
        ("a_b_c", "b_c"),
        ("_app", "app"),
        ("app_", "app_"),
        ("", ""),
    ];
    for (app, expected) in cases {
        assert_eq!(request(&[("ARGOCD_APP_NAME", app)]).unwrap().release_name(), expected, "{app}");
    }
    let parameters = (
        "ARGOCD_APP_PARAMETERS",
        r#"[{"name":"release-name","string":"other"},{"name":"namespace","string":"o"}]"#,
    );
    let overridden =
        request(&[("ARGOCD_APP_NAME", "team_app"), ("ARGOCD_APP_NAMESPACE", "ns"), parameters]).unwrap();
    assert_eq!((overridden.release_name(), overridden.release_namespace()), ("other", "o"));
}

#[test]
fn missing_or_null_parameters_are_empty() {
    for variables in [&[][..], &[("ARGOCD_APP_PARAMETERS", "null")], &[("ARGOCD_APP_PARAMETERS", "")]] {
        let options = request(variables).unwrap().options;
        assert_eq!(options, crate::options::HelmOptions::default(), "{variables:?}");
    }
}

#[test]
fn file_overrides_its_variable() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name);
        fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let parameters = file("parameters", r#"[{"name":"version","string":"v3"}]"#);
    let versions = file("versions", "v1,apps/v1,,apps/v1/Deployment");
    let request = request(&[
        ("ARGOCD_APP_PARAMETERS", "null"),
        ("ARGOCD_APP_PARAMETERS_FILE", &parameters),
        ("KUBE_API_VERSIONS", "other"),
        ("KUBE_API_VERSIONS_FILE", &versions),
    ])
    .unwrap();
    assert_eq!(request.options.version, "v3");
    assert_eq!(request.api_versions, ["v1", "apps/v1", "apps/v1/Deployment"]);
}

#[test]
fn unreadable_input_is_reported_with_its_variable() {
    let cases = [
        (("ARGOCD_APP_PARAMETERS", "{}"), "ARGOCD_APP_PARAMETERS must be a list of parameters: "),
        (("ARGOCD_APP_PARAMETERS", r#"[{"string":"x"}]"#), "parameter 1 of 1 has no name"),
        (
            ("ARGOCD_APP_PARAMETERS_FILE", "/does/not/exist"),
            "cannot read /does/not/exist, which ARGOCD_APP_PARAMETERS_FILE names: ",
        ),
        (
            ("TIPHYS_CONTEXT_FILE", "/does/not/exist"),
            "cannot read /does/not/exist, which TIPHYS_CONTEXT_FILE names: ",
        ),
    ];
    for (variable, expected) in cases {
        let error = request(&[variable]).unwrap_err();
        assert!(error.starts_with(expected), "{error}");
    }
}

#[test]
fn sidecar_variables_apply_without_a_run_context() {
    let context = request(&[
        ("ARGOCD_APP_PROJECT_NAME", "p"),
        ("TIPHYS_HELM_VALUES_FILE_SCHEMES", "https, s3"),
        ("TIPHYS_HELM_SOURCE_REPOS", "https://a.example.com/*,!https://a.example.com/x"),
    ])
    .unwrap()
    .context;
    assert_eq!(context.values_file_schemes, ["https", "s3"]);
    assert_eq!(context.project.name, "p");
    assert_eq!(context.project.source_repos, ["https://a.example.com/*", "!https://a.example.com/x"]);
    let none = request(&[("TIPHYS_HELM_VALUES_FILE_SCHEMES", "")]).unwrap().context.values_file_schemes;
    assert_eq!(none, [""; 0], "an empty list allows no URLs");
    assert_eq!(request(&[]).unwrap().context.values_file_schemes, ["https", "http"]);
}

#[test]
fn debug_of_request_redacts_values() {
    let parameters =
        r#"[{"name": "values", "string": "a: hunter22"}, {"name": "set.a", "string": "hunter22"}]"#;
    let variables = [
        ("ARGOCD_APP_SOURCE_PATH", "charts/web"),
        ("ARGOCD_APP_PARAMETERS", parameters),
        ("ARGOCD_ENV_TOKEN", "hunter22"),
        ("HTTPS_PROXY", "http://bob:hunter22@proxy.example.com"),
    ];
    let printed = format!("{:?}", request(&variables).unwrap());
    assert!(!printed.contains("hunter22"), "{printed}");
    for name in ["ARGOCD_ENV_TOKEN", "HTTPS_PROXY", "Yaml { bytes: 11 }", "name: \"a\", bytes: 8"] {
        assert!(printed.contains(name), "{name}: {printed}");
    }
}
