//! An API server that is killed, and one whose database is restored from an older state.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tiphys_testkit::kube_server::KubeServer;

use super::Control;
use crate::appset_controller::elements;

/// More Applications than the deletion guard exempts.
const NAMES: [&str; 12] = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"];

fn names(more: &[&'static str]) -> Vec<&'static str> {
    NAMES.iter().chain(more).copied().collect()
}

fn generators(more: &[&'static str]) -> Value {
    elements(&names(more).into_iter().map(|name| (name, "x")).collect::<Vec<_>>())
}

fn follow(control: &Control, more: &[&'static str]) {
    let change = json!({"spec": {"generators": generators(more)}});
    control.server.patch(&control.path("applicationsets", "web"), &change);
    followed(control, more);
}

fn followed(control: &Control, more: &[&'static str]) {
    let expected: Vec<String> = names(more).into_iter().map(|name| format!("{name} x")).collect();
    control.settles(|| {
        let found = control.applications();
        if found == expected { Ok(()) } else { Err(format!("{found:?}")) }
    });
}

#[test]
fn restarted_and_restored_servers_are_followed() {
    let server: &'static KubeServer = Box::leak(Box::new(KubeServer::start()));
    server.serve_argo_cd();
    let control = Control::on(server, "restored");
    control.create_set("web", &json!({"generators": generators(&[])}));
    let mut running = control.start(&[]);
    // It is read so that the program never waits.
    let _log = running.stderr();
    followed(&control, &[]);

    let uids = |control: &Control| -> Vec<Value> {
        let applications = control.server.read(&control.path("applications", ""));
        let applications = applications["items"].as_array().cloned().expect("a list");
        let of_first =
            applications.iter().filter(|one| NAMES.iter().any(|name| one["metadata"]["name"] == *name));
        of_first.map(|one| one["metadata"]["uid"].clone()).collect()
    };
    let before = uids(&control);

    let saved = control.world.path("saved");
    server.restart(|etcd| copy(etcd, &saved));
    follow(&control, &["m"]);
    follow(&control, &["m", "n"]);
    server.restart(|etcd| {
        fs::remove_dir_all(etcd).expect("the directory is there");
        copy(&saved, etcd);
    });
    follow(&control, &["o"]);
    // No Application of the restored state was lost or replaced.
    assert_eq!(uids(&control), before);
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a directory can be made");
    for entry in fs::read_dir(from).expect("the directory can be read") {
        let from: PathBuf = entry.expect("the directory can be read").path();
        let to = to.join(from.file_name().expect("a name"));
        if from.is_dir() {
            copy(&from, &to);
        } else {
            fs::copy(&from, &to).expect("the file can be copied");
        }
    }
}
