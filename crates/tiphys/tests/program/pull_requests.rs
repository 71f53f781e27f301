//! The first use case of the proposal for plugin generators: pull requests of GitHub, and the digests of their images from a plugin service.

use std::fs;

use tiphys_testkit::canned_server::{Canned, CannedServer};
use tiphys_testkit::git::Repository;
use tiphys_testkit::pull_requests::{GITHUB_TOKEN, PLUGIN_TOKEN, PullRequestServers};
use tiphys_testkit::workspace_root;

use crate::world::{Output, TIPHYS, World};

fn world(servers: &PullRequestServers) -> World {
    let world = World::with_helm();
    let files = world.with_files(&workspace_root().join("xtask/demo/pull-requests"));
    files.write("ca.pem", servers.authority.pem());
    files
}

fn run(world: &World, servers: &PullRequestServers, args: &[&str]) -> Output {
    let mut command = world.command(TIPHYS);
    command
        .args(args)
        .args(["--store=store", "--repo=git@github.com:binboum/argo-test.git=argo-test"])
        .arg(format!("--config=connectTo=myplugin.plugin.svc.cluster.local:80={}", servers.plugin.host()))
        .env("HTTPS_PROXY", servers.tunnel.url())
        .env("SSL_CERT_FILE", world.path("ca.pem"));
    world.finish(command)
}

#[test]
fn pull_requests_become_manifests_with_digests() {
    let servers = PullRequestServers::start();
    let world = world(&servers);
    let output = run(&world, &servers, &["render", "--config=appsets=all"]);
    assert_eq!((output.code, output.stderr.as_str()), (0, ""), "{}", output.stdout);
    let images: Vec<&str> =
        output.stdout.lines().filter_map(|line| line.trim().split("image: ").nth(1)).collect();
    assert_eq!(
        images,
        [
            "registry.my/argo-test/front:faster@sha256:argo-test-faster-front",
            "registry.my/argo-test/back:faster@sha256:argo-test-faster-back",
            "registry.my/argo-test/front:prettier@sha256:argo-test-prettier-front",
            "registry.my/argo-test/back:prettier@sha256:argo-test-prettier-back",
        ]
    );
    let asked: Vec<(String, String)> = servers
        .plugin
        .requests()
        .into_iter()
        .map(|request| (format!("{} {}", request.method, request.path), request.body))
        .collect();
    let body = |branch: &str| format!("{{\"branch\":\"{branch}\",\"repo\":\"argo-test\"}}\n");
    let call = || "POST /v1/generator.getParams".to_owned();
    assert_eq!(asked.len(), 2, "{asked:?}");
    for branch in ["faster", "prettier"] {
        assert!(asked.contains(&(call(), body(branch))), "{asked:?}");
    }
    let connected: Vec<String> = servers.tunnel.requests().into_iter().map(|request| request.path).collect();
    assert_eq!(connected, ["api.github.com:443"]);
}

#[test]
fn other_servers_are_asked_only_if_all_sets_take_part() {
    let servers = PullRequestServers::start();
    let world = world(&servers);
    let output = run(&world, &servers, &["render"]);
    assert_eq!(output.code, 2, "{}", output.stderr);
    assert!(
        output.stderr.contains(
            "application set argocd/fb-matrix is left out: its pullRequest generator asks another server"
        ),
        "{}",
        output.stderr
    );
    let offline = run(&world, &servers, &["appset", "generate", "--offline"]);
    assert_eq!(offline.code, 3, "{}", offline.stderr);
    assert!(servers.plugin.requests().is_empty() && servers.github.requests().is_empty());
}

#[test]
fn recorded_answers_have_no_secret_and_replace_the_servers() {
    let servers = PullRequestServers::start();
    let world = world(&servers);
    let asked = run(&world, &servers, &["appset", "generate", "--record=answers.json", "-vv"]);
    assert_eq!(asked.code, 0, "{}", asked.stderr);
    let recorded = fs::read_to_string(world.path("answers.json")).expect("the answers");
    for token in [GITHUB_TOKEN, PLUGIN_TOKEN] {
        for printed in [&recorded, &asked.stdout, &asked.stderr] {
            assert!(!printed.contains(token), "{printed}");
        }
    }
    drop(servers);
    let silent = PullRequestServers::start();
    let answered = run(&world, &silent, &["appset", "generate", "--answers=answers.json"]);
    assert_eq!((answered.code, answered.stdout), (0, asked.stdout), "{}", answered.stderr);
    assert!(silent.github.requests().is_empty() && silent.plugin.requests().is_empty());
}

#[test]
fn checkout_does_not_redirect_tokens_of_the_caller() {
    let servers = PullRequestServers::start();
    let world = world(&servers);
    // The checkout has the set and the ConfigMap, the caller the Secrets.
    let plugin = fs::read_to_string(world.path("store/plugin.yaml")).expect("the objects");
    let (config_map, secrets) = plugin.split_once("---\n").expect("several documents");
    world.write("own/secrets.yaml", secrets).write("store/plugin.yaml", config_map);
    fs::create_dir(world.path("store/.git")).expect("a repository");
    let output = run(&world, &servers, &["appset", "generate", "--store=own"]);
    assert_eq!(output.code, 3, "{}", output.stdout);
    assert!(
        output.stderr.contains("is not sent to the address of ConfigMap argocd/cm-plugin"),
        "{}",
        output.stderr
    );
    assert!(servers.plugin.requests().is_empty());
}

#[test]
fn wrong_tokens_and_missing_objects_are_reported() {
    let servers = PullRequestServers::start();
    for (from, to, expected) in [
        ("a-plugin-token", "another", "API error with status code 401: wrong token"),
        ("a-github-token", "another", "401"),
        ("name: cm-plugin", "name: cm-other", "ConfigMap \"cm-plugin\" not found"),
        ("plugin.myplugin.token: ", "other: ", "plugin.myplugin.token"),
    ] {
        let world = world(&servers);
        let plugin = fs::read_to_string(world.path("store/plugin.yaml")).expect("the objects");
        world.write("store/plugin.yaml", &plugin.replace(from, to));
        let output = run(&world, &servers, &["appset", "generate"]);
        assert_eq!((output.code, output.stdout.as_str()), (3, ""), "{from}: {}", output.stderr);
        assert!(output.stderr.contains(expected), "{from}: {}", output.stderr);
        assert!(!output.stderr.contains("another"), "{}", output.stderr);
    }
}

#[test]
fn change_does_not_send_tokens_to_its_servers() {
    let servers = PullRequestServers::start();
    let attacker = CannedServer::start(None, |_| Canned::new(200, "[]"));
    let world = world(&servers);
    let plugin = fs::read_to_string(world.path("store/plugin.yaml")).expect("the objects");
    let (config_map, secrets) = plugin.split_once("---\n").expect("several documents");
    world.write("own/secrets.yaml", secrets).write("store/plugin.yaml", config_map);
    for folder in ["store", "argo-test"] {
        Repository::init(world.path(folder)).commit("first");
    }
    let set = fs::read_to_string(world.path("store/set.yaml")).expect("the set");
    let args = ["diff", "--base=main", "--config=appsets=all", "--store=own", "-o", "name"];

    let own_address = config_map.replace("http://myplugin.plugin.svc.cluster.local", &attacker.url());
    world.write("store/plugin.yaml", &own_address);
    let output = run(&world, &servers, &args);
    assert_eq!(output.code, 5, "{}", output.stderr);
    assert!(
        output.stdout.starts_with("ApplicationSet argocd/fb-matrix: not compared: "),
        "{}",
        output.stdout
    );
    assert!(output.stderr.contains("ConfigMap argocd/cm-plugin is changed"), "{}", output.stderr);
    assert_eq!(servers.plugin.requests().len(), 2, "only the base asks");

    world.write("store/plugin.yaml", config_map);
    let output = run(&world, &servers, &args);
    assert_eq!((output.code, output.stdout.as_str()), (0, ""), "{}", output.stderr);
    assert_eq!(servers.plugin.requests().len(), 4, "both sides share the answers");

    let own_api = set
        .replace("name: fb-matrix\n", "name: mine\n")
        .replace("github:\n", &format!("github:\n                api: {}\n", attacker.url()));
    let own_config_map = set.replace("name: fb-matrix\n", "name: other\n").replace("cm-plugin", "cm-mine");
    world
        .write("store/mine.yaml", &own_api)
        .write("store/other.yaml", &own_config_map)
        .write("store/cm.yaml", &own_address.replace("cm-plugin", "cm-mine"));
    let output = run(&world, &servers, &args);
    assert_eq!(output.code, 5, "{}", output.stdout);
    for expected in [
        "application set argocd/mine (store/mine.yaml:11:9): ",
        "Secret argocd/github-secret (own/secrets.yaml:9:1) is not sent to the address of ApplicationSet argocd/mine",
        "application set argocd/other (store/other.yaml:11:9): ",
        "ConfigMap \"cm-mine\" not found at main; in a comparison, such objects are those of the base",
    ] {
        assert!(output.stderr.contains(expected), "{expected}: {}", output.stderr);
    }
    assert!(attacker.requests().is_empty(), "{:?}", attacker.requests());
}

#[test]
fn refused_token_stays_refused_in_a_comparison() {
    let servers = PullRequestServers::start();
    let attacker = CannedServer::start(None, |_| Canned::new(200, "[]"));
    let world = world(&servers);
    let set = fs::read_to_string(world.path("store/set.yaml")).expect("the set");
    let plugin = fs::read_to_string(world.path("store/plugin.yaml")).expect("the objects");
    let (config_map, secrets) = plugin.split_once("---\n").expect("several documents");
    // A link of the caller's store leads into the checkout.
    world
        .write("own/secrets.yaml", secrets)
        .write("store/plugin.yaml", config_map)
        .write("store/set.yaml", "")
        .write(
            "store/theirs.yaml",
            &set.replace("github:\n", &format!("github:\n                api: {}\n", attacker.url())),
        );
    std::os::unix::fs::symlink(world.path("store/theirs.yaml"), world.path("own/linked.yaml"))
        .expect("a link");
    for folder in ["store", "argo-test"] {
        Repository::init(world.path(folder)).commit("first");
    }
    for (args, code) in [
        (&["render", "--config=appsets=all"][..], 3),
        (&["diff", "--base=main", "--config=appsets=all", "-o", "name"], 5),
    ] {
        let output = run(&world, &servers, &[args, &["--store=own"]].concat());
        assert_eq!(output.code, code, "{}", output.stderr);
        assert!(output.stderr.contains("is not sent to the address of ApplicationSet"), "{}", output.stderr);
    }
    assert!(attacker.requests().is_empty(), "{:?}", attacker.requests());
}
