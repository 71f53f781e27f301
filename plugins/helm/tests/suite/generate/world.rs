//! A chart, and its output with both versions of helm.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;

use serde_json::Value;

pub(crate) use crate::world::{Answer, Helm, World};

/// A chart that prints what its templates see.
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

/// The directory of the probe chart in its repository.
pub(crate) const PROBE_PATH: &str = "charts/probe";

impl World {
    /// The probe chart.
    pub(crate) fn probe() -> Self {
        PROBE.iter().fold(Self::new(PROBE_PATH), |world, (file, text)| {
            world.file(&format!("{PROBE_PATH}/{file}"), text)
        })
    }

    /// A chart with a single template.
    pub(crate) fn chart(template: &str) -> Self {
        Self::new("chart")
            .file("chart/Chart.yaml", "apiVersion: v2\nname: chart\nversion: 0.1.0\n")
            .file("chart/templates/t.yaml", template)
    }

    /// Adds a link to the repository.
    pub(crate) fn link(self, path: &str, target: &str) -> Self {
        symlink(target, self.root().join(path)).expect("the link is created");
        self
    }

    /// Runs `generate`.
    pub(crate) fn generate(&self, helm: Helm) -> Answer {
        self.run(helm, "generate")
    }

    /// Everything that the probe prints, in one run.
    pub(crate) fn seen_all(&self, helm: Helm) -> Value {
        let answer = self.generate(helm);
        let data = answer.objects().into_iter().find(|object| object["metadata"]["name"] == "seen");
        data.unwrap_or_else(|| panic!("{answer:?}"))["data"].take()
    }

    /// One field of the probe's output.
    pub(crate) fn seen(&self, helm: Helm, name: &str) -> String {
        let data = self.seen_all(helm);
        data[name].as_str().unwrap_or_else(|| panic!("{name} in {data}")).to_owned()
    }

    /// The values that the probe prints.
    pub(crate) fn values(&self, helm: Helm) -> Value {
        shown_values(&self.seen_all(helm))
    }

    /// Process ids with the working directory in the repository, a copy or a home: plugins and their children.
    pub(crate) fn processes(&self) -> Vec<u32> {
        let folder = self.folder().canonicalize().expect("the directory exists");
        let is_here = |number: &u32| {
            let place = fs::read_link(format!("/proc/{number}/cwd"));
            place.is_ok_and(|place| place.starts_with(&folder))
        };
        let entries = fs::read_dir("/proc").expect("processes are listed").flatten();
        let numbers = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        numbers.filter(is_here).collect()
    }

    /// The existing homes.
    pub(crate) fn homes(&self) -> Vec<PathBuf> {
        let below =
            |folder: PathBuf| fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
        below(self.temporary()).flat_map(below).filter(|path| path.is_dir()).collect()
    }
}

/// The values in the probe's output.
pub(crate) fn shown_values(seen: &Value) -> Value {
    serde_json::from_str(seen["values"].as_str().expect("a string")).expect("values are JSON")
}

impl Answer {
    /// The printed objects.
    pub(crate) fn objects(&self) -> Vec<Value> {
        assert_eq!((self.code, self.stderr.as_str()), (Some(0), ""));
        let documents = tiphys_yaml::read_documents(self.stdout.as_bytes()).expect("the output is YAML");
        documents.iter().map(tiphys_yaml::Node::to_value).collect()
    }

    /// `kind/name` of the printed objects, in order.
    pub(crate) fn names(&self) -> Vec<String> {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let name =
            |object: &Value| format!("{}/{}", text(&object["kind"]), text(&object["metadata"]["name"]));
        self.objects().iter().map(name).collect()
    }

    /// The message of a failure in Argo CD's words. The cause is before it.
    pub(crate) fn error(&self) -> &str {
        self.error_with(1)
    }

    /// The message of a failure because a program does not exist.
    pub(crate) fn missing_program(&self) -> &str {
        self.error_with(127)
    }

    /// The message of a difference between the engines.
    pub(crate) fn difference(&self) -> &str {
        self.error_with(4)
    }

    /// The message about a chart that only the program can render.
    pub(crate) fn only_helm(&self) -> &str {
        self.error_with(5)
    }

    fn error_with(&self, code: i32) -> &str {
        assert_eq!((self.code, self.stdout.as_str()), (Some(code), ""), "{}", self.stderr);
        self.stderr.split_once("\n\ndetails:\n").map_or(&self.stderr, |(_, details)| details)
    }
}
