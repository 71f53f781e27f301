//! Jsonnet files of a directory. As in Argo CD, each gives an object, or a list of objects.

use std::time::Duration;

use serde_json::json;
use tiphys_model::resources::{JsonnetOptions, JsonnetVariable};
use tiphys_plugin::{Deadline, NATIVE_PROGRAM, NativeError, NativeProgram};
use tiphys_tree::{RepoPath, Tree};
use tiphys_yaml::{Data, Node, read_json};
use tokio_util::sync::CancellationToken;

use super::{DirectoryError, has_kind, no_kind};

/// Why a Jsonnet file cannot be evaluated.
#[derive(Debug, thiserror::Error)]
pub enum JsonnetError {
    /// The program is not installed.
    #[error(
        "Jsonnet needs the program {NATIVE_PROGRAM}, which was not found beside tiphys or in PATH; install it, or exclude the file with `directory.exclude`"
    )]
    NotInstalled,
    /// A library directory is outside of the repository.
    #[error("directory.jsonnet.libs: {0:?} is outside of the repository; use a path below its root")]
    Library(String),
    /// The evaluation failed.
    #[error("Jsonnet")]
    Failed(#[source] NativeError),
    /// The result is not an object or a list of objects.
    #[error("Jsonnet: {0}")]
    Result(String),
}

/// Evaluates Jsonnet files.
pub(crate) struct JsonnetEvaluator<'a> {
    pub(crate) program: Option<&'a NativeProgram>,
    /// Maximum duration of one evaluation.
    pub(crate) timeout: Duration,
    pub(crate) cancel: &'a CancellationToken,
}

impl JsonnetEvaluator<'_> {
    /// Returns the objects of a file, whose imports must be in the tree.
    pub(super) async fn evaluate(
        &self,
        tree: &Tree,
        folder: &RepoPath,
        file: &RepoPath,
        options: &JsonnetOptions,
    ) -> Result<Vec<Node>, DirectoryError> {
        let objects = async || {
            let program = self.program.ok_or(JsonnetError::NotInstalled)?;
            let request = json!({"jsonnet": {
                "root": tree.root(),
                "file": file.as_str(),
                "paths": search_paths(folder, &options.libs)?,
                "extVars": variables(&options.ext_vars),
                "tlas": variables(&options.tlas),
            }});
            let answer = program.ask(&request, Deadline::After(self.timeout), self.cancel).await;
            objects(&answer.map_err(JsonnetError::Failed)?.output).map_err(JsonnetError::Result)
        };
        objects().await.map_err(|source| DirectoryError::Jsonnet { file: file.clone(), source })
    }
}

/// Returns the directories in which imports are looked up, relative to the repository's root. The last one wins.
fn search_paths(folder: &RepoPath, libraries: &[String]) -> Result<Vec<String>, JsonnetError> {
    let library = |path: &String| {
        let below = RepoPath::new(path.trim_start_matches('/'));
        below.map(|path| path.as_str().to_owned()).map_err(|_outside| JsonnetError::Library(path.clone()))
    };
    [Ok(folder.as_str().to_owned())].into_iter().chain(libraries.iter().map(library)).collect()
}

fn variables(variables: &[JsonnetVariable]) -> serde_json::Value {
    let variables = variables
        .iter()
        .map(|JsonnetVariable { name, value, code }| json!({"name": name, "value": value, "code": code}));
    variables.collect()
}

fn objects(output: &str) -> Result<Vec<Node>, String> {
    let result = read_json(output.as_bytes()).map_err(|error| error.to_string())?;
    let items = match result.data {
        Data::Sequence(items) => items,
        _ => vec![result],
    };
    let items = items.into_iter().filter(|item| !matches!(item.data, Data::Null));
    let object = |item: Node| match &item.data {
        Data::Mapping(_) if has_kind(&item) => Ok(item),
        Data::Mapping(_) => Err(no_kind(&item)),
        _ => Err(format!("expected an object or a list of objects, found {}", item.type_words())),
    };
    items.map(object).collect()
}
