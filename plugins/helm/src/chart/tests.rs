//! Valid and invalid metadata of charts.

use std::fs;
use std::path::Path;

use tiphys_helm_values::HelmVersion;

use super::{CHART_BYTES_MAX, Chart, ChartBounds, Content, Lock};

/// More than any chart here needs.
const BOUNDS: ChartBounds = ChartBounds { charts: 10, bytes: 1 << 20, dependencies: 10 };

fn names(list: &[super::Dependency]) -> Vec<&str> {
    list.iter().map(|one| one.name.as_str()).collect()
}

/// The names of the dependencies of a `Chart.yaml`.
fn read(text: &str) -> Result<Vec<String>, String> {
    let document = super::decode("Chart.yaml", text.as_bytes());
    let chart = document.and_then(|document| Chart::of(document.as_ref(), None, BOUNDS));
    let chart = chart.map_err(|error| error.to_string())?;
    Ok(chart.dependencies.into_iter().map(|one| one.name).collect())
}

#[test]
fn dependencies_are_read_in_order() {
    let text = "apiVersion: v2\nname: a\ndependencies:\n- name: b\n  version: ^1\n  repository: '@known'\n-\n- {name: c, condition: c.enabled}\n";
    assert_eq!(read(text), Ok(vec!["b".to_owned(), "c".to_owned()]));
    assert_eq!(read("name: a\n"), Ok(Vec::new()));
    assert_eq!(read(""), Ok(Vec::new()));
}

#[test]
fn requirements_yaml_is_read_over_chart_yaml() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    write(
        "Chart.yaml",
        "name: app\nversion: 0.1.0\ndependencies: [{name: own, repository: 'file://../own'}]\n",
    );
    write("requirements.yaml", "name: other\ndependencies: [{name: dep}]\n");
    let chart = Chart::read_with_requirements(folder.path(), BOUNDS).unwrap();
    assert_eq!((chart.name.as_str(), chart.version.as_str()), ("app", "0.1.0"));
    assert_eq!(names(&chart.dependencies), ["dep"]);
    assert_eq!(chart.dependencies[0].repository, "file://../own");
    assert_eq!(names(&Chart::read(folder.path(), BOUNDS).unwrap().dependencies), ["own"]);
    write("requirements.yaml", "");
    assert_eq!(names(&Chart::read_with_requirements(folder.path(), BOUNDS).unwrap().dependencies), ["own"]);
}

#[test]
fn lock_files_are_read_in_order_and_may_be_empty() {
    let folder = tempfile::tempdir().unwrap();
    let locks = |folder: &Path| -> Vec<(&str, Option<Vec<String>>)> {
        let names = |list: Vec<super::Dependency>| list.into_iter().map(|one| one.name).collect();
        let locks = Lock::read_all(folder, BOUNDS).unwrap().into_iter();
        locks.map(|lock| (lock.file, lock.dependencies.map(names))).collect()
    };
    assert_eq!(locks(folder.path()), []);
    fs::write(folder.path().join("requirements.lock"), "# nothing\n").unwrap();
    fs::write(folder.path().join("Chart.lock"), "dependencies: [{name: dep}]\n").unwrap();
    let expected = [("Chart.lock", Some(vec!["dep".to_owned()])), ("requirements.lock", None)];
    assert_eq!(locks(folder.path()), expected);
    fs::write(folder.path().join("requirements.lock"), "digest: x\n").unwrap();
    assert_eq!(locks(folder.path())[1], ("requirements.lock", Some(Vec::new())));
}

#[test]
fn invalid_yaml_is_rejected_in_argo_cds_words() {
    let error = read("name: a\n  bad: [\n").unwrap_err();
    let expected = "error retrieving helm dependency repos: error unmarshalling the helm chart while getting helm dependency repos: \
                    error converting YAML to JSON: yaml: line 2: ";
    assert!(error.starts_with(expected), "{error}");
}

#[test]
fn dependencies_must_be_a_list() {
    let error = read("dependencies: {a: b}\n").unwrap_err();
    assert!(
        error.contains("error unmarshaling JSON: Chart.yaml: ") && error.contains("dependencies"),
        "{error}"
    );
}

#[test]
fn missing_chart_is_rejected_in_argo_cds_words() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("Chart.yaml").display().to_string();
    let error = Chart::read(folder.path(), BOUNDS).unwrap_err().to_string();
    assert_eq!(
        error,
        format!(
            "error retrieving helm dependency repos: error reading helm chart from {path}: open {path}: no such file or directory"
        )
    );
}

#[test]
fn file_above_the_limit_is_rejected() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("Chart.yaml");
    let padded = |bytes: u64| format!("name: a\n#{}", "x".repeat(usize::try_from(bytes).unwrap() - 9));
    fs::write(&path, padded(CHART_BYTES_MAX)).unwrap();
    assert_eq!(Chart::read(folder.path(), BOUNDS).unwrap().name, "a");
    fs::write(&path, padded(CHART_BYTES_MAX + 1)).unwrap();
    let error = Chart::read(folder.path(), BOUNDS).unwrap_err().to_string();
    assert!(error.ends_with("Chart.yaml: it has more than 5242880 bytes"), "{error}");
}

#[test]
fn files_with_values_are_read_and_others_listed() {
    let folder = tempfile::tempdir().unwrap();
    for path in
        ["values.yaml", "templates/a.yaml", "charts/db/Chart.yaml", "charts/db/crds/a.yaml", "charts/x.tgz"]
    {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "content").unwrap();
    }
    std::os::unix::fs::symlink("/nowhere", folder.path().join("files")).unwrap();
    let limits = BOUNDS.of_chart(HelmVersion::V4);
    let read = |content| super::files(folder.path(), folder.path(), content, limits);
    let mut found: Vec<_> =
        read(Content::Values).unwrap().into_iter().map(|file| (file.path, file.bytes.len())).collect();
    found.sort();
    let expected = [
        ("charts/db/Chart.yaml", 7),
        ("charts/db/crds", 0),
        ("charts/x.tgz", 7),
        ("files", 0),
        ("templates", 0),
        ("values.yaml", 7),
    ];
    assert_eq!(found, expected.map(|(path, bytes)| (path.to_owned(), bytes)));
    let error = read(Content::All).unwrap_err().to_string();
    assert!(error.ends_with("/files cannot be read: No such file or directory (os error 2)"), "{error}");
}
