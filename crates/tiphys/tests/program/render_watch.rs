//! `tiphys render --watch` with a real API server and with a folder.

use serde_json::{Value, json};
use tiphys_testkit::kube_server::{KubeServer, RECORDED_TOKEN};
use tiphys_testkit::wait::until;

use crate::running::{Pipe, Running};
use crate::world::{URL, World};

/// A world with an application whose plugin gets the field `data.greeting` of the ConfigMap `settings`, and writes a line for each run.
fn world(namespace: &str) -> World {
    let world = World::new();
    let application = format!(
        "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {{name: web, namespace: argocd}}\nspec:\n  project: team\n  \
         source:\n    repoURL: {URL}\n    path: plain\n    plugin:\n      name: logged\n      dynamicParameters:\n      \
         - {{name: greeting, resourceRef: {{kind: ConfigMap, name: settings, path: .data.greeting}}}}\n  \
         destination: {{server: https://kubernetes.default.svc, namespace: {namespace}}}\n"
    );
    let other = format!(
        "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {{name: other, namespace: argocd}}\nspec:\n  project: team\n  \
         source: {{repoURL: {URL}, path: plain, plugin: {{name: logged}}}}\n  \
         destination: {{server: https://kubernetes.default.svc, namespace: {namespace}}}\n"
    );
    let project = "apiVersion: argoproj.io/v1alpha1\nkind: AppProject\nmetadata: {name: team, namespace: argocd}\nspec:\n  \
                   sourceRepos: ['*']\n  destinations: [{server: '*', namespace: '*'}]\n  \
                   namespaceReadOnlyAllowlist: [{kind: ConfigMap, namespace: '*'}]\n";
    let plugin = "apiVersion: argoproj.io/v1alpha1\nkind: ConfigManagementPlugin\nmetadata: {name: logged}\n\
                  spec: {generate: {command: [logged.sh]}}\n";
    let script = "#!/bin/sh\necho \"$ARGOCD_APP_NAME $PARAM_GREETING\" >> \"$LOG\"\n\
                  echo \"{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {greeting: '$PARAM_GREETING'}}\"\n";
    world
        .write("store/web.yaml", &application)
        .write("store/other.yaml", &other)
        .write("store/project.yaml", project)
        .write("plugins/logged/plugin.yaml", plugin)
        .write("plugins/logged/logged.sh", script);
    world
}

/// A command that has rendered and watches.
struct Watching<'a> {
    world: &'a World,
    running: Running,
    stderr: Pipe,
}

impl<'a> Watching<'a> {
    fn start(world: &'a World, cluster: &str) -> Self {
        let repo = format!("--repo={URL}=repo");
        let args = ["render", "--watch", "--output-dir=out", "--store=store", "--plugins=plugins", &repo];
        let args = [&args[..], &["--pass-env=LOG", "--jobs=1", cluster]].concat();
        let mut running = world.start_with("LOG", &world.path("log"), &args);
        let stderr = running.stderr();
        stderr.line_with("watching: applications with dynamic parameters: 1, ");
        Self { world, running, stderr }
    }

    /// Waits until the application was rendered again, with a value.
    fn renders(&self, value: &str) {
        self.stderr.line_with("a value changed: rendering argocd/web");
        until(|| {
            self.world.read("out/argocd/web.yaml").contains(&format!("greeting: {value}\n")).then_some(())
        });
    }

    /// Ends the command. Returns the exit code and the runs of the plugin for the application, after the first ones.
    fn end(self, signal: &str) -> (i32, Vec<String>) {
        self.running.signal(self.world, signal);
        let code = self.running.finish(self.world).code;
        assert_eq!(self.world.left_behind(), Vec::<std::path::PathBuf>::new());
        let log = self.world.read("log");
        let mut lines: Vec<String> = log.lines().map(str::to_owned).collect();
        // Both applications are rendered at the beginning.
        lines[..2].sort();
        assert_eq!(lines[0], "other ");
        (code, lines.split_off(1))
    }
}

#[test]
fn changed_fields_of_a_cluster_are_rendered_again() {
    let server = KubeServer::start();
    let maps = "/api/v1/namespaces/watched/configmaps";
    let settings = |greeting: &str, other: &str| json!({"metadata": {"name": "settings"}, "data": {"greeting": greeting, "other": other}});
    let replace = |object: &Value| server.replace(&format!("{maps}/settings"), object);
    server.create("/api/v1/namespaces", &json!({"metadata": {"name": "watched"}}));
    server.create(maps, &settings("one", "a"));
    let world = world("watched");
    world.write("config", &server.kubeconfig(RECORDED_TOKEN));
    let watching = Watching::start(&world, "--kubeconfig=config");
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
    let reads = server.recorded();
    let reads: Vec<&String> = reads.iter().filter(|request| request.contains("/configmaps")).collect();
    assert_eq!(
        reads,
        [
            &format!("get {maps}/settings"),
            &format!("list {maps}?fieldSelector=metadata.name%3Dsettings&limit=500")
        ]
    );
    let (code, runs) = watching.end("INT");
    assert_eq!((code, runs), (130, ["web one", "web two", "web three"].map(str::to_owned).into()));
}

#[test]
fn changed_fields_of_a_folder_are_rendered_again() {
    let world = world("shop");
    let settings = |greeting: &str, other: &str| {
        let object = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "settings", "namespace": "shop"},
                            "data": {"greeting": greeting, "other": other}});
        object.to_string()
    };
    world.write("live/settings.yaml", &settings("one", "a"));
    let watching = Watching::start(&world, "--cluster-state=live");
    world.write("live/settings.yaml", &settings("one", "another field"));
    world.write("live/more.yaml", "a: [");
    watching.stderr.line_with("more.yaml is not YAML");
    world.write("live/more.yaml", "");
    world.write("live/settings.yaml", &settings("two", "b"));
    watching.renders("two");
    let (code, runs) = watching.end("TERM");
    assert_eq!((code, runs), (130, ["web one", "web two"].map(str::to_owned).into()));
}

#[test]
fn watch_needs_a_directory_and_a_first_success() {
    let world = world("shop");
    let repo = format!("--repo={URL}=repo");
    let render = ["render", "--store=store", "--plugins=plugins", &repo, "--watch"];
    let output = world.run(&render);
    assert_eq!(output.code, 2, "{}", output.stderr);
    assert!(output.stderr.contains("--output-dir <DIR>"), "{}", output.stderr);
    let output = world.run(&[&render[..], &["--output-dir=out", "--cluster-state=repo/plain"]].concat());
    assert_eq!((output.code, world.path("out").exists()), (3, false), "{}", output.stderr);
}
