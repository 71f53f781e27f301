//! The rendered data: a repository with one commit, plugins that do almost nothing, and Applications.
//!
//! The structure is that of the figures for Argo CD's own path: 10,000 YAML files (25.7 MB there, 25.5 here) in 500 directories of 20.

use std::path::{Path, PathBuf};

use super::content::{FILES_PER_APPLICATION, application_name, write_files};
use crate::cargo::{output, program};
use crate::{Failure, files};

/// Objects in the output of the plugin `many`.
pub(super) const OBJECTS_OF_MANY: usize = 1_000;

/// The branch of the repository.
const BRANCH: &str = "main";

/// A bare repository with one commit.
#[derive(Clone, Debug)]
pub(super) struct Repository {
    /// Number of files.
    pub(super) files: usize,
    /// The directory of the bare repository.
    pub(super) path: PathBuf,
    /// The commit.
    pub(super) commit: String,
}

impl Repository {
    /// Creates a repository with this number of files below `folder`.
    pub(super) fn make(folder: &Path, files: usize) -> Result<Self, Failure> {
        let checkout = folder.join(format!("repository-{files}.checkout"));
        write_files(&checkout, files, 0)?;
        Self::of_checkout(&checkout, files)
    }

    /// Creates a repository below `folder` with these paths and contents.
    pub(super) fn of_files(
        folder: &Path,
        mut files: impl ExactSizeIterator<Item = (String, String)>,
    ) -> Result<Self, Failure> {
        let count = files.len();
        let checkout = folder.join(format!("files-{count}.checkout"));
        files.try_for_each(|(path, content)| files::write(&checkout.join(path), content))?;
        Self::of_checkout(&checkout, count)
    }

    /// Commits a directory, and moves it into a bare repository beside it.
    fn of_checkout(checkout: &Path, files: usize) -> Result<Self, Failure> {
        let path = checkout.with_extension("git");
        git(checkout, &["init", "--quiet", "--initial-branch", BRANCH])?;
        commit(checkout)?;
        git(checkout, &["clone", "--quiet", "--bare", &checkout.to_string_lossy(), &path.to_string_lossy()])?;
        files::remove(checkout)?;
        // Packed like on a git server, so that reading objects has the same cost.
        git(&path, &["repack", "-adfq"])?;
        let commit = git(&path, &["rev-parse", BRANCH])?.trim().to_owned();
        Ok(Self { files, path, commit })
    }

    /// The URL.
    pub(super) fn url(&self) -> String {
        format!("file://{}", self.path.display())
    }

    /// Clones it with its files.
    pub(super) fn checked_out(&self, to: &Path) -> Result<(), Failure> {
        git(&self.path, &["clone", "--quiet", &self.url(), &to.to_string_lossy()]).map(drop)
    }

    /// An Application of the repository.
    pub(super) fn application(&self, index: usize, application: &Application<'_>) -> String {
        let Application { revision, extent, plugin } = application;
        let target = match revision {
            Revision::Branch => BRANCH,
            Revision::Commit => &self.commit,
        };
        let annotations = match extent {
            Extent::Whole => "",
            Extent::OwnFolder => "  annotations:\n    argocd.argoproj.io/manifest-generate-paths: .\n",
        };
        let plugin = plugin.map_or_else(String::new, |(name, suffix)| {
            format!("    plugin:\n      name: {name}\n      parameters:\n        - name: suffix\n          string: {suffix}\n")
        });
        format!(
            "apiVersion: argoproj.io/v1alpha1
kind: Application
metadata:
  name: {name}
  namespace: argocd
{annotations}spec:
  project: default
  source:
    repoURL: {url}
    targetRevision: {target}
    path: apps/{path}
{plugin}  destination:
    server: https://kubernetes.default.svc
    namespace: bench
",
            name = application_name(index),
            url = self.url(),
            path = application_name(index % self.files.div_ceil(FILES_PER_APPLICATION)),
        )
    }
}

/// What differs between Applications.
#[derive(Clone, Copy, Debug)]
pub(super) struct Application<'a> {
    pub(super) revision: Revision,
    pub(super) extent: Extent,
    /// The plugin, and its parameter `suffix`; plain manifests without it.
    pub(super) plugin: Option<(&'a str, &'a str)>,
}

/// The revision of an Application.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Revision {
    /// The branch, which every command looks up.
    Branch,
    /// The commit, which needs no lookup.
    Commit,
}

/// The paths that an Application declares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Extent {
    /// None.
    Whole,
    /// Its own directory, by `argocd.argoproj.io/manifest-generate-paths`.
    OwnFolder,
}

/// Writes the plugins: `nothing` prints one object, `many` prints [`OBJECTS_OF_MANY`], `shell` prints one with its parameter.
pub(super) fn plugins(folder: &Path) -> Result<PathBuf, Failure> {
    let plugins = folder.join("plugins");
    let plugin = |name: &str, spec: &str| {
        files::write(&plugins.join(name).join("plugin.yaml"), plugin_file(name, spec))
    };
    let many: Vec<String> = (0..OBJECTS_OF_MANY).map(|index| object(&format!("object-{index}"))).collect();
    for (name, printed) in [("nothing", object("small")), ("many", many.join("---\n"))] {
        let file = plugins.join(name).join("printed.yaml");
        files::write(&file, printed)?;
        let announced = "  parameters:\n    static:\n      - name: suffix\n        title: Suffix\n        string: default\n";
        plugin(name, &format!("  generate:\n    command: [cat, {}]\n{announced}", file.display()))?;
    }
    let script =
        "echo \"{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {suffix: '$PARAM_SUFFIX'}}\"";
    let script = serde_json::Value::from(script);
    plugin("shell", &format!("  generate:\n    command: [sh, -c]\n    args: [{script}]\n"))?;
    Ok(plugins)
}

/// The file of a plugin with this content of `spec`.
pub(crate) fn plugin_file(name: &str, spec: &str) -> String {
    format!(
        "apiVersion: argoproj.io/v1alpha1\nkind: ConfigManagementPlugin\nmetadata:\n  name: {name}\nspec:\n{spec}"
    )
}

/// An object of medium size in the output of a plugin.
fn object(name: &str) -> String {
    include_str!("object.yaml").replace("NAME", name)
}

/// Commits all files of a checkout.
pub(super) fn commit(checkout: &Path) -> Result<(), Failure> {
    git(checkout, &["add", "."])?;
    let person = ["-c", "user.name=bench", "-c", "user.email=bench@example.com", "-c", "gc.auto=0"];
    git(checkout, &[&person[..], &["commit", "--quiet", "-m", "all"]].concat()).map(drop)
}

/// Runs git in a directory and returns its output.
fn git(directory: &Path, arguments: &[&str]) -> Result<String, Failure> {
    let mut git = program("git");
    git.args(arguments).current_dir(directory);
    output(git.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1"))
}
