//! Two controllers, of which one leads.

use serde_json::json;
use tiphys_testkit::kube_server::FaultProxy;
use tiphys_testkit::wait::until;

use super::{Controlled, writes};
use crate::appset_controller::{Control, elements};

const ELECTION: &[&str] = &["--enable-leader-election"];

/// Changes the set, and waits for the result.
fn change(control: &Control, team: &str) {
    let list = elements(&[("a", team), ("b", team), ("c", team)]);
    control.server.patch(&control.path("applicationsets", "web"), &json!({"spec": {"generators": list}}));
}

fn until_changed(control: &Control, team: &str) {
    control.settles(|| {
        let found = control.applications();
        let is_done = found.iter().all(|one| one.ends_with(&format!(" {team}"))) && found.len() == 3;
        if is_done { Ok(()) } else { Err(format!("{found:?}")) }
    });
}

#[test]
fn one_of_two_replicas_writes() {
    let control = Control::new("replicas");
    let proxies = [(); 2].map(|()| FaultProxy::start(control.server, None));
    let count = || [0, 1].map(|index: usize| writes(&proxies[index]).len());
    control.create_set("web", &json!({"generators": elements(&[("a", "1"), ("b", "1"), ("c", "1")])}));
    let first = Controlled::start(&control, &proxies[0], "first", ELECTION);
    until_changed(&control, "1");
    let second = Controlled::start(&control, &proxies[1], "second", ELECTION);
    second.logs("Another process holds the Lease");
    change(&control, "2");
    until_changed(&control, "2");
    assert_eq!(count()[1], 0, "the second one does not lead");

    // The lease is released.
    first.signal("TERM");
    change(&control, "3");
    until_changed(&control, "3");
    drop(first);
    let third = Controlled::start(&control, &proxies[0], "third", ELECTION);
    third.logs("Another process holds the Lease");
    let before = count();
    change(&control, "4");
    until_changed(&control, "4");
    control.settles(|| control.has_condition("web", "ResourcesUpToDate", "True"));
    assert_eq!(count()[0], before[0], "the third one does not lead");

    // The leader is paused after the first of several writes, with more of them to do.
    proxies[1].hold(|request| request.method == "PATCH" && request.path.contains("/applications/"));
    change(&control, "5");
    proxies[1].wait_until_held();
    second.signal("STOP");
    until_changed(&control, "5");
    third.logs("This process leads");
    change(&control, "6");
    until_changed(&control, "6");
    let before = count()[1];
    proxies[1].release();
    second.signal("CONT");
    second.logs("This process does not lead any more");
    second.logs_times("Another process holds the Lease", 2);
    change(&control, "7");
    until_changed(&control, "7");
    assert_eq!(count()[1], before, "{:?}", &writes(&proxies[1])[before..]);

    // It leads again.
    third.signal("TERM");
    change(&control, "8");
    until_changed(&control, "8");
    until(|| (count()[1] > before).then_some(()));
}
