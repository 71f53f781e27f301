//! `cargo xtask bench dynamic`: measures values from clusters, and comparisons with clusters, against a real API server.

mod watch;

use std::fmt::Write as _;
use std::path::PathBuf;

use serde_json::json;
use tiphys_testkit::kube_server::{KubeServer, RECORDED_TOKEN};

use super::data::plugin_file;
use super::figures::{Sheet, Target, float};
use super::sample::{Sample, Starter, User};
use super::{Case, CommonOptions, case};
use crate::tools::{self, Purpose};
use crate::{Failure, files};

/// Applications whose values are resolved, each with as many references.
const APPLICATIONS: usize = 1_000;
const REFERENCES: usize = 5;

/// Objects to which these applications refer.
const OBJECTS: usize = 2_000;

/// Applications that are compared with live objects, each with as many objects.
const COMPARED_APPLICATIONS: usize = 100;
const COMPARED_OBJECTS: usize = 10;

/// Objects of a folder, of 1 kB each.
const FOLDER_OBJECTS: usize = 10_000;

/// Objects in one file of the folder.
const FILE_OBJECTS: usize = 100;

const URL: &str = "https://git.example.org/team/apps.git";

/// The namespace of all objects.
const NAMESPACE: &str = "bench";

const CASES: [Case<Bench>; 4] = [
    case("resolve", "1,000 applications with 5 references each to 2,000 objects", resolve),
    case("watch", "`render --watch` of these applications and objects", watch::watch),
    case("folder", "one comparison with a folder of 10,000 objects", folder),
    case("live-diff", "a comparison of 100 applications with a cluster", live_diff),
];

/// The program, and a running API server.
struct Bench {
    starter: Starter,
    server: KubeServer,
}

/// Measures the requested cases and prints a table.
pub(super) fn run(root: &std::path::Path, options: &CommonOptions) -> Result<(), Failure> {
    options.check(&CASES)?;
    tools::run(root, &tools::Options::only(Purpose::Kubernetes))?;
    let starter = Starter::new(&options.program(root, "tiphys")?, "tiphys", options.runs())?;
    let server = KubeServer::start();
    server.create("/api/v1/namespaces", &json!({"metadata": {"name": NAMESPACE}}));
    files::write(&starter.folder().join("config"), server.kubeconfig(RECORDED_TOKEN))?;
    let script = plugin_file(
        "nothing",
        "  generate:\n    command: [echo, '{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}']\n",
    );
    files::write(&starter.folder().join("plugins/nothing/plugin.yaml"), script)?;
    options.measure(&CASES, [Bench { starter, server }])
}

impl Bench {
    /// Writes a store with Applications of a project that permits everything, and returns the first arguments of commands.
    fn store(&self, name: &str, applications: &str) -> Result<Vec<String>, Failure> {
        let project = "apiVersion: argoproj.io/v1alpha1\nkind: AppProject\nmetadata: {name: default, namespace: argocd}\nspec:\n  \
                       sourceRepos: ['*']\n  destinations: [{server: '*', namespace: '*'}]\n  \
                       clusterResourceWhitelist: [{group: '*', kind: '*'}]\n  \
                       namespaceReadOnlyAllowlist: [{kind: ConfigMap, namespace: '*'}]\n";
        let folder = self.starter.folder();
        files::write(&folder.join(name).join("store/all.yaml"), format!("{project}---\n{applications}"))?;
        let shown = |path: PathBuf| path.display().to_string();
        Ok(vec![
            format!("--store={}", shown(folder.join(name).join("store"))),
            format!("--repo={URL}={}", shown(folder.join(name).join("repo"))),
            format!("--plugins={}", shown(folder.join("plugins"))),
            format!("--cache-dir={}", shown(folder.join(name).join("cache"))),
        ])
    }

    fn live(&self) -> String {
        format!("--kubeconfig={}", self.starter.folder().join("config").display())
    }

    /// Measures a command as often as requested, with the number of its requests.
    fn sample(&self, line: &[&[String]]) -> Result<Vec<(Sample, u64)>, Failure> {
        let program = self.starter.program.clone().into_os_string();
        let line: Vec<_> = [program].into_iter().chain(line.concat().into_iter().map(Into::into)).collect();
        self.starter.repeated(|_| {
            let before = self.server.recorded().len();
            let sample = self.starter.sample(&line, User::Own)?;
            Ok((sample, (self.server.recorded().len() - before) as u64))
        })
    }

    fn create(&self, object: &serde_json::Value) {
        self.server.create(&format!("/api/v1/namespaces/{NAMESPACE}/configmaps"), object);
    }
}

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

fn application(name: &str, path: &str, plugin: &str) -> String {
    format!(
        "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {{name: {name}, namespace: argocd}}\nspec:\n  \
         source:\n    repoURL: {URL}\n    path: {path}\n{plugin}  \
         destination: {{server: https://kubernetes.default.svc, namespace: {NAMESPACE}}}\n---\n"
    )
}

/// Records time and requests of a command, and returns the samples.
fn record(sheet: &mut Sheet<'_>, what: &str, measured: Vec<(Sample, u64)>) -> Vec<Sample> {
    let (samples, requests): (Vec<Sample>, Vec<u64>) = measured.into_iter().unzip();
    sheet.processes(what, &samples, None);
    for count in requests {
        sheet.record(format!("{what}, requests"), "", float(count));
    }
    samples
}

fn resolve(bench: &Bench, sheet: &mut Sheet<'_>) -> Result<(), Failure> {
    let value = "v".repeat(500);
    let mut object_bytes = 0;
    for index in 0..OBJECTS {
        bench.create(&json!({"metadata": {"name": format!("o{index}")}, "data": {"k": value}}));
        if index == 0 {
            let path = format!("/api/v1/namespaces/{NAMESPACE}/configmaps/o0");
            object_bytes = bench.server.read(&path).to_string().len();
        }
    }
    let (mut dynamic, mut fixed) = (String::new(), String::new());
    for index in 0..APPLICATIONS {
        let (mut references, mut parameters) = (String::new(), String::new());
        for parameter in 0..REFERENCES {
            let object = (index * REFERENCES + parameter) % OBJECTS;
            let _infallible = writeln!(
                references,
                "      - {{name: p{parameter}, resourceRef: {{kind: ConfigMap, name: o{object}, path: .data.k}}}}"
            );
            let _infallible = writeln!(parameters, "      - {{name: p{parameter}, string: {value}}}");
        }
        let name = format!("a{index}");
        let plugin =
            |list: &str, items: &str| format!("    plugin:\n      name: nothing\n      {list}:\n{items}");
        dynamic += &application(&name, ".", &plugin("dynamicParameters", &references));
        fixed += &application(&name, ".", &plugin("parameters", &parameters));
    }
    files::write(&bench.starter.folder().join("dynamic/repo/a.yaml"), "a: b\n")?;
    files::write(&bench.starter.folder().join("fixed/repo/a.yaml"), "a: b\n")?;
    let render = words(&["render", "-o=name"]);
    let live = [bench.live()];
    let dynamic = bench.sample(&[&render, &bench.store("dynamic", &dynamic)?, &live])?;
    let fixed = bench.sample(&[&render, &bench.store("fixed", &fixed)?, &live])?;
    let dynamic = record(sheet, "1,000 applications with 5 references each, whole process", dynamic);
    let fixed = record(sheet, "the same with fixed values, whole process", fixed);
    sheet.beside("all values resolved, cold", [&dynamic, &fixed], None);
    for (dynamic, fixed) in dynamic.iter().zip(&fixed) {
        let per_object = float(dynamic.peak_bytes.saturating_sub(fixed.peak_bytes)) / float(OBJECTS as u64);
        let over = per_object - float(object_bytes as u64);
        sheet.record("memory per object over its JSON", "bytes", over).target = Some(Target::AtMost(4096.0));
    }
    Ok(())
}

fn folder(bench: &Bench, sheet: &mut Sheet<'_>) -> Result<(), Failure> {
    let place = bench.starter.folder().join("folder");
    files::write(&place.join("repo/a.yaml"), "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n")?;
    files::write(
        &place.join("few/o.yaml"),
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: bench}\n",
    )?;
    let mut bytes = 0;
    for file in 0..FOLDER_OBJECTS / FILE_OBJECTS {
        let objects: String =
            (0..FILE_OBJECTS).map(|index| live_object(&format!("o{file}-{index}"))).collect();
        bytes += objects.len();
        files::write(&place.join(format!("many/{file}.yaml")), objects)?;
    }
    println!("the folder has {FOLDER_OBJECTS} objects of {} bytes", bytes / FOLDER_OBJECTS);
    let store = bench.store("folder", &application("a", ".", ""))?;
    let diff = words(&["diff", "-o=name", "--exit-code=false"]);
    let with = |folder: &str| [format!("--cluster-state={}", place.join(folder).display())];
    let samples =
        |measured: Vec<(Sample, u64)>| measured.into_iter().map(|(sample, _)| sample).collect::<Vec<_>>();
    let many = samples(bench.sample(&[&diff, &store, &with("many")])?);
    let few = samples(bench.sample(&[&diff, &store, &with("few")])?);
    sheet.processes("10,000 objects, whole process", &many, None);
    sheet.processes("one object, whole process", &few, None);
    sheet.beside("10,000 objects read", [&many, &few], Some(Target::AtMost(300.0)));
    Ok(())
}

/// An object of 1 kB as `kubectl get -o yaml` prints it.
fn live_object(name: &str) -> String {
    let mut data = String::new();
    for line in 0..12 {
        let _infallible =
            writeln!(data, "  key-{line}: a value of medium length for the line {line} of the object");
    }
    format!(
        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  annotations:\n    \
         argocd.argoproj.io/tracking-id: other:/ConfigMap:{NAMESPACE}/{name}\n  creationTimestamp: \"2026-01-02T03:04:05Z\"\n  \
         name: {name}\n  namespace: {NAMESPACE}\n  resourceVersion: \"123456\"\n  uid: 6e1c44f0-0000-4000-8000-000000000000\ndata:\n{data}---\n"
    )
}

fn live_diff(bench: &Bench, sheet: &mut Sheet<'_>) -> Result<(), Failure> {
    let mut applications = String::new();
    for index in 0..COMPARED_APPLICATIONS {
        let name = format!("d{index}");
        let mut rendered = String::new();
        for object in 0..COMPARED_OBJECTS {
            let id = format!("{name}:/ConfigMap:{NAMESPACE}/{name}-{object}");
            let annotations = json!({"argocd.argoproj.io/tracking-id": id});
            bench.create(&json!({"metadata": {"name": format!("{name}-{object}"), "annotations": annotations}, "data": {"k": "v"}}));
            let _infallible = writeln!(
                rendered,
                "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}-{object}}}\ndata: {{k: v}}"
            );
        }
        files::write(&bench.starter.folder().join(format!("live-diff/repo/{name}/all.yaml")), rendered)?;
        applications += &application(&name, &name, "");
    }
    let store = bench.store("live-diff", &applications)?;
    // Without differences, the exit code is 0.
    let measured = bench.sample(&[&words(&["diff", "-o=name"]), &store, &[bench.live()]])?;
    record(sheet, "100 applications with 10 objects each, whole process", measured);
    Ok(())
}
