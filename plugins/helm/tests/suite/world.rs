//! A repository on disk, a request, and the program: shared by both suites of whole runs. Each suite has a `world.rs` of its own.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};
use tiphys_testkit::tools;

/// A tested version of helm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Helm {
    /// The pinned Helm 4.
    Four,
    /// The pinned Helm 3.
    Three,
}

impl Helm {
    pub(crate) const ALL: [Self; 2] = [Self::Four, Self::Three];

    pub(crate) fn program(self) -> PathBuf {
        match self {
            Self::Four => tools::program("helm"),
            Self::Three => tools::program("helm3"),
        }
    }
}

/// A repository and a request.
pub(crate) struct World {
    folder: tempfile::TempDir,
    path: String,
    parameters: Vec<Value>,
    variables: BTreeMap<String, String>,
}

/// The result of a run.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl World {
    /// An empty repository, and an application `my-app` at a path.
    pub(crate) fn new(path: &str) -> Self {
        let folder = tempfile::tempdir().expect("a temporary directory");
        for inside in [PathBuf::from("tmp"), Path::new("repository").join(path.trim_start_matches('/'))] {
            fs::create_dir_all(folder.path().join(inside)).expect("directory created");
        }
        let variables = [
            ("ARGOCD_APP_NAME", "my-app"),
            ("ARGOCD_APP_NAMESPACE", "my-ns"),
            ("ARGOCD_APP_PROJECT_NAME", "default"),
            ("ARGOCD_APP_SOURCE_PATH", path),
            ("KUBE_VERSION", "1.34.2"),
            ("KUBE_API_VERSIONS", "v1,apps/v1,apps/v1/Deployment"),
        ];
        let variables = variables.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
        Self { folder, path: path.to_owned(), parameters: Vec::new(), variables }
    }

    /// Adds a file to the repository.
    pub(crate) fn file(self, path: &str, content: &(impl AsRef<[u8]> + ?Sized)) -> Self {
        let file = self.root().join(path);
        fs::create_dir_all(file.parent().expect("the file has a parent")).expect("directory created");
        fs::write(file, content).expect("file written");
        self
    }

    /// Adds a parameter with a string.
    pub(crate) fn text(self, name: &str, value: &str) -> Self {
        self.parameter(json!({ "name": name, "string": value }))
    }

    /// Adds a parameter with a list.
    pub(crate) fn array(self, name: &str, items: &[&str]) -> Self {
        self.parameter(json!({ "name": name, "array": items }))
    }

    /// Adds a parameter as JSON.
    pub(crate) fn parameter(mut self, parameter: Value) -> Self {
        self.parameters.push(parameter);
        self
    }

    /// Sets an environment variable.
    pub(crate) fn variable(mut self, name: &str, value: &str) -> Self {
        self.variables.insert(name.to_owned(), value.to_owned());
        self
    }

    /// Leaves all charts to the `helm` program.
    pub(crate) fn by_program(self) -> Self {
        self.variable("TIPHYS_HELM_ENGINE", "program")
    }

    /// The directory that contains everything.
    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// The root of the repository.
    pub(crate) fn root(&self) -> PathBuf {
        self.folder.path().join("repository")
    }

    /// The directory of temporary files.
    pub(crate) fn temporary(&self) -> PathBuf {
        self.folder.path().join("tmp")
    }

    /// The command, not started yet.
    #[expect(clippy::disallowed_methods, reason = "the program is tested as users run it")]
    pub(crate) fn command(&self, helm: Helm, argument: &str) -> Command {
        let (parameters, text) =
            (self.folder.path().join("parameters.json"), Value::from(self.parameters.clone()).to_string());
        // A running plugin may be reading it.
        if fs::read_to_string(&parameters).ok().as_deref() != Some(text.as_str()) {
            fs::write(&parameters, text).expect("file written");
        }
        let mut command = Command::new(env!("CARGO_BIN_EXE_tiphys-helm"));
        command
            .arg(argument)
            .current_dir(self.root().join(self.path.trim_start_matches('/')))
            .env_clear()
            .env("PATH", tools::search_path())
            .env("TMPDIR", self.temporary())
            .env("TIPHYS_HELM", helm.program())
            // A notice about a slow machine is not part of the answer.
            .env("TIPHYS_HELM_SLOW_AFTER", "0")
            .env("ARGOCD_APP_PARAMETERS_FILE", parameters)
            .envs(&self.variables)
            .stdin(Stdio::null());
        command
    }

    /// Runs a command.
    pub(crate) fn run(&self, helm: Helm, argument: &str) -> Answer {
        self.answer(self.command(helm, argument))
    }

    /// Runs a prepared command, which must leave nothing behind.
    pub(crate) fn answer(&self, mut command: Command) -> Answer {
        let output = command.output().expect("the program starts");
        let answer = Answer::of(output, &self.root());
        assert_eq!(self.left(), [""; 0], "nothing is left behind");
        answer
    }

    /// Remains of runs in the directory of temporary files, without shared files.
    pub(crate) fn left(&self) -> Vec<String> {
        let mut names = Vec::new();
        let mut waiting = vec![self.temporary()];
        while let Some(folder) = waiting.pop() {
            for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
                let name = entry.file_name().to_string_lossy().into_owned();
                if name.starts_with("tiphys-helm-") {
                    waiting.push(entry.path());
                } else if name != "gate" && name != "versions" {
                    names.push(name);
                }
            }
        }
        names
    }
}

impl Answer {
    pub(crate) fn of(output: Output, root: &Path) -> Self {
        let stdout = String::from_utf8(output.stdout).expect("the output is UTF-8");
        let stderr = String::from_utf8_lossy(&output.stderr).trim_end().to_owned();
        let machine = root.parent().expect("the root has a parent").to_str().expect("a UTF-8 path");
        assert!(!stderr.contains(machine), "no path of the machine is shown: {stderr}");
        Self { code: output.status.code(), stdout, stderr }
    }
}
