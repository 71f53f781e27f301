//! A repository on disk, and the program asked for announcements.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};
use tiphys_params::{Announcement, ItemType, decode_dynamic_output};
use tiphys_testkit::{tools, workspace_root};

/// The folder of the chart in its repository.
pub(crate) const CHART: &str = "charts/web";

/// A repository and what is asked of the plugin.
pub(crate) struct World {
    folder: tempfile::TempDir,
    path: String,
    parameters: Vec<Value>,
    variables: BTreeMap<String, String>,
}

/// What the plugin answered.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl World {
    /// A repository without files and an application called `my-app` at a path.
    pub(crate) fn at(path: &str) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        for inside in [PathBuf::from("tmp"), Path::new("repository").join(path.trim_start_matches('/'))] {
            fs::create_dir_all(folder.path().join(inside)).expect("a folder can be made");
        }
        let variables = [("ARGOCD_APP_NAME", "my-app"), ("ARGOCD_APP_SOURCE_PATH", path)];
        let variables = variables.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
        Self { folder, path: path.to_owned(), parameters: Vec::new(), variables }
    }

    /// A repository with a chart that has these values.
    pub(crate) fn chart(values: &str) -> Self {
        Self::at(CHART)
            .file(&format!("{CHART}/Chart.yaml"), "apiVersion: v2\nname: web\nversion: 0.1.0\n")
            .file(&format!("{CHART}/values.yaml"), values)
    }

    /// A file of the repository.
    pub(crate) fn file(self, path: &str, content: impl AsRef<[u8]>) -> Self {
        let file = self.root().join(path);
        fs::create_dir_all(file.parent().expect("it is in a folder")).expect("a folder can be made");
        fs::write(file, content).expect("the file can be written");
        self
    }

    /// A file of the chart.
    pub(crate) fn chart_file(self, path: &str, content: impl AsRef<[u8]>) -> Self {
        self.file(&format!("{CHART}/{path}"), content)
    }

    /// A parameter with a text.
    pub(crate) fn text(self, name: &str, value: &str) -> Self {
        self.parameter(json!({ "name": name, "string": value }))
    }

    /// A parameter with a list.
    pub(crate) fn array(self, name: &str, items: &[&str]) -> Self {
        self.parameter(json!({ "name": name, "array": items }))
    }

    /// A parameter as JSON.
    pub(crate) fn parameter(mut self, parameter: Value) -> Self {
        self.parameters.push(parameter);
        self
    }

    /// A variable of the environment.
    pub(crate) fn variable(mut self, name: &str, value: &str) -> Self {
        self.variables.insert(name.to_owned(), value.to_owned());
        self
    }

    /// The folder that everything is in.
    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// The root of the repository.
    pub(crate) fn root(&self) -> PathBuf {
        self.folder.path().join("repository")
    }

    /// Runs a command of the program with a helm of `cargo xtask tools`, for commands that need one.
    #[expect(clippy::disallowed_methods, reason = "the program is tested as it is run")]
    pub(crate) fn run(&self, command: &str, helm: &str) -> Answer {
        let parameters = self.folder.path().join("parameters.json");
        fs::write(&parameters, Value::from(self.parameters.clone()).to_string())
            .expect("a file can be written");
        let output = Command::new(env!("CARGO_BIN_EXE_tiphys-helm"))
            .arg(command)
            .current_dir(self.root().join(self.path.trim_start_matches('/')))
            .env_clear()
            .env("PATH", tools::search_path())
            .env("TMPDIR", self.folder.path().join("tmp"))
            .env("TIPHYS_HELM", workspace_root().join("target/tools/bin").join(helm))
            .env("ARGOCD_APP_PARAMETERS_FILE", parameters)
            .envs(&self.variables)
            .stdin(Stdio::null())
            .output()
            .expect("the program starts");
        let stderr = String::from_utf8_lossy(&output.stderr).trim_end().to_owned();
        let stdout = String::from_utf8(output.stdout).expect("the output is text");
        Answer { code: output.status.code(), stdout, stderr }
    }

    /// Asks for announcements. No helm is at hand, since none may run.
    pub(crate) fn announce(&self) -> Answer {
        self.run("announce", "no-such-helm")
    }

    /// The announcements.
    pub(crate) fn announced(&self) -> Vec<Announcement> {
        let answer = self.announce();
        assert_eq!((answer.code, answer.stderr.as_str()), (Some(0), ""));
        let read =
            decode_dynamic_output(answer.stdout.as_bytes()).expect("the output is a list of announcements");
        assert!(read.warnings.is_empty(), "{:?}", read.warnings);
        read.list
    }

    /// The announced values, each as `title (type) default`, in order. Of a text the type is left out, and so is a default that is none.
    pub(crate) fn lines(&self) -> Vec<String> {
        self.values().iter().map(line).collect()
    }

    /// The announcements of single values.
    pub(crate) fn values(&self) -> Vec<Announcement> {
        let is_value = |one: &Announcement| one.name.starts_with("set.");
        self.announced().into_iter().filter(is_value).collect()
    }

    /// The one of this title.
    pub(crate) fn value(&self, title: &str) -> Announcement {
        let found = self.values().into_iter().find(|one| one.title.as_deref() == Some(title));
        found.unwrap_or_else(|| panic!("{title} is announced"))
    }

    /// The text of a failure.
    pub(crate) fn error(&self) -> String {
        self.failure(1)
    }

    /// The text of a failure because of a bound: another program may take the chart.
    pub(crate) fn bound_error(&self) -> String {
        self.failure(3)
    }

    fn failure(&self, code: i32) -> String {
        let answer = self.announce();
        assert_eq!((answer.code, answer.stdout.as_str()), (Some(code), ""), "{}", answer.stderr);
        let machine = self.folder.path().to_str().expect("a path of text");
        assert!(!answer.stderr.contains(machine), "no path of the machine is shown: {}", answer.stderr);
        answer.stderr
    }
}

fn line(one: &Announcement) -> String {
    let mut line = one.title.clone().unwrap_or_default();
    match &one.item_type {
        None => line.push_str(" (any)"),
        Some(ItemType::String(_)) => {}
        Some(item_type) => line.extend([" (", item_type.word(), ")"]),
    }
    if one.required == Some(true) {
        line.push_str(" required");
    }
    if let Some(text) = &one.string {
        line.extend([" ", text]);
    }
    line
}
