//! The test cases of a plugin: `testdata/<case>/` with a repository and the expected results.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use tiphys_model::resources::Application;
use tiphys_plugin::read_plugin_file;
use tiphys_store::Store as Resources;

use super::TestMode;
use crate::error::{Remedy, ServiceError};
use crate::plugin::trial::{default_application, read_application};
use crate::warning::Warning;

/// The repository.
pub(super) const TREE: &str = "tree";
/// The Application.
const APPLICATION: &str = "app.yaml";
/// The expected manifests.
pub(super) const MANIFESTS: &str = "expected.yaml";
/// The expected announcements.
pub(super) const ANNOUNCEMENT: &str = "announcement.json";
/// The expected parts of the error.
pub(super) const ERROR: &str = "error.txt";
/// A description.
const README: &str = "README.md";

/// A directory below the cases.
pub(super) struct FoundCase {
    pub(super) name: String,
    /// The case, or why the directory is none.
    pub(super) case: Result<Box<TestCase>, Warning>,
}

/// A test case.
pub(super) struct TestCase {
    pub(super) folder: PathBuf,
    /// The application's directory in the repository.
    pub(super) path: String,
    pub(super) resources: Resources,
    pub(super) application: Application,
    pub(super) expected: Expected,
}

/// The expected results.
#[derive(Debug, Default)]
pub(super) struct Expected {
    pub(super) manifests: Option<Vec<Value>>,
    pub(super) announcement: Option<Value>,
    /// Parts of the error.
    pub(super) error: Option<Vec<String>>,
}

/// Finds the cases below a directory, or those with these names, in the order of their names. `shown` is the directory for messages.
pub(super) fn find(
    testdata: &Path,
    shown: &Path,
    asked: &[String],
    mode: TestMode,
) -> Result<Vec<FoundCase>, ServiceError> {
    let unreadable = |error: std::io::Error| {
        ServiceError::invalid_input(format!("cannot read {}: {error}", shown.display()))
    };
    let mut names = Vec::new();
    match fs::read_dir(testdata) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
        Err(error) => return Err(unreadable(error)),
        Ok(entries) => {
            for entry in entries {
                let entry = entry.map_err(unreadable)?;
                let name = entry.file_name().into_string().map_err(|name| {
                    ServiceError::invalid_input(format!(
                        "{}: the name is not UTF-8; rename the file",
                        shown.join(name).display()
                    ))
                })?;
                if entry.path().is_dir() && !name.starts_with('.') {
                    names.push(name);
                }
            }
        }
    }
    names.sort();
    if names.is_empty() {
        return Err(ServiceError::invalid_input(format!("{} has no cases", shown.display())).with_hint(
            "a case is a folder there with tree/ (a repository), app.yaml, and expected.yaml, announcement.json or error.txt",
        ));
    }
    for name in asked {
        if !names.contains(name) {
            let near = tiphys_model::params::suggest(name, names.iter().map(String::as_str));
            let known = if near.is_empty() { names.iter().map(String::as_str).collect() } else { near };
            let word = if names.len() == known.len() { "cases" } else { "did you mean" };
            return Err(ServiceError::invalid_input(format!("{} has no case {name:?}", shown.display()))
                .with_hint(format!("{word}: {}", known.join(", "))));
        }
    }
    names.retain(|name| asked.is_empty() || asked.contains(name));
    Ok(names
        .into_iter()
        .map(|name| FoundCase { case: read(&testdata.join(&name), mode).map(Box::new), name })
        .collect())
}

fn read(folder: &Path, mode: TestMode) -> Result<TestCase, Warning> {
    let files = entries(folder)?;
    if !folder.join(TREE).is_dir() {
        return Err(format!("the folder {TREE} with the files of the repository does not exist").into());
    }
    let has = |name: &str| files.iter().any(|file| file == name);
    let read = |name: &str| -> Result<Option<Vec<u8>>, String> {
        let bytes = has(name).then(|| read_plugin_file(&folder.join(name)));
        bytes.transpose().map_err(|error| format!("cannot read {name}: {error}"))
    };
    let (resources, application) = if has(APPLICATION) {
        read_application(&folder.join(APPLICATION), Path::new(APPLICATION))
            .map_err(|error| error.message())?
    } else {
        (Resources::default(), default_application())
    };
    let sources = application.spec.effective_sources();
    if sources.len() > 1 {
        return Err(format!("{APPLICATION} has {} sources, expected one", sources.len()).into());
    }
    let path = sources.first().map(|source| source.path.clone()).filter(|path| !path.is_empty());
    let path = path.unwrap_or_else(|| ".".to_owned());
    let expected = Expected {
        manifests: read(MANIFESTS)?.map(|text| manifests(&text)).transpose()?,
        announcement: read(ANNOUNCEMENT)?.map(|text| announcement(&text)).transpose()?,
        error: read(ERROR)?.map(|text| error_lines(&text)).transpose()?,
    };
    if expected.manifests.is_some() && expected.error.is_some() {
        return Err(
            format!("it has both {MANIFESTS} and {ERROR}; generating either succeeds or fails").into()
        );
    }
    if expected.is_empty() && mode == TestMode::Compare {
        let missing = Warning::new(format!("{MANIFESTS}, {ANNOUNCEMENT} and {ERROR} do not exist"));
        return Err(missing.with_remedy(Remedy::RecordResults));
    }
    Ok(TestCase { folder: folder.to_path_buf(), path, resources, application, expected })
}

/// Returns the names of the files of a case. An unknown name is a mistake, such as `expected.yml`.
fn entries(folder: &Path) -> Result<Vec<String>, String> {
    const KNOWN: [&str; 6] = [TREE, APPLICATION, MANIFESTS, ANNOUNCEMENT, ERROR, README];
    let unreadable = |error: std::io::Error| format!("cannot read its folder: {error}");
    let mut names = Vec::new();
    for entry in fs::read_dir(folder).map_err(unreadable)? {
        let name = entry.map_err(unreadable)?.file_name().to_string_lossy().into_owned();
        if !KNOWN.contains(&name.as_str()) && !name.starts_with('.') {
            let near = tiphys_model::params::suggest(&name, KNOWN);
            let known = if near.is_empty() { KNOWN.join(", ") } else { near.join(", ") };
            let word = if near.is_empty() { "a case has" } else { "did you mean" };
            return Err(format!("{name:?} is nothing that a case has; {word}: {known}"));
        }
        names.push(name);
    }
    Ok(names)
}

fn manifests(text: &[u8]) -> Result<Vec<Value>, String> {
    let documents = tiphys_yaml::read_documents(text).map_err(|error| format!("{MANIFESTS}: {error}"))?;
    Ok(documents.into_iter().map(|node| node.deduplicated().to_value()).collect())
}

fn announcement(text: &[u8]) -> Result<Value, String> {
    let value: Value =
        serde_json::from_slice(text).map_err(|error| format!("{ANNOUNCEMENT} is not JSON: {error}"))?;
    if value.is_array() { Ok(value) } else { Err(format!("{ANNOUNCEMENT} has to be a list")) }
}

fn error_lines(text: &[u8]) -> Result<Vec<String>, String> {
    let text = String::from_utf8_lossy(text);
    let lines: Vec<String> =
        text.lines().map(str::trim).filter(|line| !line.is_empty()).map(str::to_owned).collect();
    if lines.is_empty() {
        return Err(format!("{ERROR} is empty; each of its lines has to be a part of the error"));
    }
    Ok(lines)
}

impl Expected {
    /// Returns whether nothing is expected.
    pub(super) fn is_empty(&self) -> bool {
        self.manifests.is_none() && self.announcement.is_none() && self.error.is_none()
    }
}
