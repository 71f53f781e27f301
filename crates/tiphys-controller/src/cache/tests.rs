use serde_json::json;

use super::*;

fn object(kind: &str, name: &str, version: u64, more: &Value) -> Manifest {
    let mut object = json!({
        "apiVersion": "v1", "kind": kind,
        "metadata": {"namespace": "argocd", "name": name, "resourceVersion": version.to_string()},
    });
    merge(&mut object, more);
    let Value::Object(object) = object else { unreachable!("it is an object") };
    Manifest::new(object)
}

fn merge(object: &mut Value, more: &Value) {
    match (object, more) {
        (Value::Object(object), Value::Object(more)) => {
            for (key, value) in more {
                merge(object.entry(key).or_insert(Value::Null), value);
            }
        }
        (object, more) => *object = more.clone(),
    }
}

fn owned_by(set: &str) -> Value {
    json!({"metadata": {"ownerReferences": [
        {"apiVersion": "argoproj.io/v1alpha1", "kind": "ApplicationSet", "name": set, "controller": true},
    ]}})
}

/// Applies events, and returns the names of the sets that each concerns.
fn concerned(events: Vec<(Watched, WatchEvent)>) -> Vec<String> {
    let cache = Cache::default();
    let word = |(set, need): (ObjectName, Need)| match need {
        Need::Generate => set.name,
        Need::Compare => format!("compare:{}", set.name),
    };
    let names = |concerned: Concerned| concerned.into_iter().map(word).collect::<Vec<String>>().join(" ");
    events.into_iter().map(|(kind, event)| names(cache.apply(kind, event))).collect()
}

#[test]
fn changes_of_a_set_concern_it_unless_only_its_status_changed() {
    let set = |version, more: Value| object("ApplicationSet", "a", version, &more);
    let refresh = |value: Value| json!({"metadata": {"annotations": {REFRESH_ANNOTATION: value}}});
    let events = vec![
        (WatchEvent::Listed(vec![set(1, json!({"spec": {"a": 1}}))]), "a"),
        (WatchEvent::Changed(set(2, json!({"spec": {"a": 1}, "status": {"x": 1}}))), "compare:a"),
        (WatchEvent::Changed(set(3, json!({"spec": {"a": 2}}))), "a"),
        // An older state that arrives late.
        (WatchEvent::Changed(set(2, json!({"spec": {"a": 1}}))), ""),
        (
            WatchEvent::Changed({
                let mut with = json!({"spec": {"a": 2}});
                merge(&mut with, &refresh(json!("true")));
                set(4, with)
            }),
            "a",
        ),
        (WatchEvent::Changed(set(5, json!({"spec": {"a": 2}}))), ""),
        (WatchEvent::Listed(vec![set(5, json!({"spec": {"a": 2}}))]), ""),
        (WatchEvent::Listed(Vec::new()), "a"),
    ];
    let expected: Vec<&str> = events.iter().map(|(_, expected)| *expected).collect();
    let events = events.into_iter().map(|(event, _)| (Watched::Sets, event)).collect();
    assert_eq!(concerned(events), expected);
}

#[test]
fn changes_of_an_application_concern_its_owner() {
    let application = |version, more: Value| {
        let mut object_value = owned_by("a");
        merge(&mut object_value, &more);
        object("Application", "web", version, &object_value)
    };
    let events = vec![
        // Another process has created it.
        (WatchEvent::Changed(application(1, json!({"spec": {"x": 1}}))), "compare:a"),
        (
            WatchEvent::Changed(application(
                2,
                json!({"spec": {"x": 1}, "status": {"health": {"status": "Healthy"}}}),
            )),
            "",
        ),
        (WatchEvent::Changed(application(3, json!({"spec": {"x": 2}}))), "compare:a"),
        (WatchEvent::Changed(object("Application", "web", 4, &owned_by("b"))), "compare:a compare:b"),
        (WatchEvent::Deleted(object("Application", "web", 5, &json!({}))), "compare:b"),
        (WatchEvent::Deleted(object("Application", "web", 5, &json!({}))), ""),
    ];
    let expected: Vec<&str> = events.iter().map(|(_, expected)| *expected).collect();
    let events = events.into_iter().map(|(event, _)| (Watched::Applications, event)).collect();
    assert_eq!(concerned(events), expected);
}

#[test]
fn config_maps_and_secrets_concern_the_sets_that_read_them() {
    let set = |name: &str, generator: Value| {
        object("ApplicationSet", name, 1, &json!({"spec": {"generators": [generator]}}))
    };
    let plugin = |name: &str| json!({"plugin": {"configMapRef": {"name": name}}});
    let sets = vec![
        set("list", json!({"list": {}})),
        set("plugin", plugin("teams")),
        set(
            "nested",
            json!({"matrix": {"generators": [{"clusters": {}}, {"merge": {"generators": [plugin("teams")]}}]}}),
        ),
        set("templated", json!({"matrix": {"generators": [{"list": {}}, plugin("{{ .name }}")]}})),
        set("other", plugin("other")),
        set(
            "forge",
            json!({"pullRequest": {"gitlab": {"tokenRef": {"secretName": "forge-token"}, "caRef": {"configMapName": "forge-ca"}}}}),
        ),
    ];
    let map = |name: &str, version, token: &str| {
        object("ConfigMap", name, version, &json!({"data": {"token": token}}))
    };
    let secret_at = |version, name: &str, kind: &str| {
        let labels = json!({"argocd.argoproj.io/secret-type": kind});
        object("Secret", name, version, &json!({"metadata": {"labels": labels}}))
    };
    let secret = |name: &str, kind: &str| secret_at(9, name, kind);
    let changed = WatchEvent::Changed;
    let events = vec![
        (Watched::Sets, WatchEvent::Listed(sets), "forge list nested other plugin templated"),
        (Watched::ConfigMaps, changed(map("teams", 1, "$tokens:a")), "nested plugin templated"),
        (Watched::ConfigMaps, changed(map("other", 1, "$key")), "other templated"),
        (Watched::ConfigMaps, changed(map("other", 2, "$key")), ""),
        (Watched::Secrets, changed(secret("tokens", "x")), "nested plugin templated"),
        (Watched::Secrets, changed(secret("argocd-secret", "x")), "other templated"),
        (Watched::Secrets, changed(secret("prod", "cluster")), "nested"),
        (Watched::Secrets, changed(secret_at(10, "prod", "none")), "nested templated"),
        (Watched::Secrets, changed(secret_at(11, "prod", "cluster")), "nested templated"),
        (Watched::Secrets, WatchEvent::Deleted(secret_at(12, "prod", "cluster")), "nested"),
        (Watched::Secrets, changed(secret("forge-token", "scm-creds")), "forge templated"),
        (Watched::ConfigMaps, changed(map("forge-ca", 3, "")), "forge templated"),
        (Watched::Projects, changed(object("AppProject", "default", 1, &json!({"spec": {}}))), ""),
    ];
    let expected: Vec<&str> = events.iter().map(|(_, _, expected)| *expected).collect();
    assert_eq!(concerned(events.into_iter().map(|(kind, event, _)| (kind, event)).collect()), expected);
}

#[test]
fn only_objects_of_all_sets_change_the_version_of_the_control_plane() {
    let cache = Cache::default();
    let version = |kind, changed: Manifest| {
        cache.apply(kind, WatchEvent::Changed(changed));
        cache.control_plane().1
    };
    let first = version(Watched::Projects, object("AppProject", "default", 1, &json!({"spec": {}})));
    let map = |name: &str, version| object("ConfigMap", name, version, &json!({"data": {"x": version}}));
    assert_eq!(version(Watched::ConfigMaps, map("teams", 2)), first);
    assert_eq!(version(Watched::Secrets, object("Secret", "token", 3, &json!({"data": {"x": ""}}))), first);
    assert!(version(Watched::ConfigMaps, map("argocd-cm", 4)) > first);
    // The objects are those of the cache nevertheless.
    let (objects, _) = cache.control_plane();
    cache.apply(Watched::ConfigMaps, WatchEvent::Changed(map("teams", 5)));
    assert!(!Arc::ptr_eq(&objects, &cache.control_plane().0));
}

#[test]
fn own_writes_are_seen_before_the_watch_reports_them() {
    let cache = Cache::default();
    let set = ObjectName { namespace: "argocd".to_owned(), name: "a".to_owned() };
    let mut application = object("Application", "web", 7, &owned_by("a")).into_value();
    let _concerned = cache.remember(Watched::Applications, application.clone());
    assert_eq!(cache.applications(&set, &[]), [application.clone()]);
    let event = WatchEvent::Changed(object("Application", "web", 7, &owned_by("a")));
    assert!(cache.apply(Watched::Applications, event).is_empty());
    application["metadata"]["resourceVersion"] = json!("6");
    application["spec"] = json!({"old": true});
    let _concerned = cache.remember(Watched::Applications, application);
    assert_eq!(cache.applications(&set, &["web"])[0].get("spec"), None);
    let _concerned = cache.remember(Watched::Sets, object("ApplicationSet", "a", 1, &json!({})).into_value());
    assert_eq!(cache.set_counts(), [(set, "Unknown".to_owned(), 1)]);
}

#[test]
fn own_writes_concern_no_set() {
    let cache = Cache::default();
    let created = |name: &str, version| {
        let event = WatchEvent::Changed(object("Application", name, version, &owned_by("a")));
        cache.apply(Watched::Applications, event).len()
    };
    let name = |name: &str| ObjectName { namespace: "argocd".to_owned(), name: name.to_owned() };
    cache.begin_write(Watched::Applications, &name("web"));
    assert_eq!(created("web", 1), 0);
    cache.end_write(Watched::Applications, &name("web"));
    // The response was lost, and the event comes late.
    cache.begin_write(Watched::Applications, &name("late"));
    cache.end_write(Watched::Applications, &name("late"));
    assert_eq!(created("late", 2), 1);

    let set = |version, status: u8| object("ApplicationSet", "a", version, &json!({"status": {"x": status}}));
    let apply = |event| cache.apply(Watched::Sets, event).len();
    apply(WatchEvent::Listed(vec![set(3, 1)]));
    cache.begin_write(Watched::Sets, &name("a"));
    assert_eq!(apply(WatchEvent::Changed(set(4, 2))), 0);
    cache.end_write(Watched::Sets, &name("a"));
    assert!(!cache.take_rewritten(&name("a")));
    assert_eq!(apply(WatchEvent::Changed(set(5, 3))), 1);
    assert!(cache.take_rewritten(&name("a")));
    // A list may be older than an own write, whose event follows.
    let _concerned = cache.remember(Watched::Sets, set(7, 5).into_value());
    assert_eq!(apply(WatchEvent::Listed(vec![set(6, 4)])), 0);
    assert_eq!(apply(WatchEvent::Changed(set(7, 5))), 1);
}

#[test]
fn deletion_from_before_an_own_write_is_ignored() {
    let cache = Cache::default();
    let web = |version| object("Application", "web", version, &owned_by("a"));
    let set = ObjectName { namespace: "argocd".to_owned(), name: "a".to_owned() };
    let count = || cache.applications(&set, &[]).len();
    let apply = |event| cache.apply(Watched::Applications, event).len();
    apply(WatchEvent::Listed(vec![web(1)]));
    let _concerned = cache.remember(Watched::Applications, web(3).into_value());
    assert_eq!((apply(WatchEvent::Deleted(web(2))), count()), (0, 1));
    assert_eq!((apply(WatchEvent::Deleted(web(4))), count()), (1, 0));
    // The response of a write comes after the event of a later deletion.
    let _concerned = cache.remember(Watched::Applications, web(3).into_value());
    assert_eq!(count(), 0);
    let _concerned = cache.remember(Watched::Applications, web(5).into_value());
    assert_eq!(count(), 1);
}
