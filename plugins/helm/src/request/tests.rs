//! What an environment asks for.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use super::{Request, places};
use crate::host::Host;

fn request(variables: &[(&str, &str)]) -> Result<Request, String> {
    Request::of(&Host::made_up(Path::new("/repo/charts/web"), variables))
        .map_err(|error| crate::failure::chain(&error))
}

#[test]
fn the_root_is_the_working_directory_without_the_path_of_the_application() {
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
fn an_application_whose_path_is_a_link_has_its_root_above_the_link() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    fs::create_dir_all(root.join("charts/web")).unwrap();
    symlink("charts/web", root.join("link")).unwrap();
    let found = places(&root.join("charts/web"), "link", None).unwrap();
    assert_eq!(found, (root.clone(), root.join("link")));
}

#[test]
fn a_folder_that_two_roots_lead_to_needs_the_one_that_the_run_context_says() {
    let temporary = tempfile::tempdir().unwrap();
    let root = temporary.path().canonicalize().unwrap();
    let folder = root.join("shared/apps/web");
    fs::create_dir_all(&folder).unwrap();
    fs::create_dir(root.join("apps")).unwrap();
    symlink("../shared/apps/web", root.join("apps/web")).unwrap();
    symlink(".", root.join("here")).unwrap();
    let error = places(&folder, "apps/web", None).unwrap_err().to_string();
    assert!(error.contains("(apps/web) of two folders above it, of one of them behind a link"), "{error}");
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
    assert!(error.contains("(web) below the folder source.root of the run context"), "{error}");
}

#[test]
fn the_release_is_named_after_the_application_without_its_namespace() {
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
fn no_parameters_are_no_variable_or_null() {
    for variables in [&[][..], &[("ARGOCD_APP_PARAMETERS", "null")], &[("ARGOCD_APP_PARAMETERS", "")]] {
        let options = request(variables).unwrap().options;
        assert_eq!(options, crate::options::HelmOptions::default(), "{variables:?}");
    }
}

#[test]
fn a_file_wins_over_its_variable() {
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
fn what_cannot_be_read_is_refused_by_its_variable() {
    let cases = [
        (("ARGOCD_APP_PARAMETERS", "{}"), "ARGOCD_APP_PARAMETERS is not a list of parameters: "),
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
fn without_a_run_context_the_variables_of_the_sidecar_count() {
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
fn a_request_shows_no_value_that_may_be_secret() {
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
