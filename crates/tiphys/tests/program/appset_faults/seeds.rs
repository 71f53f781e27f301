//! One script of changes, with faults by seeds: the state after it is that without faults.

use std::sync::OnceLock;
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};
use tiphys_testkit::canned_server::{Canned, Pace};
use tiphys_testkit::kube_server::FaultProxy;

use super::service::{Service, parameters};
use super::{Controlled, compare, list, writes};
use crate::appset_controller::{Control, elements};

/// Seeds of the gate; the variable `FAULT_SEEDS` sets a larger number.
const SEEDS: u64 = 12;

/// Controllers at a time. They wait most of the time.
const PARALLEL: u64 = 4;

/// The Applications that a part of the script removes, or that a user deletes. No other one may be deleted.
const REMOVED: [&str; 7] = ["c", "d", "e", "f", "p-s2", "q-s2", "team-11"];

/// Time for the controller to react between two changes.
const BETWEEN: Duration = Duration::from_millis(700);

/// Requests that end [`BETWEEN`].
const REQUESTS_BETWEEN: usize = 12;

#[test]
fn faults_do_not_change_the_final_state() {
    let count = seeds();
    let expected = without_faults();
    thread::scope(|scope| {
        for worker in 0..PARALLEL {
            scope.spawn(move || {
                for seed in (1..=count).filter(|seed| seed % PARALLEL == worker) {
                    run(Some(seed), expected);
                }
            });
        }
    });
}

#[expect(clippy::disallowed_methods, reason = "the developer chooses how long the test takes")]
fn seeds() -> u64 {
    std::env::var("FAULT_SEEDS").map_or(SEEDS, |count| count.parse().expect("FAULT_SEEDS is a number"))
}

/// Returns the state without faults.
fn without_faults() -> &'static Value {
    static STATE: OnceLock<Value> = OnceLock::new();
    STATE.get_or_init(|| run(None, &Value::Null))
}

/// Runs the script, and returns the state at its end.
fn run(seed: Option<u64>, expected: &Value) -> Value {
    let name = seed.map_or_else(|| "faults-none".to_owned(), |seed| format!("faults-{seed}"));
    let control = Control::new(name.leak());
    let service = Service::start(&control);
    let proxy = FaultProxy::start(control.server, seed);
    let pause = || proxy.wait_for_requests(REQUESTS_BETWEEN, BETWEEN);
    let teams = |numbers: &[usize]| parameters(numbers.iter().map(|number| format!("team-{number}")));
    let stages = |names: &[&str]| parameters(names.iter().map(|name| (*name).to_owned()));
    let change = |plural: &str, name: &str, change: &Value| {
        control.server.patch(&control.path(plural, name), change);
    };
    let all: Vec<usize> = (0..12).collect();

    // The sets are created while the controller starts.
    service.answer("teams", teams(&all));
    service.answer("stages", stages(&["s1", "s2"]));
    let mut controlled = Controlled::start(&control, &proxy, "log", &[]);
    let plugin = |seconds: u64| json!({"plugin": {"configMapRef": {"name": "service"}, "requeueAfterSeconds": seconds}});
    control.create_set("web", &json!({"generators": elements(&[("a", "x"), ("b", "x"), ("c", "x")])}));
    control.create_set("teams", &json!({"generators": [plugin(1)]}));
    let names = json!({"list": {"elements": [{"letter": "p"}, {"letter": "q"}]}});
    let matrix = json!([{"matrix": {"generators": [names, plugin(0)]}}]);
    let template = json!({
        "metadata": {"name": "{{.letter}}-{{.stage}}", "labels": {"team": "{{.team}}"}},
        "spec": {
            "project": "default",
            "source": {"repoURL": "https://git.example.org/apps.git", "path": "{{.letter}}", "targetRevision": "{{.stage}}"},
            "destination": {"server": "https://kubernetes.default.svc", "namespace": "{{.team}}"},
        },
    });
    control.create_set("stages", &json!({"generators": matrix, "template": template}));
    control.settles_with_refreshes(&["web", "teams", "stages"], || {
        let found = list(&control.state()["applications"]).len();
        if found == 19 { Ok(()) } else { Err(format!("{found} of 19 Applications")) }
    });
    let identities = identities(&control);

    // Users change a set and Applications.
    let list = elements(&[("a", "x"), ("b", "y"), ("c", "x"), ("d", "x")]);
    change("applicationsets", "web", &json!({"spec": {"generators": list}}));
    change("applications", "a", &json!({"metadata": {"labels": {"team": "by-hand"}}}));
    control.server.delete(&control.path("applications", "c"));
    pause();

    // The service of the plugin answers nothing, and then too little, and late.
    service.answer("teams", teams(&[]));
    service.answer("stages", stages(&["s1"]).at(Pace::Late(Duration::from_secs(2))));
    control.settles_with_refreshes(&["teams", "stages"], || {
        control.has_condition("teams", "DeletionsGuarded", "True")?;
        control.has_condition("stages", "ErrorOccurred", "True ApplicationGenerationFromParamsError")
    });
    service.answer("teams", teams(&[1, 2, 3]));
    pause();

    // The service is gone, and a proxy or another version of it answers. The controller is killed.
    service.answer("teams", Canned::default());
    service.answer("stages", Canned::new(200, "<html>Sign in</html>"));
    pause();
    controlled.signal("KILL");
    controlled = Controlled::start(&control, &proxy, "log", &[]);
    control.settles_with_refreshes(&["teams", "stages"], || {
        control.has_condition("teams", "ErrorOccurred", "True ApplicationGenerationFromParamsError")?;
        control.has_condition("stages", "ErrorOccurred", "invalid")
    });

    // All is well again, with other Applications.
    service.answer("teams", teams(&[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12]));
    service.answer("stages", stages(&["s1", "s3"]));
    let team = json!({"spec": {"template": {"metadata": {"labels": {"team": "{{.team}}-2"}}}}});
    change("applicationsets", "teams", &team);
    change("applicationsets", "stages", &team);
    // Applications come and go.
    for list in [
        elements(&[("a", "x"), ("b", "y"), ("e", "x"), ("f", "x")]),
        elements(&[("a", "x"), ("b", "y"), ("d", "x"), ("f", "x")]),
        elements(&[("a", "x"), ("b", "z"), ("d", "x"), ("e", "x")]),
    ] {
        change("applicationsets", "web", &json!({"spec": {"generators": list}}));
        pause();
    }
    proxy.heal();
    control.settles(|| {
        ["web", "teams", "stages"]
            .iter()
            .try_for_each(|set| control.has_condition(set, "ResourcesUpToDate", "True"))?;
        match seed {
            Some(_) => compare(&control.state(), expected),
            None => Ok(()),
        }
    });

    // Two further reconciles write nothing.
    let (written, asked) = (writes(&proxy).len(), service.requests());
    control.settles(|| if service.requests() > asked + 2 { Ok(()) } else { Err("no reconcile".to_owned()) });
    assert_eq!(writes(&proxy)[written..], [], "{}", control.namespace);
    let deleted = writes(&proxy).into_iter().filter(|write| write.method == "DELETE").map(|write| write.path);
    for path in deleted {
        let name = path.rsplit('/').next().unwrap_or_default();
        assert!(REMOVED.contains(&name), "{}: {path} was deleted", control.namespace);
    }
    let kept: Vec<_> = self::identities(&control);
    for identity in identities.iter().filter(|(name, _)| !REMOVED.contains(&name.as_str())) {
        assert!(kept.contains(identity), "{}: {identity:?} was deleted", control.namespace);
    }
    drop(controlled);
    control.state()
}

/// Returns the names and the `uid` of all Applications.
fn identities(control: &Control) -> Vec<(String, String)> {
    let applications = control.server.read(&control.path("applications", ""));
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let identity = |one: &Value| (text(&one["metadata"]["name"]), text(&one["metadata"]["uid"]));
    list(&applications["items"]).iter().map(identity).collect()
}
