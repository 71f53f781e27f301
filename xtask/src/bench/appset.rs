//! `cargo xtask bench appset`: measures generating the Applications of `ApplicationSets`.

mod templates;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Value, json};
use tiphys_testkit::canned_server::{Canned, CannedServer, Pace};

use super::data;
use super::figures::{MS, Sheet, Target};
use super::sample::{Sample, Starter, User};
use super::{Case, CommonOptions, case};
use crate::cargo::{cargo, output};
use crate::{Failure, files};

/// Sets of each generator of the matrix, and expressions of its template besides the patch.
const MATRIX_SIDE: usize = 100;
const EXPRESSIONS: usize = 20;

/// Files of the repository.
const FILES: usize = 5_000;

/// Sets of the first generator of the matrix with a plugin, and the time of an answer.
const QUESTIONS: usize = 500;
const ANSWER_TIME: Duration = Duration::from_millis(50);

const CASES: [Case<Bench>; 4] = [
    case("matrix", "a matrix of 100 × 100 sets, 20 expressions and a templatePatch", matrix),
    case("git", "the git generator over 5,000 files of a fetched commit", git),
    case("plugin", "a plugin service asked for each of 500 sets, 50 ms per answer", plugin),
    case("templates", "recorded Go templates, parsed and executed, beside Go", templates::templates),
];

/// The program, and the workspace.
struct Bench {
    root: PathBuf,
    starter: Starter,
}

/// Measures the requested cases and prints a table.
pub(super) fn run(root: &Path, options: &CommonOptions) -> Result<(), Failure> {
    options.check(&CASES)?;
    let starter = Starter::new(&options.program(root, "tiphys")?, "tiphys", options.runs())?;
    options.measure(&CASES, [Bench { root: root.to_path_buf(), starter }])
}

impl Bench {
    /// Writes a store with a set and other documents.
    fn store(
        &self,
        name: &str,
        generators: &Value,
        template: &Value,
        others: &str,
    ) -> Result<PathBuf, Failure> {
        let store = self.starter.folder().join(name);
        let mut spec =
            json!({"goTemplate": true, "goTemplateOptions": ["missingkey=error"], "generators": generators});
        if let (Some(spec), Some(template)) = (spec.as_object_mut(), template.as_object()) {
            spec.extend(template.clone());
        }
        let set = json!({
            "apiVersion": "argoproj.io/v1alpha1",
            "kind": "ApplicationSet",
            "metadata": {"name": name, "namespace": "argocd"},
            "spec": spec,
        });
        files::write(&store.join("all.yaml"), format!("{set}\n{others}"))?;
        Ok(store)
    }

    fn cache(&self) -> PathBuf {
        self.starter.folder().join("cache")
    }

    /// Measures `appset generate` of a store as often as requested.
    fn generate(&self, store: &Path, options: &[&str]) -> Result<Vec<Sample>, Failure> {
        let mut line: Vec<OsString> =
            vec![self.starter.program.clone().into(), "appset".into(), "generate".into()];
        line.extend(["--store".into(), store.into(), "--cache-dir".into(), self.cache().into()]);
        line.extend(options.iter().map(OsString::from));
        self.starter.repeated(|_| self.starter.sample(&line, User::Own))
    }

    /// Runs a bench of a crate, and returns the JSON that it prints.
    fn cargo_bench<T: serde::de::DeserializeOwned>(
        &self,
        [package, bench]: [&str; 2],
        arguments: &[String],
    ) -> Result<T, Failure> {
        let line = ["bench", "--quiet", "--package", package, "--bench", bench, "--"];
        parsed(&output(cargo(&self.root, &line).args(arguments))?)
    }
}

/// Reads the output of a program as JSON.
fn parsed<T: serde::de::DeserializeOwned>(json: &str) -> Result<T, Failure> {
    serde_json::from_str(json).map_err(|error| Failure::new(format!("{error}: {json}")))
}

/// A template with these metadata and parameters of helm.
fn template(name: &str, helm: &Value) -> Value {
    json!({"template": {
        "metadata": {"name": name},
        "spec": {
            "project": "default",
            "source": {"repoURL": "https://git.example.org/team/apps.git", "path": "plain", "helm": helm},
            "destination": {"server": "https://kubernetes.default.svc", "namespace": "bench"},
        },
    }})
}

fn matrix(bench: &Bench, sheet: &mut Sheet<'_>) -> Result<(), Failure> {
    let elements = |key: &str| -> Vec<Value> {
        let element = |index| {
            let labels = json!({"region": format!("eu-{index}"), "tier": "gold"});
            json!({key: {"name": format!("{key}-{index}"), "address": format!("https://{key}-{index}.example.org"), "labels": labels}})
        };
        (0..MATRIX_SIDE).map(element).collect()
    };
    let lists: Vec<Value> =
        ["team", "cluster"].map(|key| json!({"list": {"elements": elements(key)}})).into();
    // Two expressions are those of the name.
    let expressions = [
        "{{ .cluster.address }}",
        "{{ .team.labels.region | upper | quote }}",
        "{{ if eq .team.labels.tier \"gold\" }}3{{ else }}1{{ end }}",
        "{{ index .cluster.labels \"region\" | replace \"-\" \".\" }}",
        "{{ printf \"%s.%s\" .team.name .cluster.name | trunc 63 }}",
        "{{ .team.missing | default \"none\" | b64enc }}",
    ];
    let parameters: Vec<Value> = (0..EXPRESSIONS - 2)
        .map(|index| json!({"name": format!("p{index}"), "value": expressions[index % expressions.len()]}))
        .collect();
    let mut template = template("{{ .team.name }}-{{ .cluster.name }}", &json!({"parameters": parameters}));
    template["goTemplateOptions"] = json!(["missingkey=default"]);
    template["templatePatch"] = json!(
        "metadata:\n  labels:\n    region: {{ .cluster.labels.region }}\nspec:\n  syncPolicy:\n    automated:\n      prune: \
         {{ eq .team.labels.tier \"gold\" }}\n"
    );
    let store = bench.store("matrix", &json!([{"matrix": {"generators": lists}}]), &template, "")?;
    let samples = bench.generate(&store, &[])?;
    sheet.processes("10,000 Applications, whole process", &samples, Some(Target::AtMost(1_000.0)));
    sheet.peak("the same, peak memory", &samples, Some(Target::AtMost(200.0)));
    Ok(())
}

fn git(bench: &Bench, sheet: &mut Sheet<'_>) -> Result<(), Failure> {
    let content = |index: usize| {
        format!(
            "team:\n  name: team-{index}\n  owner: owner-{index}@example.org\ncluster:\n  address: https://cluster-{index}.example.org\n  \
             labels:\n    region: eu-{index}\n    tier: gold\nreplicas: {index}\nhosts:\n  - a.example.org\n  - b.example.org\n"
        )
    };
    let files = (0..FILES).map(|index| (format!("teams/team-{index:04}/config.yaml"), content(index)));
    let repository = data::Repository::of_files(bench.starter.folder(), files)?;
    let git = json!({
        "repoURL": repository.url(),
        "revision": repository.commit,
        "files": [{"path": "teams/*/config.yaml"}],
    });
    let values = json!({"valuesObject": {"owner": "{{ .team.owner }}", "address": "{{ .cluster.address }}"}});
    let store = bench.store("git", &json!([{"git": git}]), &template("{{ .path.basename }}", &values), "")?;
    let samples = bench.generate(&store, &[])?;
    sheet.processes(
        "5,000 files of a fetched commit, whole process",
        &samples,
        Some(Target::AtMost(1_000.0)),
    );
    sheet.peak("the same, peak memory", &samples, None);
    let arguments = [store, bench.cache(), (samples.len() + 1).to_string().into()];
    let arguments = arguments.map(|argument| argument.display().to_string());
    let seconds: Vec<f64> = bench.cargo_bench(["tiphys-service", "sets"], &arguments)?;
    for seconds in seconds.into_iter().skip(1) {
        let figure = sheet.record("again in one process", MS, seconds * 1_000.0);
        figure.target = Some(Target::AtMost(100.0));
    }
    Ok(())
}

fn plugin(bench: &Bench, sheet: &mut Sheet<'_>) -> Result<(), Failure> {
    let server = CannedServer::start(None, |_| {
        let body = json!({"output": {"parameters": [{"replicas": "3"}]}});
        Canned::new(200, body.to_string()).at(Pace::Late(ANSWER_TIME))
    });
    let others = format!(
        "---\n{{apiVersion: v1, kind: ConfigMap, metadata: {{name: service, namespace: argocd}}, data: {{baseUrl: '{}', token: $key}}}}\n---\n\
         {{apiVersion: v1, kind: Secret, metadata: {{name: argocd-secret, namespace: argocd}}, stringData: {{key: any}}}}\n",
        server.url()
    );
    let elements: Vec<Value> = (0..QUESTIONS).map(|index| json!({"name": format!("team-{index}")})).collect();
    let plugin =
        json!({"configMapRef": {"name": "service"}, "input": {"parameters": {"name": "{{ .name }}"}}});
    let generators =
        json!([{"matrix": {"generators": [{"list": {"elements": elements}}, {"plugin": plugin}]}}]);
    let helm = json!({"parameters": [{"name": "replicas", "value": "{{ .replicas }}"}]});
    let store = bench.store("plugin", &generators, &template("{{ .name }}", &helm), &others)?;
    let together = bench.generate(&store, &[])?;
    let together = sheet.processes("500 answers of 50 ms, whole process", &together, None);
    let single = bench.generate(&store, &["--plugin-jobs=1"])?;
    for sample in single {
        let ratio = sample.wall_seconds * 1_000.0 / together;
        sheet.record("one by one (--plugin-jobs 1), times as long", "", ratio).target =
            Some(Target::AtLeast(10.0));
    }
    Ok(())
}
