//! Charts of tests, from strings, and the real helm, which loads the same charts.

use std::error::Error;
use std::fs;
use std::iter::successors;
use std::process::Command;
use std::sync::Arc;

use tiphys_helm_values::HelmVersion;
use tiphys_testkit::tools;

use crate::{Chart, ChartFile, LoadError, LoadLimits};

/// Prints the files of a chart and its subcharts as a comment, in the order of their names.
const TEMPLATE: &str = r#"{{ define "files" }}{{ range $path, $bytes := .Files }} {{ $path }}{{ end -}}
    {{ range .Subcharts }} ({{ template "files" . }}){{ end }}{{ end }}#{{ template "files" . }}"#;

/// Loads a directory with these files; an error as Helm prints it.
pub(crate) fn chart_of(files: &[(&str, &str)], version: HelmVersion) -> Result<Chart, String> {
    chart_within(&as_bytes(files), version, LoadLimits::new(version)).map_err(|error| chain(&error))
}

/// Loads like [`chart_of`], with other limits.
pub(crate) fn chart_within(
    files: &[(&str, &[u8])],
    version: HelmVersion,
    limits: LoadLimits,
) -> Result<Chart, LoadError> {
    let file =
        |(path, bytes): &(&str, &[u8])| ChartFile { path: (*path).to_owned(), bytes: Arc::from(*bytes) };
    Chart::of_directory(files.iter().map(file).collect(), version, limits)
}

/// Returns files with their bytes.
pub(crate) fn as_bytes<'a>(files: &[(&'a str, &'a str)]) -> Vec<(&'a str, &'a [u8])> {
    files.iter().map(|(path, text)| (*path, text.as_bytes())).collect()
}

/// Returns an error with its sources.
pub(crate) fn chain(error: &LoadError) -> String {
    let chain = successors(Some(error as &dyn Error), |error| (*error).source());
    chain.map(ToString::to_string).collect::<Vec<_>>().join(": ")
}

/// Asserts that Helm 3 and 4 load the same files of a directory, or report the same error.
pub(crate) fn assert_as_helm(files: &[(&str, &[u8])]) {
    for (version, name) in [(HelmVersion::V3, "helm3"), (HelmVersion::V4, "helm")] {
        let mut files = files.to_vec();
        files.push(("templates/z-print", TEMPLATE.as_bytes()));
        let ours = chart_within(&files, version, LoadLimits::new(version));
        let ours = ours.map(|chart| file_names(&chart)).map_err(|error| chain(&error));
        assert_eq!(loaded_by_helm(name, &files), ours, "{name} {:?}", printable(&files));
    }
}

fn printable(files: &[(&str, &[u8])]) -> Vec<String> {
    files.iter().map(|(path, bytes)| format!("{path}: {}", bytes.escape_ascii())).collect()
}

/// Returns the files that helm loads, as [`TEMPLATE`] prints them, or its error.
#[expect(clippy::disallowed_methods, reason = "the result is compared with that of a program")]
#[expect(clippy::unwrap_in_result, reason = "the error is that of helm; a test fails otherwise")]
fn loaded_by_helm(name: &str, files: &[(&str, &[u8])]) -> Result<String, String> {
    let folder = tempfile::tempdir().unwrap();
    let chart = folder.path().join("c");
    for (path, content) in files {
        let path = chart.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }
    let mut command = Command::new(tools::program(name));
    command.args(["template", "r", "c"]).current_dir(&folder).env_clear().env("HOME", folder.path());
    let output = command.output().unwrap();
    let printed = String::from_utf8(if output.status.success() { output.stdout } else { output.stderr });
    let printed = printed.unwrap();
    if output.status.success() {
        let (_, files) = printed.split_once("/templates/z-print\n#").unwrap_or_default();
        return Ok(files.trim_end().to_owned());
    }
    let (_, error) = printed.split_once("Error: ").unwrap();
    Err(error.trim_end().to_owned())
}

/// Returns the files of a chart as [`TEMPLATE`] prints them.
fn file_names(chart: &Chart) -> String {
    let mut files: Vec<_> = chart.files.iter().map(|file| file.path.as_str()).collect();
    files.sort_unstable();
    files.dedup();
    let mut subcharts: Vec<_> = chart.subcharts.iter().collect();
    subcharts.sort_by_key(|subchart| &subchart.metadata.name);
    let own = files.into_iter().map(|path| format!(" {path}"));
    own.chain(subcharts.into_iter().map(|subchart| format!(" ({})", file_names(subchart)))).collect()
}
