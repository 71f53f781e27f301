//! Faults between the ApplicationSet controller and the API server, and those of the service of a generator plugin.

mod killed;
mod lost;
mod replicas;
mod restored;
mod seeds;
mod service;

use std::fs::OpenOptions;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tiphys_testkit::kube_server::{FaultProxy, Forwarded};
use tiphys_testkit::wait::until;

use crate::appset_controller::Control;
use crate::running::Running;
use crate::world::TIPHYS;

/// Limit for a state of the cluster: more than the longest pause after failures of a set, and less than the time until all objects are listed
/// again, which may repair a wrong state.
const SETTLED_MAX: Duration = Duration::from_mins(4);

/// The interval at which a test asks the controller for another reconcile.
const REFRESH_INTERVAL: Duration = Duration::from_secs(1);

/// A controller whose log is printed if the test fails.
struct Controlled<'a> {
    control: &'a Control,
    log: String,
    running: Running,
}

impl<'a> Controlled<'a> {
    /// Starts a controller behind a proxy.
    fn start(control: &'a Control, proxy: &FaultProxy, log: &str, more: &[&str]) -> Self {
        let kubeconfig = format!("kubeconfig-of-{log}");
        control.world.write(&kubeconfig, &proxy.kubeconfig());
        let file = OpenOptions::new().create(true).append(true).open(control.world.path(log));
        let mut command = control.world.command(TIPHYS);
        command.args(control.arguments()).args(["--kubeconfig", &kubeconfig]).args(more);
        command.stderr(file.expect("a file for the log"));
        Self { control, log: log.to_owned(), running: Running::of(command) }
    }

    fn signal(&self, name: &str) {
        self.running.signal(&self.control.world, name);
    }

    /// Waits until the log has a line with this text.
    fn logs(&self, text: &str) {
        self.logs_times(text, 1);
    }

    /// Waits until the log has this many lines with this text.
    fn logs_times(&self, text: &str, count: usize) {
        self.control.settles(|| {
            let found = self.log().matches(text).count();
            if found >= count { Ok(()) } else { Err(format!("{found} lines with {text:?}")) }
        });
    }

    fn log(&self) -> String {
        self.control.world.read(&self.log)
    }
}

impl Drop for Controlled<'_> {
    #[expect(clippy::print_stdout, reason = "a failed test prints the log")]
    fn drop(&mut self) {
        if std::thread::panicking() {
            println!("{} of {}:\n{}", self.log, self.control.namespace, self.log());
        }
    }
}

impl Control {
    /// Waits until a check succeeds.
    #[track_caller]
    fn settles(&self, mut check: impl FnMut() -> Result<(), String>) {
        let begin = Instant::now();
        let result = until(|| match check() {
            Err(_) if begin.elapsed() < SETTLED_MAX => None,
            result => Some(result),
        });
        if let Err(problem) = result {
            panic!("{}: {problem}", self.namespace);
        }
    }

    /// Waits until a check succeeds, and asks for reconciles of sets meanwhile: after an error, a set waits for minutes.
    #[track_caller]
    fn settles_with_refreshes(&self, sets: &[&str], mut check: impl FnMut() -> Result<(), String>) {
        let (mut last, mut count) = (Instant::now(), 0);
        self.refresh(sets, 0);
        self.settles(|| {
            check().inspect_err(|_| {
                if last.elapsed() > REFRESH_INTERVAL {
                    (last, count) = (Instant::now(), count + 1);
                    self.refresh(sets, count);
                }
            })
        });
    }

    fn refresh(&self, sets: &[&str], value: usize) {
        let annotations = json!({"argocd.argoproj.io/application-set-refresh": value.to_string()});
        for set in sets {
            self.server.patch(
                &self.path("applicationsets", set),
                &json!({"metadata": {"annotations": annotations}}),
            );
        }
    }

    /// Checks a condition as `until_condition` does.
    fn has_condition(&self, set: &str, kind: &str, expected: &str) -> Result<(), String> {
        let found = self.condition(set, kind);
        if found.contains(expected) { Ok(()) } else { Err(format!("{set}: {kind}: {found}")) }
    }

    /// Checks the number of Applications in the status of a set.
    fn has_resources(&self, set: &str, count: usize) -> Result<(), String> {
        let status = self.server.read(&self.path("applicationsets", set))["status"].take();
        if status["resourcesCount"] == count { Ok(()) } else { Err(status.to_string()) }
    }

    /// Returns what the controller decides of all sets and Applications, without times and identities.
    fn state(&self) -> Value {
        let items = |plural: &str| {
            let list = self.server.read(&self.path(plural, ""));
            list["items"].as_array().cloned().expect("a list")
        };
        let sets = items("applicationsets");
        let uid = |name: &Value| {
            let set = sets.iter().find(|set| set["metadata"]["name"] == *name);
            set.map(|set| set["metadata"]["uid"].clone()).unwrap_or_default()
        };
        let application = |mut one: Value| {
            let metadata = one["metadata"].take();
            let mut owners = metadata["ownerReferences"].clone();
            for owner in owners.as_array_mut().into_iter().flatten() {
                owner["uid"] = (owner["uid"] == uid(&owner["name"])).into();
            }
            json!({
                "name": metadata["name"], "labels": metadata["labels"], "annotations": metadata["annotations"],
                "finalizers": metadata["finalizers"], "owners": owners, "spec": one["spec"],
            })
        };
        let set = |one: &Value| {
            let mut status = one["status"].clone();
            for condition in status["conditions"].as_array_mut().into_iter().flatten() {
                condition["lastTransitionTime"] = Value::Null;
            }
            json!({
                "name": one["metadata"]["name"], "annotations": one["metadata"]["annotations"], "status": status,
            })
        };
        let state = json!({
            "sets": sets.iter().map(set).collect::<Vec<_>>(),
            "applications": items("applications").into_iter().map(application).collect::<Vec<_>>(),
        });
        let text = state.to_string().replace(&format!("{:?}", self.namespace), "\"NAMESPACE\"");
        serde_json::from_str(&text).expect("JSON")
    }
}

/// Returns the first difference of two states, for messages.
fn compare(found: &Value, expected: &Value) -> Result<(), String> {
    if found == expected {
        return Ok(());
    }
    for kind in ["sets", "applications"] {
        let (found, expected) = (list(&found[kind]), list(&expected[kind]));
        let names =
            |list: &[Value]| list.iter().map(|one| one["name"].to_string()).collect::<Vec<_>>().join(" ");
        if names(found) != names(expected) {
            return Err(format!("{kind}: found {}, expected {}", names(found), names(expected)));
        }
        if let Some((found, expected)) =
            found.iter().zip(expected).find(|(found, expected)| found != expected)
        {
            return Err(format!("found {found}\nexpected {expected}"));
        }
    }
    Err("different states".to_owned())
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// Returns the requests that change anything but Leases.
fn writes(proxy: &FaultProxy) -> Vec<Forwarded> {
    let requests = proxy.forwarded().into_iter();
    requests.filter(|one| one.method != "GET" && !one.path.contains("/leases")).collect()
}
