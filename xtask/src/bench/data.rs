//! The rendered data: a repository with one commit, plugins that do almost nothing, and Applications.
//!
//! The structure is that of the figures for Argo CD's own path: 10,000 YAML files (25.7 MB there, 25.5 here) in 500 directories of 20.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use super::content::{FILES_PER_APPLICATION, Words, application_name, file_of};
use super::place::write;
use crate::Failure;
use crate::cargo::program;

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
        let path = folder.join(format!("repository-{files}.git"));
        let place = path.display().to_string();
        git(&["init", "--quiet", "--bare", "--initial-branch", BRANCH, &place], None)?;
        git(&["-C", &place, "fast-import", "--quiet"], Some(&import_of(files)))?;
        // Packed like on a git server, so that reading objects has the same cost.
        git(&["-C", &place, "repack", "-adfq"], None)?;
        let commit = git(&["-C", &place, "rev-parse", BRANCH], None)?.trim().to_owned();
        Ok(Self { files, path, commit })
    }

    /// The URL.
    pub(super) fn url(&self) -> String {
        format!("file://{}", self.path.display())
    }

    /// Clones it with its files.
    pub(super) fn checked_out(&self, to: &Path) -> Result<(), Failure> {
        git(&["clone", "--quiet", &self.url(), &to.display().to_string()], None).map(drop)
    }
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

/// Writes a store of `count` Applications, one file each, and returns its directory.
pub(super) fn store(
    folder: &Path,
    repository: &Repository,
    count: usize,
    plugin: &str,
    (revision, extent): (Revision, Extent),
) -> Result<PathBuf, Failure> {
    let target = match revision {
        Revision::Branch => BRANCH,
        Revision::Commit => &repository.commit,
    };
    let annotations = match extent {
        Extent::Whole => "",
        Extent::OwnFolder => "  annotations:\n    argocd.argoproj.io/manifest-generate-paths: .\n",
    };
    let store = folder.join(format!("store-{}-{count}-{plugin}-{revision:?}-{extent:?}", repository.files));
    let applications = repository.files.div_ceil(FILES_PER_APPLICATION);
    for index in 0..count {
        let text = format!(
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
    plugin:
      name: {plugin}
      parameters:
        - name: suffix
          string: one
  destination:
    server: https://kubernetes.default.svc
    namespace: bench
",
            name = application_name(index),
            url = repository.url(),
            path = application_name(index % applications),
        );
        write(&store.join(format!("{}.yaml", application_name(index))), text.as_bytes())?;
    }
    Ok(store)
}

/// Writes the plugins: `nothing` prints one object, `many` prints [`OBJECTS_OF_MANY`], `shell` prints one with its parameter.
pub(super) fn plugins(folder: &Path) -> Result<PathBuf, Failure> {
    let plugins = folder.join("plugins");
    let mut many = String::new();
    for index in 0..OBJECTS_OF_MANY {
        let separator = if index == 0 { "" } else { "---\n" };
        write!(many, "{separator}{}", object(&format!("object-{index}"))).ok();
    }
    for (name, printed) in [("nothing", object("small")), ("many", many)] {
        let file = plugins.join(name).join("printed.yaml");
        write(&file, printed.as_bytes())?;
        let text = format!(
            "apiVersion: argoproj.io/v1alpha1
kind: ConfigManagementPlugin
metadata:
  name: {name}
spec:
  generate:
    command: [cat, {file}]
  parameters:
    static:
      - name: suffix
        title: Suffix
        string: default
",
            file = file.display()
        );
        write(&plugins.join(name).join("plugin.yaml"), text.as_bytes())?;
    }
    let script =
        "echo \"{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {suffix: '$PARAM_SUFFIX'}}\"";
    let text = format!(
        "apiVersion: argoproj.io/v1alpha1
kind: ConfigManagementPlugin
metadata:
  name: shell
spec:
  generate:
    command: [sh, -c]
    args: [{}]
",
        serde_json::Value::from(script)
    );
    write(&plugins.join("shell/plugin.yaml"), text.as_bytes())?;
    Ok(plugins)
}

/// An object of medium size in the output of a plugin.
fn object(name: &str) -> String {
    let mut text = format!(
        "apiVersion: apps/v1
kind: Deployment
metadata:
  name: {name}
  labels:
    app.kubernetes.io/name: {name}
    app.kubernetes.io/part-of: bench
spec:
  replicas: 2
  selector:
    matchLabels:
      app.kubernetes.io/name: {name}
  template:
    metadata:
      labels:
        app.kubernetes.io/name: {name}
    spec:
      containers:
        - name: main
          image: registry.example.com/team/{name}:1.2.3
          ports:
            - containerPort: 8080
              name: http
          resources:
            requests: {{cpu: 100m, memory: 64Mi}}
            limits: {{memory: 128Mi}}
          env:
"
    );
    for index in 0..8 {
        write!(
            text,
            "            - name: VARIABLE_{index}\n              value: \"value {index} of {name}\"\n"
        )
        .ok();
    }
    text
}

/// The input of `git fast-import` for the commit.
fn import_of(files: usize) -> Vec<u8> {
    let mut words = Words::new(0);
    let mut text =
        format!("commit refs/heads/{BRANCH}\ncommitter bench <bench@example.com> 1700000000 +0000\n");
    text.push_str("data 4\none\n\n");
    for index in 0..files {
        let application = application_name(index / FILES_PER_APPLICATION);
        let content = file_of(&application, index % FILES_PER_APPLICATION, &mut words);
        write!(
            text,
            "M 100644 inline apps/{application}/file-{:02}.yaml\ndata {}\n{content}\n",
            index % FILES_PER_APPLICATION,
            content.len()
        )
        .ok();
    }
    text.into_bytes()
}

/// Runs git and returns its output.
pub(super) fn git(arguments: &[&str], input: Option<&[u8]>) -> Result<String, Failure> {
    let failed = |problem: String| Failure::new(format!("git {}: {problem}", arguments.join(" ")));
    let mut command = program("git");
    command.args(arguments).env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
    command.stdin(if input.is_some() { Stdio::piped() } else { Stdio::null() });
    command.stdout(Stdio::piped());
    let mut child = command.spawn().map_err(|error| failed(error.to_string()))?;
    if let (Some(bytes), Some(mut pipe)) = (input, child.stdin.take()) {
        pipe.write_all(bytes).map_err(|error| failed(error.to_string()))?;
    }
    let output = child.wait_with_output().map_err(|error| failed(error.to_string()))?;
    if output.status.success() {
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    } else {
        Err(failed(output.status.to_string()))
    }
}
