//! `tiphys render --watch` with a real API server and with a folder.

use serde_json::{Value, json};
use tiphys_testkit::kube_server::{KubeServer, LIMITED_TOKEN, RECORDED_TOKEN};
use tiphys_testkit::wait::until;

use crate::running::{Pipe, Running};
use crate::world::{Output, TIPHYS, URL, World};

const REPO: &str = "--repo=https://git.example.org/team/apps.git=repo";

/// A world with the project `team`, which permits everything, and with the application `other`, which has no dynamic parameters. The plugin
/// of all applications writes a line for each run.
fn world(namespace: &str) -> World {
    let world = World::new();
    let project = "apiVersion: argoproj.io/v1alpha1\nkind: AppProject\nmetadata: {name: team, namespace: argocd}\nspec:\n  \
                   sourceRepos: ['*']\n  destinations: [{server: '*', namespace: '*'}]\n  \
                   namespaceReadOnlyAllowlist: [{kind: ConfigMap, namespace: '*'}]\n";
    let plugin = "apiVersion: argoproj.io/v1alpha1\nkind: ConfigManagementPlugin\nmetadata: {name: logged}\n\
                  spec: {generate: {command: [logged.sh]}}\n";
    let script = "#!/bin/sh\necho \"$ARGOCD_APP_NAME $PARAM_GREETING\" >> \"$LOG\"\n\
                  echo \"{apiVersion: v1, kind: ConfigMap, metadata: {name: $ARGOCD_APP_NAME}, data: {greeting: '$PARAM_GREETING'}}\"\n";
    world
        .write("store/project.yaml", project)
        .write("plugins/logged/plugin.yaml", plugin)
        .write("plugins/logged/logged.sh", script);
    add_application(&world, namespace, "other", &[]);
    world
}

/// Adds an application with dynamic parameters: names, and ConfigMaps whose field `data.greeting` they read.
fn add_application(world: &World, namespace: &str, name: &str, parameters: &[(&str, &str)]) {
    let parameters: Vec<Value> = parameters
        .iter()
        .map(|(parameter, object)| {
            let reference = json!({"kind": "ConfigMap", "name": object, "path": ".data.greeting"});
            json!({"name": parameter, "resourceRef": reference})
        })
        .collect();
    let plugin = json!({"name": "logged", "dynamicParameters": parameters});
    let application = json!({
        "apiVersion": "argoproj.io/v1alpha1",
        "kind": "Application",
        "metadata": {"name": name, "namespace": "argocd"},
        "spec": {
            "project": "team",
            "source": {"repoURL": URL, "path": "plain", "plugin": plugin},
            "destination": {"server": "https://kubernetes.default.svc", "namespace": namespace},
        }
    });
    world.write(&format!("store/{name}.yaml"), &application.to_string());
}

/// The same world with the application `web`, whose parameter `greeting` comes from the ConfigMap `settings`.
fn world_with_web(namespace: &str) -> World {
    let world = world(namespace);
    add_application(&world, namespace, "web", &[("greeting", "settings")]);
    world
}

/// The ConfigMap `settings` with a greeting and another field.
fn settings(greeting: &str, other: &str) -> Value {
    json!({"metadata": {"name": "settings"}, "data": {"greeting": greeting, "other": other}})
}

fn config_map(name: &str, greeting: &str) -> Value {
    json!({"metadata": {"name": name}, "data": {"greeting": greeting}})
}

/// Permits the user of [`LIMITED_TOKEN`] verbs on ConfigMaps of a namespace; all, or only those with names.
fn permit(server: &KubeServer, namespace: &str, verbs: &[&str], names: &[&str]) {
    let mut rule = json!({"verbs": verbs, "apiGroups": [""], "resources": ["configmaps"]});
    if !names.is_empty() {
        rule["resourceNames"] = json!(names);
    }
    server.permit_in(namespace, "maps", &rule);
}

/// The arguments of the command. Applications are rendered one after the other unless the options permit more.
fn arguments<'a>(options: &[&'a str]) -> Vec<&'a str> {
    let args = ["render", "--watch", "--output-dir=out", "--store=store", "--plugins=plugins", REPO];
    [&args[..], &["--config=passEnv=LOG"], options].concat()
}

/// A command that has rendered and watches.
struct Watching<'a> {
    world: &'a World,
    running: Running,
    stderr: Pipe,
}

impl<'a> Watching<'a> {
    /// Starts the command with more options. `counts` is what it must watch.
    fn start(world: &'a World, options: &[&str], counts: &str) -> Self {
        let mut running = world.start_with("LOG", &world.path("log"), &arguments(options));
        let stderr = running.stderr();
        let watched = stderr.rest_of_line_with("watching: applications with dynamic parameters: ");
        assert_eq!(watched, counts);
        Self { world, running, stderr }
    }

    /// Waits until the application was rendered again, with a value.
    fn renders(&self, value: &str) {
        self.stderr.line_with("a value changed: rendering argocd/web");
        until(|| {
            self.world.read("out/argocd/web.yaml").contains(&format!("greeting: {value}\n")).then_some(())
        });
    }

    /// Ends the command. Returns the exit code and the runs of the plugin, without that for the application `other`.
    fn end(self, signal: &str) -> (i32, Vec<String>) {
        self.running.signal(self.world, signal);
        let code = self.running.finish(self.world).code;
        assert_eq!(self.world.left_behind(), Vec::<std::path::PathBuf>::new());
        let log = self.world.read("log");
        let (other, runs): (Vec<&str>, Vec<&str>) = log.lines().partition(|line| line.starts_with("other"));
        assert_eq!(other, ["other "]);
        (code, runs.into_iter().map(str::to_owned).collect())
    }
}

#[test]
fn changed_fields_of_a_cluster_are_rendered_again() {
    let server = KubeServer::start();
    let maps = "/api/v1/namespaces/watched/configmaps";
    let replace = |object: &Value| server.replace(&format!("{maps}/settings"), object);
    server.create("/api/v1/namespaces", &json!({"metadata": {"name": "watched"}}));
    server.create(maps, &settings("one", "a"));
    let world = world_with_web("watched");
    world.write("config", &server.kubeconfig(RECORDED_TOKEN));
    let watching = Watching::start(
        &world,
        &["--limit=jobs=1", "--config=kubeconfig=config"],
        "1, objects: 1, watches: 1",
    );
    replace(&settings("one", "b"));
    replace(&settings("two", "b"));
    watching.renders("two");
    server.delete(&format!("{maps}/settings"));
    watching.stderr.line_with("web: dynamic parameter \"greeting\"");
    assert!(world.read("out/argocd/web.yaml").contains("greeting: two\n"), "the last manifests stay");
    server.create(maps, &settings("two", "c"));
    replace(&settings("three", "c"));
    watching.renders("three");
    // A value of an object is read when the application is rendered first, and every further one comes from the watch.
    assert_eq!(
        reads(&server),
        [
            format!("get {maps}/settings"),
            format!("list {maps}?fieldSelector=metadata.name%3Dsettings&limit=500")
        ]
    );
    let (code, runs) = watching.end("INT");
    assert_eq!((code, runs), (130, ["web one", "web two", "web three"].map(str::to_owned).into()));
}

/// Returns the requests for ConfigMaps.
fn reads(server: &KubeServer) -> Vec<String> {
    server.recorded().into_iter().filter(|request| request.contains("/configmaps")).collect()
}

#[test]
fn objects_of_a_kind_and_namespace_share_a_watch() {
    let server = KubeServer::start();
    let maps = "/api/v1/namespaces/shared/configmaps";
    server.create("/api/v1/namespaces", &json!({"metadata": {"name": "shared"}}));
    for name in ["settings", "more", "unrelated"] {
        server.create(maps, &config_map(name, &format!("{name}-one")));
    }
    let world = world_with_web("shared");
    add_application(&world, "shared", "second", &[("greeting", "more"), ("again", "settings")]);
    world.write("config", &server.kubeconfig(RECORDED_TOKEN));
    let options = ["-vvv", "--limit=jobs=1", "--config=kubeconfig=config", "--limit=kube-watches-max=1"];
    let watching = Watching::start(&world, &options, "2, objects: 2, watches: 1");
    let replace = |name: &str, greeting: &str| {
        server.replace(&format!("{maps}/{name}"), &config_map(name, greeting));
    };
    replace("unrelated", "unrelated-two");
    replace("settings", "settings-two");
    watching.renders("settings-two");
    let mut requests = reads(&server);
    requests[..2].sort();
    assert_eq!(
        requests,
        [format!("get {maps}/more"), format!("get {maps}/settings"), format!("list {maps}?limit=500")]
    );
    let Watching { running, stderr, .. } = watching;
    running.signal(&world, "TERM");
    assert_eq!(running.finish(&world).code, 130);
    let unrelated: Vec<String> =
        stderr.rest().into_iter().filter(|line| line.contains("unrelated")).collect();
    assert_eq!(unrelated, Vec::<String>::new(), "objects without references are not logged");
}

#[test]
fn objects_are_watched_by_name_if_rbac_permits_no_more() {
    let server = KubeServer::shared();
    let maps = "/api/v1/namespaces/by-name/configmaps";
    server.create("/api/v1/namespaces", &json!({"metadata": {"name": "by-name"}}));
    for name in ["settings", "more"] {
        server.create(maps, &config_map(name, "one"));
    }
    permit(server, "by-name", &["get", "list", "watch"], &["settings", "more"]);
    let world = world("by-name");
    add_application(&world, "by-name", "web", &[("greeting", "settings"), ("more", "more")]);
    world.write("config", &server.kubeconfig(LIMITED_TOKEN));
    let options = ["--config=kubeconfig=config", "--limit=jobs=1"];
    let watching = Watching::start(&world, &options, "1, objects: 2, watches: 2");
    server.replace(&format!("{maps}/settings"), &config_map("settings", "two"));
    watching.renders("two");
    assert_eq!(watching.end("TERM"), (130, ["web one", "web two"].map(str::to_owned).into()));
    let mut limited = world.command(TIPHYS);
    limited
        .env("LOG", world.path("log"))
        .args(arguments(&[&options[..], &["--limit=kube-watches-max=1"]].concat()));
    assert_eq!(
        world.finish(limited),
        Output {
            code: 3,
            stdout: String::new(),
            stderr: "error: ConfigMap (2 objects) in namespace by-name cannot be watched: cluster test: cannot list ConfigMap: \
                     permission denied; grant the user of this cluster the verb (RBAC): HTTP status 403; a watch for each object would \
                     make 2 watches, at most 1 are permitted: limit kube-watches-max\n\
                     hint: grant the verbs get, list and watch for ConfigMap in namespace by-name (RBAC); --limit kube-watches-max=VALUE changes it\n"
                .to_owned(),
        }
    );
}

#[test]
fn missing_watch_permission_is_an_error() {
    let server = KubeServer::shared();
    let maps = "/api/v1/namespaces/unwatched/configmaps";
    server.create("/api/v1/namespaces", &json!({"metadata": {"name": "unwatched"}}));
    server.create(maps, &settings("one", "a"));
    permit(server, "unwatched", &["get", "list"], &[]);
    let world = world_with_web("unwatched");
    world.write("config", &server.kubeconfig(LIMITED_TOKEN));
    let mut command = world.command(TIPHYS);
    command.env("LOG", world.path("log")).args(arguments(&["--config=kubeconfig=config"]));
    assert_eq!(
        world.finish(command),
        Output {
            code: 3,
            stdout: String::new(),
            stderr: "error: ConfigMap settings in namespace unwatched cannot be watched: cluster test: cannot watch ConfigMap: \
                     permission denied; grant the user of this cluster the verb (RBAC): HTTP status 403\n\
                     hint: grant the verbs get, list and watch for ConfigMap in namespace unwatched (RBAC)\n"
                .to_owned(),
        }
    );
    assert!(world.read("out/argocd/web.yaml").contains("greeting: one\n"), "the first manifests stay");
}

#[test]
fn applications_of_one_change_are_rendered_concurrently() {
    let world = world("shop");
    add_application(&world, "shop", "a", &[("greeting", "settings")]);
    add_application(&world, "shop", "b", &[("greeting", "settings")]);
    // The run of `a` ends only with that of `b`, and the other way round.
    let script = "#!/bin/sh\ncase $ARGOCD_APP_NAME in\na) echo met > \"$LOG\" ;;\nb) read -r _ < \"$LOG\" ;;\nesac\n\
                  echo \"{apiVersion: v1, kind: ConfigMap, metadata: {name: $ARGOCD_APP_NAME}, data: {greeting: '$PARAM_GREETING'}}\"\n";
    world.write("plugins/logged/logged.sh", script);
    let mut mkfifo = world.command("mkfifo");
    mkfifo.arg(world.path("log"));
    assert_eq!(world.finish(mkfifo).code, 0);
    let write = |greeting: &str| world.write("live/settings.yaml", &live("settings", greeting, ""));
    write("one");
    let options = ["--limit=jobs=2", "--limit=plugin-timeout=30", "--cluster-state=live"];
    let watching = Watching::start(&world, &options, "2, objects: 0, watches: 0");
    write("two");
    for name in ["a", "b"] {
        let file = format!("out/argocd/{name}.yaml");
        until(|| world.read(&file).contains("greeting: two\n").then_some(()));
    }
    watching.running.signal(&world, "TERM");
    assert_eq!(watching.running.finish(&world).code, 130);
}

#[test]
fn failing_application_does_not_hold_back_others() {
    let world = world("shop");
    add_application(&world, "shop", "a", &[("greeting", "settings")]);
    add_application(&world, "shop", "web", &[("greeting", "settings")]);
    let script = "#!/bin/sh\n[ \"$ARGOCD_APP_NAME $PARAM_GREETING\" != 'a two' ] || exit 1\n\
                  echo \"{apiVersion: v1, kind: ConfigMap, metadata: {name: $ARGOCD_APP_NAME}, data: {greeting: '$PARAM_GREETING'}}\"\n";
    world.write("plugins/logged/logged.sh", script);
    world.write("live/settings.yaml", &live("settings", "one", ""));
    let watching = Watching::start(&world, &["--cluster-state=live"], "2, objects: 0, watches: 0");
    world.write("live/settings.yaml", &live("settings", "two", ""));
    watching.renders("two");
    assert!(world.read("out/argocd/a.yaml").contains("greeting: one\n"), "the last manifests stay");
    watching.running.signal(&world, "TERM");
    assert_eq!(watching.running.finish(&world).code, 130);
}

/// A document of a folder: a ConfigMap of the namespace `shop`.
fn live(name: &str, greeting: &str, other: &str) -> String {
    let object = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": "shop"},
                        "data": {"greeting": greeting, "other": other}});
    format!("---\n{object}\n")
}

#[test]
fn changed_fields_of_a_folder_are_rendered_again() {
    let world = world_with_web("shop");
    add_application(&world, "shop", "witness", &[("greeting", "seen")]);
    // Both objects are in one file: if a new value of the witness was rendered, the other object of the same time was read, too.
    let write = |settings: [&str; 2], seen: &str| {
        let [greeting, other] = settings;
        let content = [live("settings", greeting, other), live("seen", seen, "")].concat();
        world.write("live/new", &content);
        std::fs::rename(world.path("live/new"), world.path("live/all.yaml"))
            .expect("the file can be replaced");
    };
    write(["one", "a"], "1");
    let watching =
        Watching::start(&world, &["--limit=jobs=1", "--cluster-state=live"], "2, objects: 0, watches: 0");
    write(["one", "another field"], "2");
    watching.stderr.line_with("a value changed: rendering argocd/witness");
    until(|| world.read("out/argocd/witness.yaml").contains("greeting: '2'\n").then_some(()));
    world.write("live/more.yaml", "a: [");
    watching.stderr.line_with("more.yaml is not YAML");
    world.write("live/more.yaml", "");
    write(["two", "another field"], "2");
    watching.renders("two");
    let (code, mut runs) = watching.end("TERM");
    runs[..2].sort();
    assert_eq!(
        (code, runs),
        (130, ["web one", "witness 1", "witness 2", "web two"].map(str::to_owned).into())
    );
}

#[test]
fn watch_needs_a_directory_and_a_first_success() {
    let world = world_with_web("shop");
    let render = ["render", "--store=store", "--plugins=plugins", REPO, "--watch"];
    let output = world.run(&render);
    assert_eq!(output.code, 2, "{}", output.stderr);
    assert!(output.stderr.contains("--output-dir <DIR>"), "{}", output.stderr);
    let output = world.run(&[&render[..], &["--output-dir=out", "--cluster-state=repo/plain"]].concat());
    assert_eq!((output.code, world.path("out").exists()), (3, false), "{}", output.stderr);
}
