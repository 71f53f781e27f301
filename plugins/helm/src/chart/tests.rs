//! Charts' own files, good and bad.

use super::{Chart, Dependency};

fn decode(text: &str) -> Result<Vec<Dependency>, String> {
    Chart::decode(text.as_bytes()).map(|chart| chart.dependencies).map_err(|error| error.to_string())
}

#[test]
fn dependencies_are_read_in_order() {
    let text = "apiVersion: v2\nname: a\ndependencies:\n- name: b\n  version: ^1\n  repository: '@known'\n-\n- {name: c, condition: c.enabled}\n";
    let dependency = |name: &str, repository: &str, version: &str| Dependency {
        name: name.to_owned(),
        repository: repository.to_owned(),
        version: version.to_owned(),
    };
    assert_eq!(decode(text), Ok(vec![dependency("b", "@known", "^1"), dependency("c", "", "")]));
    assert_eq!(decode("name: a\n"), Ok(Vec::new()));
    assert_eq!(decode(""), Ok(Vec::new()));
}

#[test]
fn a_file_that_is_not_yaml_is_refused_where_native_refuses_it() {
    let error = decode("name: a\n  bad: [\n").unwrap_err();
    let expected = "error retrieving helm dependency repos: error unmarshalling the helm chart while getting helm dependency repos: \
                    error converting YAML to JSON: yaml: line 2: ";
    assert!(error.starts_with(expected), "{error}");
}

#[test]
fn dependencies_that_are_no_list_are_refused() {
    let error = decode("dependencies: {a: b}\n").unwrap_err();
    assert!(error.contains("error unmarshaling JSON: ") && error.contains("dependencies"), "{error}");
}

#[test]
fn a_folder_without_a_chart_is_refused_in_the_words_of_native() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("Chart.yaml").display().to_string();
    let error = Chart::read(folder.path()).unwrap_err().to_string();
    assert_eq!(
        error,
        format!(
            "error retrieving helm dependency repos: error reading helm chart from {path}: open {path}: no such file or directory"
        )
    );
}
