//! The kustomization in the directory of the application, a private copy.

use std::io;
use std::path::{Path, PathBuf};

use serde_json::Value;
use tiphys_tree::RepoPath;
use tiphys_tree::kustomization::{KUSTOMIZATIONS, KustomizationError as Error};

use crate::call::Call;
use crate::helm::top_of_repository;

/// An error of a kustomization.
#[derive(Debug, thiserror::Error)]
pub(crate) enum KustomizationError {
    #[error("there is no {} in this folder", KUSTOMIZATIONS.join(", "))]
    Missing,
    #[error("{0}")]
    Yaml(&'static str, #[source] tiphys_yaml::Error),
    #[error("{name}: {message}")]
    Invalid { name: &'static str, message: &'static str },
    #[error("{0}")]
    Path(String),
    #[error(transparent)]
    Outside(#[from] Error),
    #[error("{path}", path = path.display())]
    Io {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
}

/// Returns the name and content of the kustomization in a directory.
pub(crate) fn read(folder: &Path) -> Result<(&'static str, Value), KustomizationError> {
    let name = KUSTOMIZATIONS.into_iter().find(|name| folder.join(name).is_file());
    let name = name.ok_or(KustomizationError::Missing)?;
    let path = folder.join(name);
    let text = std::fs::read(&path).map_err(|source| KustomizationError::Io { path, source })?;
    let document =
        tiphys_yaml::read_document(&text).map_err(|error| KustomizationError::Yaml(name, error))?;
    Ok((name, document.map_or(Value::Null, |node| node.to_value())))
}

/// Replaces a file, which may be a link.
pub(crate) fn write(path: &Path, content: &Value) -> Result<(), KustomizationError> {
    let written = std::fs::remove_file(path).and_then(|()| std::fs::write(path, content.to_string()));
    written.map_err(|source| KustomizationError::Io { path: path.to_path_buf(), source })
}

/// Adds patches after those of the kustomization. As in Argo CD, the file itself is changed: `kustomize edit` cannot add all patches.
pub(crate) fn append_patches(folder: &Path, patches: &[Value]) -> Result<(), KustomizationError> {
    let (name, mut kustomization) = read(folder)?;
    let invalid = |message| KustomizationError::Invalid { name, message };
    let fields = kustomization.as_object_mut().ok_or_else(|| invalid("expected an object"))?;
    let own = fields.entry("patches").or_insert_with(|| Value::Array(Vec::new()));
    own.as_array_mut().ok_or_else(|| invalid("patches: expected a list"))?.extend_from_slice(patches);
    write(&folder.join(name), &kustomization)
}

/// Checks that the kustomization, as it is now, does not lead out of the repository.
pub(crate) fn check(call: &Call) -> Result<(), KustomizationError> {
    let (top, below) = application(call)?;
    Ok(tiphys_tree::kustomization::check(&top, &below)?)
}

/// Returns the repository's top directory, and the application's directory in it.
pub(crate) fn application(call: &Call) -> Result<(PathBuf, RepoPath), KustomizationError> {
    let top = top_of_repository(call);
    let below = call.folder.strip_prefix(&top).ok().and_then(Path::to_str);
    let below = RepoPath::new(below.unwrap_or_default());
    Ok((top, below.map_err(|error| KustomizationError::Path(error.to_string()))?))
}

/// Returns the arguments of `kustomize edit` that add components. `None` without components.
pub(crate) fn add_components(paths: &[String]) -> Option<Vec<String>> {
    let words = ["add", "component", "--"].map(str::to_owned);
    (!paths.is_empty()).then(|| [&words[..], paths].concat())
}

/// Returns the components to add, which must not lead out of the repository: kustomize looks for them at once. With `ignore_missing`,
/// directories without a kustomization are left out. Argo CD 3.6.1 also leaves out all after the first one.
pub(crate) fn components(
    folder: &Path,
    app_path: &RepoPath,
    paths: &[String],
    ignore_missing: bool,
) -> Result<Vec<String>, KustomizationError> {
    let exists =
        |path: &&String| KUSTOMIZATIONS.into_iter().any(|name| folder.join(path).join(name).is_file());
    let paths: Vec<String> = paths.iter().filter(|path| !ignore_missing || exists(path)).cloned().collect();
    match paths.iter().find(|path| app_path.join(path).is_err()) {
        Some(path) => {
            let (file, path) = ("the parameters".to_owned(), path.clone());
            Err(Error::Outside { file, field: "components", path }.into())
        }
        None => Ok(paths),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use serde_json::json;

    use super::*;
    use crate::call::Role;

    fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
        let dir = tempfile::tempdir().expect("a folder");
        for (path, content) in files {
            let path = dir.path().join(path);
            fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
            fs::write(path, content).expect("a file");
        }
        dir
    }

    #[test]
    fn patches_follow_those_of_the_kustomization() {
        let patches = [json!({"path": "new.yaml"})];
        for (content, expected) in [
            ("", Err("kustomization.yaml: expected an object")),
            ("resources: [a]\n", Ok(json!({"resources": ["a"], "patches": [{"path": "new.yaml"}]}))),
            (
                "patches:\n- path: own.yaml\n",
                Ok(json!({"patches": [{"path": "own.yaml"}, {"path": "new.yaml"}]})),
            ),
            ("patches: {}\n", Err("kustomization.yaml: patches: expected a list")),
        ] {
            let dir = folder(&[("kustomization.yaml", content)]);
            let appended = append_patches(dir.path(), &patches).map_err(|error| error.to_string());
            let found = appended.map(|()| read(dir.path()).expect("readable").1);
            assert_eq!(found, expected.map_err(str::to_owned), "{content}");
        }
    }

    fn call(folder: &Path) -> Call {
        Call {
            role: Role::Plugin,
            arguments: Vec::new(),
            variables: vec![("ARGOCD_APP_SOURCE_PATH".into(), "app".into())],
            folder: folder.canonicalize().expect("it exists"),
            executable: None,
        }
    }

    #[test]
    fn components_without_a_kustomization_are_left_out() {
        let files = [("app/x", ""), ("a/kustomization.yaml", ""), ("b/Kustomization", ""), ("empty/x", "")];
        let dir = folder(&files);
        let (app, app_path) = (dir.path().join("app"), RepoPath::new("app").expect("inside"));
        let paths = ["../a", "../empty", "gone", "../b"].map(str::to_owned);
        assert_eq!(components(&app, &app_path, &paths, true).expect("inside"), ["../a", "../b"]);
        assert_eq!(components(&app, &app_path, &paths, false).expect("inside"), paths);
    }

    #[test]
    fn component_outside_the_repository_is_refused() {
        let out = "use a path inside of it, or a URL";
        let dir = folder(&[
            ("repo/app/kustomization.yaml", "components: [../../out]\n"),
            ("out/kustomization.yaml", ""),
        ]);
        let call = call(&dir.path().join("repo/app"));
        assert_eq!(
            check(&call).expect_err("it leads out").to_string(),
            format!("app/kustomization.yaml: components: \"../../out\" is outside of the repository; {out}")
        );
        let paths = ["../comp", "../../out"].map(str::to_owned);
        assert_eq!(
            components(&call.folder, &RepoPath::new("app").expect("inside"), &paths, true)
                .expect_err("it leads out")
                .to_string(),
            format!("the parameters: components: \"../../out\" is outside of the repository; {out}")
        );
    }
}
