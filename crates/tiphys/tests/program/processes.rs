//! Processes of plugins are ended with the run, however it ends.

use std::path::Path;
use std::time::{Duration, Instant};

use tiphys_testkit::canned_server::{Canned, CannedServer, Pace};
use tiphys_testkit::chart_server::{ChartServer, Failure, Transport};
use tiphys_testkit::wait::until;

use crate::running::Running;
use crate::server_life;
use crate::world::{Output, URL, World};

const RENDER: &[&str] = &[
    "render",
    "--store=store",
    "--plugins=plugins",
    "--repo=https://git.example.org/team/apps.git=repo",
    "--config=passEnv=PIPE",
    "--output-dir=out",
];

/// A world with one application and its plugin. Descriptor 3 of the plugin's script and of its children is the pipe `$PIPE`.
fn world(script: &str) -> World {
    let world = World::new();
    let application = "apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: web, namespace: argocd}
spec:
  source: {repoURL: https://git.example.org/team/apps.git, path: plain, plugin: {name: holder}}
  destination: {namespace: shop}
";
    let plugin = "apiVersion: argoproj.io/v1alpha1
kind: ConfigManagementPlugin
metadata: {name: holder}
spec: {generate: {command: [holder.sh]}}
";
    world
        .write("store/web.yaml", application)
        .write("plugins/holder/plugin.yaml", plugin)
        .write("plugins/holder/holder.sh", &format!("#!/bin/sh\nexec 3> \"$PIPE\"\n{script}\n"));
    world
}

fn start(world: &World, args: &[&str]) -> Running {
    world.start_with("PIPE", &world.path("pipe"), &[RENDER, args].concat())
}

fn interrupted() -> Output {
    Output { code: 130, stdout: String::new(), stderr: "error: interrupted\n".to_owned() }
}

fn assert_nothing_is_left(world: &World) {
    assert_eq!(world.left_behind(), Vec::<std::path::PathBuf>::new());
    assert!(!world.path("out").exists(), "nothing is half-written");
}

/// A plugin with children, one of them in another process group.
const BUSY: &str = "setsid sleep 1000 &\nsleep 1000 &\necho started >&3\nwait";

/// The same, ignoring signals.
const STUBBORN: &str =
    "trap '' TERM INT HUP\nsetsid sleep 1000 &\necho started >&3\nwhile :; do sleep 1000; done";

#[test]
fn interrupted_render_leaves_no_process_directory_or_output() {
    for signal in ["INT", "TERM"] {
        let world = world(BUSY);
        let pipe = world.pipe("pipe");
        let running = start(&world, &[]);
        assert_eq!(pipe.line(), "started");
        running.signal(&world, signal);
        assert_eq!(running.finish(&world), interrupted(), "{signal}");
        pipe.ends();
        assert_nothing_is_left(&world);
    }
}

/// The thread of a chart request is abandoned.
#[test]
fn interrupted_fetch_does_not_wait_for_the_server() {
    let server = ChartServer::start(Transport::Plain);
    server.fail("/", Some(Failure::Hang));
    for (what, signal) in [
        ("chart: web, targetRevision: 1.0.0", "INT"),
        ("chart: web, targetRevision: 1.0.0", "TERM"),
        ("path: web, targetRevision: main", "INT"),
        ("path: web, targetRevision: main", "TERM"),
    ] {
        let application = format!(
            "apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {{name: web, namespace: argocd}}
spec:
  source: {{repoURL: {}, {what}}}
  destination: {{namespace: shop}}
",
            server.url()
        );
        let world = World::new();
        world.write("store/web.yaml", &application);
        server.forget();
        let running = world.start(&["render", "--store=store", "--output-dir=out"]);
        server.wait_for("/");
        let begun = Instant::now();
        running.signal(&world, signal);
        assert_eq!(running.finish(&world), interrupted(), "{what} {signal}");
        assert!(begun.elapsed() < Duration::from_secs(10), "{what} {signal}: {:?}", begun.elapsed());
        assert_nothing_is_left(&world);
    }
}

/// The first generator of the matrix is a plugin service. After its answer, each of the templates needs many steps.
#[test]
fn interrupted_generate_waits_for_no_answer_and_no_matrix() {
    for (what, pace) in [("answer", Pace::Late(Duration::from_secs(1000))), ("matrix", Pace::Immediate)] {
        let server = CannedServer::start(None, move |_| {
            let items = vec!["{}"; 1_000].join(",");
            Canned::new(200, format!("{{\"output\": {{\"parameters\": [{items}]}}}}")).at(pace)
        });
        let set = format!(
            "apiVersion: argoproj.io/v1alpha1
kind: ApplicationSet
metadata: {{name: many, namespace: argocd}}
spec:
  goTemplate: true
  generators:
    - matrix:
        generators:
          - plugin: {{configMapRef: {{name: service}}}}
          - list: {{elements: [{{a: b}}]}}
  template:
    metadata: {{name: '{{{{ range until 300000 }}}}{{{{ end }}}}'}}
    spec: {{project: default, source: {{repoURL: '{URL}', path: plain}}, destination: {{name: in-cluster}}}}
---
{{apiVersion: v1, kind: ConfigMap, metadata: {{name: service, namespace: argocd}}, data: {{baseUrl: '{}', token: $key}}}}
---
{{apiVersion: v1, kind: Secret, metadata: {{name: argocd-secret, namespace: argocd}}, stringData: {{key: any}}}}
",
            server.url()
        );
        let world = World::new();
        world.write("store/set.yaml", &set);
        let running = world.start(&["appset", "generate", "--store=store"]);
        until(|| (!server.requests().is_empty()).then_some(()));
        let begun = Instant::now();
        running.signal(&world, "INT");
        assert_eq!(running.finish(&world), interrupted(), "{what}");
        assert!(begun.elapsed() < Duration::from_secs(10), "{what}: {:?}", begun.elapsed());
    }
}

/// git has a process group of its own, and writes to the cache.
#[test]
fn git_ends_with_a_killed_tiphys() {
    let world = World::new();
    let application = "apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: web, namespace: argocd}
spec:
  source: {repoURL: https://git.example.org/team/apps.git, path: plain}
  destination: {namespace: shop}
";
    // Queries of the local repository end by themselves.
    let git = format!(
        "#!/bin/sh\ncase $1 in --version | config) exec /usr/bin/git \"$@\" ;; esac\nexec 3> {}\necho started >&3\nexec sleep 1000\n",
        world.path("pipe").display()
    );
    world.write("store/web.yaml", application).write("bin/git", &git);
    let pipe = world.pipe("pipe");
    let path = format!("{}:/usr/bin:/bin", world.path("bin").display());
    let running = world.start_with("PATH", Path::new(&path), &["render", "--store=store"]);
    assert_eq!(pipe.line(), "started");
    running.signal(&world, "KILL");
    assert_eq!(running.finish(&world).code, 128 + 9);
    pipe.ends();
}

#[test]
fn interrupted_revision_diff_leaves_no_process_or_output() {
    let world = world(BUSY);
    let mut git = world.command("sh");
    let commit = "mkdir repo/apps && cp store/web.yaml repo/apps && git -C repo init --quiet --initial-branch=main \
                  && git -C repo add --all && git -C repo commit --quiet -m first \
                  && sed -i s/plain,/marked,/ repo/apps/web.yaml";
    git.args(["-c", commit]);
    assert_eq!(world.finish(git).code, 0, "the repository is made");
    let pipe = world.pipe("pipe");
    let arguments = [
        "diff",
        "--base=main",
        "--store=repo/apps",
        "--plugins=plugins",
        "--repo=https://git.example.org/team/apps.git=repo",
        "--config=passEnv=PIPE",
        "--limit=jobs=1",
    ];
    let running = world.start_with("PIPE", &world.path("pipe"), &arguments);
    assert_eq!(pipe.line(), "started");
    running.signal(&world, "INT");
    assert_eq!(running.finish(&world), interrupted());
    pipe.ends();
    assert_nothing_is_left(&world);
}

#[test]
fn second_signal_ends_a_command_at_once() {
    let world = world("trap 'echo asked >&3' TERM\necho started >&3\nwhile :; do sleep 1000; done");
    let pipe = world.pipe("pipe");
    let running = start(&world, &[]);
    assert_eq!(pipe.line(), "started");
    running.signal(&world, "INT");
    assert_eq!(pipe.line(), "asked");
    running.signal(&world, "INT");
    assert_eq!(running.finish(&world), interrupted());
    pipe.ends();
}

#[test]
fn plugin_that_ignores_sigterm_is_killed_with_its_children() {
    let world = world(STUBBORN);
    let pipe = world.pipe("pipe");
    let running = start(&world, &["--limit=plugin-timeout=1"]);
    assert_eq!(pipe.line(), "started");
    let output = running.finish(&world);
    assert_eq!((output.code, output.stdout.as_str()), (3, ""));
    assert!(
        output.stderr.contains("plugin \"holder\": generate: `holder.sh` did not end within"),
        "{output:?}"
    );
    pipe.ends();
    assert_nothing_is_left(&world);
}

#[test]
fn daemon_that_keeps_the_output_open_is_ended() {
    let object = "echo '{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}'";
    let world = world(&format!("{object}\nsetsid sleep 1000 &\necho started >&3"));
    let pipe = world.pipe("pipe");
    let output = start(&world, &["--set-namespace"]).finish(&world);
    assert_eq!(output, Output { code: 0, stdout: String::new(), stderr: String::new() });
    assert_eq!(pipe.line(), "started");
    pipe.ends();
    assert_eq!(world.left_behind(), Vec::<std::path::PathBuf>::new());
    let written = std::fs::read_to_string(world.path("out/argocd/web.yaml")).expect("the file is written");
    assert!(written.contains("name: a\n"), "{written}");
}

#[test]
fn killed_command_is_cleaned_up_by_the_next_one() {
    let world = world(STUBBORN);
    let pipe = world.pipe("pipe");
    let running = start(&world, &[]);
    assert_eq!(pipe.line(), "started");
    running.signal(&world, "KILL");
    assert_eq!(running.finish(&world).code, 128 + 9);
    // The launcher detects that tiphys has ended.
    pipe.ends();
    let again = world.run(&["params", "list", "web", "--store=store", "--plugins=plugins", RENDER[3]]);
    assert_eq!((again.code, again.stderr.as_str()), (0, "argocd/web has no parameters\n"));
    assert_nothing_is_left(&world);
}

/// Kills its launcher. Only the pipe identifies the processes that it started.
const KILLS_LAUNCHER: &str = "launcher=$PPID\ntrap '' TERM\n\
    env -i setsid sh -c 'trap \"\" TERM; setsid sh -c \"sleep 1000; true\" & sleep 1000; true' &\n\
    echo started >&3\nkill -KILL $launcher\nsleep 1000\n";

#[test]
fn plugin_that_kills_its_launcher_is_ended() {
    let world = world(KILLS_LAUNCHER);
    let pipe = world.pipe("pipe");
    let output = start(&world, &[]).finish(&world);
    assert_eq!((output.code, output.stdout.as_str()), (3, ""));
    assert!(output.stderr.contains("launcher: died while a command ran"), "{output:?}");
    assert_eq!(pipe.line(), "started");
    pipe.ends();
    assert_nothing_is_left(&world);
}

#[test]
fn plugin_of_server_that_kills_its_launcher_keeps_its_slot() {
    let world = server_life::world(KILLS_LAUNCHER);
    let pipe = world.pipe("pipe");
    let server = server_life::server(&world, &["--limit=jobs=1", "--metrics-address=0"]);
    let mut running = Running::of(server);
    let log = running.stderr();
    let address = log.rest_of_line_with("metrics are on http://");
    let address = address.split('/').next().expect("an address");
    log.line_with("serving on");
    let output = server_life::render(&world).finish(&world);
    assert_eq!((output.code, output.stdout.as_str()), (3, ""));
    assert!(output.stderr.contains("launcher: died while a command ran"), "{output:?}");
    assert_eq!(pipe.line(), "started");
    let (_, metrics) = server_life::get(address, "/metrics");
    assert!(metrics.contains("tiphys_cmp_runs 1\n"), "{metrics}");
    pipe.ends();
    log.line_with("cannot end a run: launcher: died before it ended the run: signal: 9 (SIGKILL)");
    until(|| server_life::get(address, "/metrics").1.contains("tiphys_cmp_runs 0\n").then_some(()));
    running.signal(&world, "TERM");
    assert_eq!(running.finish(&world).code, 0);
    assert_eq!(world.left_behind_but(&["tiphys-cmp-server"]), Vec::<std::path::PathBuf>::new());
}

#[test]
fn plugin_of_the_server_sees_only_its_own_view() {
    // Without overlays, no mount hides the other directories.
    let script = "[ \"$(stat -f -c %T .)\" = overlayfs ] && seen=$(ls ../../../../..) || seen=runs\n\
                  echo \"{apiVersion: v1, kind: ConfigMap, metadata: {name: seen-$seen}}\"";
    let world = server_life::world(script);
    let pipe = world.pipe("pipe");
    let (server, _log) = server_life::serving(server_life::server(&world, &[]));
    let output = server_life::render(&world).finish(&world);
    assert!(output.stdout.contains("name: seen-runs\n"), "{output:?}");
    pipe.ends();
    server.signal(&world, "TERM");
    assert_eq!(server.finish(&world).code, 0);
}
