//! A repository on disk, a request, and the program itself with a real helm.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};
use tiphys_testkit::tools;

/// A chart that shows what its templates see.
const PROBE: &[(&str, &str)] = &[
    ("Chart.yaml", "apiVersion: v2\nname: probe\nversion: 0.1.0\n"),
    ("values.yaml", "from: chart\nlist: [a, b, c]\n"),
    (
        "templates/seen.yaml",
        "apiVersion: v1
kind: ConfigMap
metadata:
  name: seen
data:
  values: {{ toJson .Values | quote }}
  types: \"{{ range $k, $v := .Values }}{{ $k }}={{ kindOf $v }} {{ end }}\"
  release: {{ toJson .Release | quote }}
  kube: {{ .Capabilities.KubeVersion.Version | quote }}
  deployments: {{ .Capabilities.APIVersions.Has \"apps/v1/Deployment\" | quote }}
  a: {{ .Capabilities.APIVersions.Has \"a/v1\" | quote }}
  found: {{ lookup \"v1\" \"Namespace\" \"\" \"default\" | toJson | quote }}
",
    ),
];

/// The folder of the probe chart in its repository.
pub(crate) const PROBE_PATH: &str = "charts/probe";

/// A version of helm that tests run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Helm {
    /// The pinned helm 4.
    Four,
    /// The pinned helm 3.
    Three,
}

impl Helm {
    /// Both.
    pub(crate) const ALL: [Self; 2] = [Self::Four, Self::Three];

    pub(crate) fn program(self) -> PathBuf {
        match self {
            Self::Four => tools::program("helm"),
            Self::Three => tools::program("helm3"),
        }
    }
}

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
    /// A repository without files and an application called `my-app`.
    pub(crate) fn new(path: &str) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        fs::create_dir(folder.path().join("tmp")).expect("the file can be written");
        fs::create_dir_all(folder.path().join("repository").join(path)).expect("the file can be written");
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

    /// The probe chart.
    pub(crate) fn probe() -> Self {
        PROBE.iter().fold(Self::new(PROBE_PATH), |world, (file, text)| {
            world.file(&format!("{PROBE_PATH}/{file}"), text)
        })
    }

    /// A chart of one template.
    pub(crate) fn chart(template: &str) -> Self {
        Self::new("chart")
            .file("chart/Chart.yaml", "apiVersion: v2\nname: chart\nversion: 0.1.0\n")
            .file("chart/templates/t.yaml", template)
    }

    /// A file of the repository.
    pub(crate) fn file(self, path: &str, text: &str) -> Self {
        let file = self.root().join(path);
        fs::create_dir_all(file.parent().expect("it is in a folder")).expect("the file can be written");
        fs::write(file, text).expect("the file can be written");
        self
    }

    /// A link of the repository.
    pub(crate) fn link(self, path: &str, target: &str) -> Self {
        symlink(target, self.root().join(path)).expect("the file can be written");
        self
    }

    /// A parameter with a text.
    pub(crate) fn text(mut self, name: &str, value: &str) -> Self {
        self.parameters.push(json!({ "name": name, "string": value }));
        self
    }

    /// A parameter with a list.
    pub(crate) fn array(mut self, name: &str, items: &[&str]) -> Self {
        self.parameters.push(json!({ "name": name, "array": items }));
        self
    }

    /// A variable of the environment.
    pub(crate) fn variable(mut self, name: &str, value: &str) -> Self {
        self.variables.insert(name.to_owned(), value.to_owned());
        self
    }

    /// The root of the repository.
    pub(crate) fn root(&self) -> PathBuf {
        self.folder.path().join("repository")
    }

    /// The folder for temporary files.
    pub(crate) fn temporary(&self) -> PathBuf {
        self.folder.path().join("tmp")
    }

    /// The command, ready to be started.
    #[expect(clippy::disallowed_methods, reason = "the program is tested as it is run")]
    pub(crate) fn command(&self, helm: Helm, argument: &str) -> Command {
        let (parameters, text) =
            (self.folder.path().join("parameters.json"), Value::from(self.parameters.clone()).to_string());
        // One that runs at this moment may be reading it.
        if fs::read_to_string(&parameters).ok().as_deref() != Some(text.as_str()) {
            fs::write(&parameters, text).expect("the file can be written");
        }
        let mut command = Command::new(env!("CARGO_BIN_EXE_tiphys-helm"));
        command
            .arg(argument)
            .current_dir(self.root().join(&self.path))
            .env_clear()
            .env("PATH", tools::search_path())
            .env("TMPDIR", self.temporary())
            .env("TIPHYS_HELM", helm.program())
            .env("ARGOCD_APP_PARAMETERS_FILE", parameters)
            .envs(&self.variables)
            .stdin(Stdio::null());
        command
    }

    /// Runs `generate`.
    pub(crate) fn generate(&self, helm: Helm) -> Answer {
        self.run(helm, "generate")
    }

    /// Runs a command.
    pub(crate) fn run(&self, helm: Helm, argument: &str) -> Answer {
        let output = self.command(helm, argument).output().expect("the program starts");
        let answer = Answer::of(output, &self.root());
        assert_eq!(self.left(), [""; 0], "nothing is left behind");
        answer
    }

    /// What the probe shows under a name.
    pub(crate) fn seen(&self, helm: Helm, name: &str) -> String {
        let answer = self.generate(helm);
        let data = answer.objects().into_iter().find(|object| object["metadata"]["name"] == "seen");
        let data = data.unwrap_or_else(|| panic!("{answer:?}"));
        data["data"][name].as_str().unwrap_or_else(|| panic!("{name} in {data}")).to_owned()
    }

    /// The values that the probe shows.
    pub(crate) fn values(&self, helm: Helm) -> Value {
        serde_json::from_str(&self.seen(helm, "values")).expect("values are JSON")
    }

    /// Numbers of the processes that work in the repository, in their copies of it or in their homes: plugins and what they have started.
    pub(crate) fn processes(&self) -> Vec<u32> {
        let folder = self.folder.path().canonicalize().expect("the folder is there");
        let is_here = |number: &u32| {
            let place = fs::read_link(format!("/proc/{number}/cwd"));
            place.is_ok_and(|place| place.starts_with(&folder))
        };
        let entries = fs::read_dir("/proc").expect("processes can be listed").flatten();
        let numbers = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        numbers.filter(is_here).collect()
    }

    /// The folders of runs that are there at this moment.
    pub(crate) fn homes(&self) -> Vec<PathBuf> {
        let below =
            |folder: PathBuf| fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
        below(self.temporary()).flat_map(below).filter(|path| path.is_dir()).collect()
    }

    /// What runs have left in the folder for temporary files, without what they share.
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
        let stdout = String::from_utf8(output.stdout).expect("the output is text");
        let stderr = String::from_utf8_lossy(&output.stderr).trim_end().to_owned();
        let machine = root.parent().expect("it is in a folder").to_str().expect("a path of text");
        assert!(!stderr.contains(machine), "no path of the machine is shown: {stderr}");
        Self { code: output.status.code(), stdout, stderr }
    }

    /// The objects that were printed.
    pub(crate) fn objects(&self) -> Vec<Value> {
        assert_eq!((self.code, self.stderr.as_str()), (Some(0), ""));
        let documents = tiphys_yaml::read_documents(self.stdout.as_bytes()).expect("the output is YAML");
        documents.iter().map(tiphys_yaml::Node::to_value).collect()
    }

    /// `kind/name` of what was printed, in order.
    pub(crate) fn names(&self) -> Vec<String> {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let name =
            |object: &Value| format!("{}/{}", text(&object["kind"]), text(&object["metadata"]["name"]));
        self.objects().iter().map(name).collect()
    }

    /// The text of a failure.
    pub(crate) fn error(&self) -> &str {
        assert_eq!((self.code, self.stdout.as_str()), (Some(1), ""), "{}", self.stderr);
        &self.stderr
    }
}
