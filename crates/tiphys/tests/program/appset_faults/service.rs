//! The service of a generator plugin whose answers a test changes.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use tiphys_testkit::canned_server::{Canned, CannedServer, Pace};
use tiphys_testkit::wait::until;

use crate::appset_controller::Control;

/// A service.
pub(super) struct Service {
    server: CannedServer,
    /// The answers by names of sets.
    answers: Arc<Mutex<BTreeMap<String, Canned>>>,
}

impl Service {
    /// Starts a service, and creates the `ConfigMap` `service` of its plugin. The controller waits for an answer for a second.
    pub(super) fn start(control: &Control) -> Self {
        let answers: Arc<Mutex<BTreeMap<String, Canned>>> = Arc::default();
        let served = Arc::clone(&answers);
        let server = CannedServer::start(None, move |request| {
            let request: Value = serde_json::from_str(&request.body).expect("a JSON request");
            let set = request["applicationSetName"].as_str().expect("a name");
            served.lock().expect("not poisoned").get(set).cloned().unwrap_or_default()
        });
        let secret = json!({"metadata": {"name": "argocd-secret"}, "stringData": {"token": "a-token"}});
        control.server.create(&control.core("secrets"), &secret);
        let data = json!({"baseUrl": server.url(), "token": "$token", "requestTimeout": "1"});
        let map = json!({"metadata": {"name": "service"}, "data": data});
        control.server.create(&control.core("configmaps"), &map);
        Self { server, answers }
    }

    /// Changes the answer for a set.
    pub(super) fn answer(&self, set: &str, answer: Canned) {
        self.answers.lock().expect("not poisoned").insert(set.to_owned(), answer);
    }

    /// Returns the number of requests.
    pub(super) fn requests(&self) -> usize {
        self.server.requests().len()
    }
}

/// Returns an answer with parameter sets of these names.
pub(super) fn parameters(names: impl IntoIterator<Item = String>) -> Canned {
    let sets: Vec<Value> =
        names.into_iter().map(|name| json!({"name": name, "stage": name, "team": "t"})).collect();
    Canned::new(200, json!({"output": {"parameters": sets}}).to_string())
}

#[test]
fn controller_that_ends_while_a_service_answers_reports_no_error() {
    let control = Control::new("ends-asking");
    let service = Service::start(&control);
    service.answer("teams", parameters(["a".to_owned()]));
    let plugin = json!({"plugin": {"configMapRef": {"name": "service"}, "requeueAfterSeconds": 0}});
    control.create_set("teams", &json!({"generators": [plugin]}));
    let mut running = control.start(&[]);
    // It is read so that the program never waits.
    let _log = running.stderr();
    control.settles(|| control.has_condition("teams", "ResourcesUpToDate", "True"));

    service.answer("teams", Canned::new(500, "").at(Pace::Late(Duration::from_millis(900))));
    let before = service.requests();
    control.refresh(&["teams"], 1);
    until(|| (service.requests() > before).then_some(()));
    running.signal(&control.world, "TERM");
    assert_eq!(running.finish(&control.world).code, 0);
    control.has_condition("teams", "ErrorOccurred", "False").expect("no error");
}
