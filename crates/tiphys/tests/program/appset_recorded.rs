//! Whole sets on a real API server: our controller leaves the Applications and the status that Argo CD's own leaves.
//!
//! The sets and what exists beside them come from the recorded answers `appset-plan` and `appset-generate`; `appset-controller` has the states
//! in which Argo CD's program leaves them. With `AGAINST=FILE`, that program runs on the same server, and `UPDATE=1` records its states.

use std::collections::BTreeMap;
use std::fs;
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::thread::available_parallelism;
use std::time::{Duration, Instant};

use serde_json::{Map, Value, json};
use tiphys_testkit::canned_server::CannedServer;
use tiphys_testkit::oracle::{self, Difference};
use tiphys_testkit::recorded_sets::{canned, is_equal_object, needs_only_plugins};
use tiphys_testkit::wait::until;
use tiphys_testkit::{fixture, workspace_root};

use crate::appset_controller::{Control, server};
use crate::running::Running;

const ORACLE: &str = "appset-controller";

/// The UID of the set in the recorded cases.
const UID: &str = "11111111-2222-3333-4444-555555555555";

/// A state that is not the recorded one counts as the last one once it has not changed for this time.
const QUIET: Duration = Duration::from_secs(3);

/// Argo CD's program has not understood a set if it writes no status for this time.
const NEVER: Duration = Duration::from_secs(15);

#[test]
fn sets_end_in_the_states_that_argo_cd_leaves() {
    #[expect(clippy::disallowed_methods, reason = "the developer names a program and a case")]
    let [against, only] = ["AGAINST", "CASE"].map(std::env::var_os);
    let mut inputs = inputs();
    inputs.retain(|id, _| only.as_ref().is_none_or(|only| only == id.as_str()));
    let theirs: BTreeMap<String, Value> = if let Some(program) = against.map(PathBuf::from) {
        in_parallel(&inputs, |id, input| Some(Trial::new(id, "theirs", input)?.run_theirs(&program)))
    } else {
        let recorded = oracle::cases(ORACLE).into_iter();
        recorded.map(|mut case| (id(&case).to_owned(), case["output"].take())).collect()
    };
    if fixture::is_updating() && only.is_none() {
        record(&theirs);
    }
    let ours =
        in_parallel(&inputs, |id, input| Some(Trial::new(id, "ours", input)?.run_ours(theirs.get(id))));
    oracle::check(ORACLE, |case| {
        let (ours, theirs) = (ours.get(id(case))?, theirs.get(id(case))?);
        Some(if is_equal_object(ours, theirs) { Ok(()) } else { Err(Difference::new(ours, theirs)) })
    });
}

/// Returns the inputs of whole sets by the names of their cases.
fn inputs() -> BTreeMap<String, Value> {
    let cases = |name: &str| oracle::cases(name).into_iter();
    let generates = cases("appset-generate").filter(needs_only_plugins);
    // A list cannot fail.
    let plans =
        cases("appset-plan").filter(|case| case["input"]["generateError"].is_null()).map(|mut case| {
            let desired = case["input"]["desired"].as_array().expect("a list").iter();
            let elements: Vec<Value> = desired.map(|one| json!({"application": one})).collect();
            let spec = &mut case["input"]["applicationSet"]["spec"];
            spec["goTemplate"] = json!(true);
            spec["generators"] = json!([{"list": {"elements": elements}}]);
            // A patch cannot change the project.
            let project = "{{ .application.spec.project }}";
            spec["template"] =
                json!({"metadata": {"name": "x"}, "spec": {"project": project, "destination": {}}});
            spec["templatePatch"] = json!("{{ toJson .application }}");
            case
        });
    generates.chain(plans).map(|mut case| (id(&case).to_owned(), case["input"].take())).collect()
}

fn id(case: &Value) -> &str {
    case["id"].as_str().expect("every case has an id")
}

/// Writes the states that Argo CD's program leaves.
fn record(states: &BTreeMap<String, Value>) {
    let lines = states.iter().map(|(id, state)| json!({"id": id, "output": state}).to_string() + "\n");
    let path = workspace_root().join(format!("testdata/oracles/{ORACLE}.jsonl"));
    fs::write(path, lines.collect::<String>()).expect("the answers can be written");
}

/// Calls `run` for each case, some at the same time. Returns the states.
fn in_parallel(
    inputs: &BTreeMap<String, Value>,
    run: impl Fn(&str, &Value) -> Option<Value> + Sync,
) -> BTreeMap<String, Value> {
    let (waiting, ended) = (Mutex::new(inputs.iter()), Mutex::new(BTreeMap::new()));
    std::thread::scope(|scope| {
        for _ in 0..available_parallelism().map_or(1, NonZero::get) * 4 {
            scope.spawn(|| {
                loop {
                    let Some((id, input)) = waiting.lock().expect("not poisoned").next() else { return };
                    let state = run(id, input);
                    ended.lock().expect("not poisoned").extend(state.map(|state| (id.clone(), state)));
                }
            });
        }
    });
    ended.into_inner().expect("not poisoned")
}

/// A case in namespaces of its own.
struct Trial {
    control: Control,
    /// The namespaces of the case, each with that of this run.
    namespaces: BTreeMap<String, String>,
    /// Other texts of the case, each with that of this run.
    texts: Vec<(&'static str, String)>,
    flags: Vec<String>,
    _service: CannedServer,
}

impl Trial {
    /// Creates all objects of a case. None: the schemas of `CRDS` refuse one.
    fn new(id: &str, program: &str, input: &Value) -> Option<Self> {
        let answers = input["pluginAnswers"].clone();
        let service = CannedServer::start(None, move |request| canned(&answers, request));
        let list = |key: &str| input[key].as_array().cloned().unwrap_or_default();
        let (mut objects, existing, set) = (list("objects"), list("existing"), &input["applicationSet"]);
        let own = text(&input["controllerNamespace"]);
        for one in objects_of_argo_cd(own) {
            if !objects.iter().any(|other| is_same(&one, other)) {
                objects.push(one);
            }
        }

        let all = objects.iter().chain(&existing).chain([set]).map(namespace).chain([own]);
        let suffix = id.to_ascii_lowercase().replace(|c: char| !c.is_ascii_alphanumeric(), "-");
        let here = |there: &str| format!("{there}-{program}-{suffix}");
        let namespaces: BTreeMap<String, String> = all.map(|there| (there.to_owned(), here(there))).collect();
        let control = Control::without_project(server(), &namespaces[own]);
        for (_, here) in namespaces.iter().filter(|(there, _)| *there != own) {
            control.server.create("/api/v1/namespaces", &json!({"metadata": {"name": here}}));
        }
        let texts = vec![("$BASE", service.url()), ("$HOST", service.host())];
        let mut flags = flags(input);
        if namespace(set) != own {
            flags.push(format!("--applicationset-namespaces={}", namespaces[namespace(set)]));
            flags.push("--enable-scm-providers=false".to_owned());
        }
        let mut trial = Self { control, namespaces, texts, flags, _service: service };
        for object in &objects {
            trial.create(object)?;
        }
        let created = trial.create(set)?;
        trial.texts.push((UID, text(&created["metadata"]["uid"]).to_owned()));
        for object in &existing {
            trial.create(object)?;
        }
        Some(trial)
    }

    /// Creates an object, with its status and its deletion, if it is valid.
    fn create(&self, object: &Value) -> Option<Value> {
        let here = &self.namespaces[namespace(object)];
        let written = self.texts.iter();
        let written = written.fold(object.to_string(), |text, (there, here)| text.replace(there, here));
        let mut object: Value = serde_json::from_str(&written).ok()?;
        object["metadata"]["namespace"] = json!(here);
        let kind = text(&object["kind"]).to_ascii_lowercase();
        let path = format!(
            "/{}/namespaces/{here}/{kind}s",
            if object["apiVersion"] == "v1" { "api/v1" } else { "apis/argoproj.io/v1alpha1" }
        );
        let created = self.control.server.create_valid(&path, &object)?;
        let path = format!("{path}/{}", text(&object["metadata"]["name"]));
        if let Some(status) = object.get("status").filter(|_| kind == "applicationset") {
            self.control.server.patch_valid(&format!("{path}/status"), &json!({"status": status}))?;
        }
        if object["metadata"].get("deletionTimestamp").is_some() {
            self.control.server.delete(&path);
        }
        Some(created)
    }

    fn run_ours(&self, expected: Option<&Value>) -> Value {
        let flags: Vec<&str> = self.flags.iter().map(String::as_str).collect();
        let mut running =
            self.control.start(&[&["--max-deletions=100", "--loglevel=debug"], &*flags].concat());
        let log = running.stderr();
        log.line_with("reconciled");
        self.last_state(expected)
    }

    fn run_theirs(&self, program: &Path) -> Value {
        let ports = ["metrics", "probe", "webhook"].map(|name| format!("--{name}-addr=127.0.0.1:0"));
        let mut command = self.control.world.command(program.to_str().expect("UTF-8"));
        command
            .envs([("ARGOCD_BINARY_NAME", "argocd-applicationset-controller"), ("KUBECONFIG", "kubeconfig")])
            .args(["--argocd-repo-server=127.0.0.1:1", "--namespace", &self.control.namespace])
            .args(ports)
            .args(&self.flags);
        let mut running = Running::of(command);
        // It is read so that the program never waits.
        let _log = running.stderr();
        let begin = Instant::now();
        until(|| {
            let has_status = self.state()["sets"].as_array()?.iter().any(|set| set.get("status").is_some());
            (has_status || begin.elapsed() > NEVER).then_some(())
        });
        self.last_state(None)
    }

    /// Returns the state once it is an expected one or does not change any more.
    fn last_state(&self, expected: Option<&Value>) -> Value {
        let mut last = (self.state(), Instant::now());
        until(|| {
            let now = self.state();
            if now != last.0 {
                last = (now, Instant::now());
            }
            (expected.is_some_and(|expected| is_equal_object(&last.0, expected)) || last.1.elapsed() > QUIET)
                .then_some(())
        });
        last.0
    }

    /// Returns the set and the Applications of its namespaces, with the texts of the case and without what differs between two runs.
    fn state(&self) -> Value {
        let read = |plural: &str| -> Vec<Value> {
            let path = |here| format!("/apis/argoproj.io/v1alpha1/namespaces/{here}/{plural}");
            let lists = self.namespaces.values().map(|here| self.control.server.read(&path(here)));
            lists
                .flat_map(|list| list["items"].as_array().cloned().expect("a list"))
                .map(without_times)
                .collect()
        };
        let text = json!({"sets": read("applicationsets"), "applications": read("applications")}).to_string();
        let texts = self.texts.iter().map(|(there, here)| (*there, here));
        let namespaces = self.namespaces.iter().map(|(there, here)| (there.as_str(), here));
        let text = texts.chain(namespaces).fold(text, |text, (there, here)| text.replace(here, there));
        serde_json::from_str(&text).expect("JSON")
    }
}

/// Returns the flags of a case.
fn flags(input: &Value) -> Vec<String> {
    let flag = |(key, name): (&str, &str)| match &input[key] {
        Value::Null => None,
        Value::String(text) => Some(format!("--{name}={text}")),
        value => Some(format!("--{name}={value}")),
    };
    let names = [
        ("policy", "policy"),
        ("enablePolicyOverride", "enable-policy-override"),
        ("maxResourcesStatusCount", "max-resources-status-count"),
    ];
    names.into_iter().filter_map(flag).collect()
}

/// Returns the objects that Argo CD's program needs for its start, and the project of most sets.
fn objects_of_argo_cd(namespace: &str) -> [Value; 3] {
    let object = |version: &str, kind: &str, name: &str| {
        let labels = json!({"app.kubernetes.io/part-of": "argocd"});
        json!({"apiVersion": version, "kind": kind, "metadata": {"name": name, "namespace": namespace, "labels": labels}})
    };
    let mut project = object("argoproj.io/v1alpha1", "AppProject", "default");
    project["spec"] = json!({"sourceRepos": ["*"], "destinations": [{"server": "*", "namespace": "*"}]});
    [object("v1", "Secret", "argocd-secret"), object("v1", "ConfigMap", "argocd-cm"), project]
}

fn is_same(one: &Value, other: &Value) -> bool {
    ["name", "namespace"].iter().all(|field| one["metadata"][field] == other["metadata"][field])
        && one["kind"] == other["kind"]
}

fn namespace(object: &Value) -> &str {
    text(&object["metadata"]["namespace"])
}

fn text(value: &Value) -> &str {
    value.as_str().expect("a string")
}

/// Removes what the API server writes, and times.
fn without_times(mut object: Value) -> Value {
    let metadata = object["metadata"].as_object_mut().expect("an object");
    for field in [
        "resourceVersion",
        "generation",
        "managedFields",
        "uid",
        "creationTimestamp",
        "deletionGracePeriodSeconds",
    ] {
        metadata.remove(field);
    }
    if let Some(time) = metadata.get_mut("deletionTimestamp") {
        *time = json!("$NOW");
    }
    let is_set = object["kind"] == "ApplicationSet";
    // Argo CD's program writes the zero values of a status into new Applications.
    if object["status"]["sync"]["status"] == "" {
        object.as_object_mut().map(|application| application.remove("status"));
    }
    let status = object.get_mut("status").and_then(Value::as_object_mut).filter(|_| is_set);
    if let Some(status) = status {
        let conditions = status.get_mut("conditions").and_then(Value::as_array_mut);
        for condition in conditions.into_iter().flatten() {
            condition.as_object_mut().map(|condition| condition.remove("lastTransitionTime"));
        }
        status
            .get_mut("health")
            .and_then(Value::as_object_mut)
            .map(|health: &mut Map<_, _>| health.remove("lastTransitionTime"));
    }
    if is_set {
        object.as_object_mut().map(|set| set.remove("spec"));
    }
    object
}
