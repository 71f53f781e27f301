//! The setups of `docs/ci.md` on a hostile pull request. Their commands are read from the page.

use std::fs;

use tiphys_testkit::git::Repository;
use tiphys_testkit::workspace_root;

use crate::refused_access::server;
use crate::world::{Output, URL, World};

/// `robot:pw` and `me:own` in base64: the job's Secret, and its git credentials.
const SECRET: &str = "Basic cm9ib3Q6cHc=";

/// A server that is only reachable through a proxy.
const TRUSTED: &str = "http://git.trusted.invalid";

/// Returns the command of a workflow in `docs/ci.md` that calls tiphys.
fn command_of(workflow: &str) -> String {
    let page = fs::read_to_string(workspace_root().join("docs/ci.md")).expect("the page can be read");
    let start = page.find(&format!("<!-- tested: file {workflow} -->")).expect("the page has the workflow");
    let line = page[start..].lines().find_map(|line| line.trim().strip_prefix("- run: tiphys "));
    format!("tiphys {}", line.expect("the workflow calls tiphys"))
}

/// The team's repository at the base: an Application of a kustomization.
fn team(world: &World, checkout: &str) -> Repository {
    let application = format!(
        "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {{name: web, namespace: argocd}}\nspec:\n  \
         destination: {{namespace: web}}\n  source: {{repoURL: '{URL}', targetRevision: main, path: web, kustomize: {{namePrefix: eu-}}}}\n"
    );
    world
        .write(&format!("{checkout}/apps/web.yaml"), &application)
        .write(&format!("{checkout}/web/kustomization.yaml"), "resources: [cm.yaml]\n")
        .write(
            &format!("{checkout}/web/cm.yaml"),
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web}\ndata: {is: old}\n",
        );
    let repository = Repository::init(world.path(checkout));
    repository.git(&["remote", "add", "origin", URL]);
    repository.commit("first");
    repository.git(&["update-ref", "refs/remotes/origin/main", "HEAD"]);
    repository.git(&["switch", "--quiet", "--create", "change"]);
    repository
}

/// The hostile head: a generator program and the build options that run it, a Secret that sends credentials to another proxy with an
/// Application that uses it, and a local repository.
fn attack(world: &World, checkout: &str, repository: &Repository, proxy: &str) {
    let write = |path: &str, text: &str| {
        world.write(&format!("{checkout}/{path}"), text);
    };
    write("web/kustomization.yaml", "resources: [cm.yaml]\ngenerators: [generator.yaml]\n");
    write(
        "web/generator.yaml",
        "apiVersion: example.org/v1\nkind: Generator\nmetadata:\n  name: g\n  annotations:\n    config.kubernetes.io/function: |\n      \
         exec: {path: /bin/sh, args: [attack.sh]}\n",
    );
    let marker = world.path("home/attacked").display().to_string();
    write("web/attack.sh", &format!("#!/bin/sh\ntouch {marker}\ncat\n"));
    write(
        "apps/cm.yaml",
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: argocd-cm, namespace: argocd}\ndata:\n  kustomize.buildOptions: \
         --enable-alpha-plugins --enable-exec\n",
    );
    write(
        "apps/secret.yaml",
        &format!(
            "apiVersion: v1\nkind: Secret\nmetadata: {{name: s, labels: {{argocd.argoproj.io/secret-type: repository}}}}\n\
             stringData: {{url: '{TRUSTED}/team/lib.git', proxy: 'http://{proxy}', insecure: 'true'}}\n"
        ),
    );
    for (name, url) in [
        ("credentials", format!("{TRUSTED}/team/lib.git")),
        ("files", format!("file://{}", world.path("private").display())),
    ] {
        let application = format!(
            "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {{name: {name}, namespace: argocd}}\nspec:\n  \
             destination: {{namespace: web}}\n  source: {{repoURL: '{url}', path: plain}}\n"
        );
        write(&format!("apps/{name}.yaml"), &application);
    }
    repository.commit("attack");
}

fn run(world: &World, directory: &str, command: &str) -> Output {
    let mut shell = world.command("sh");
    shell.args(["-c", command]).current_dir(world.path(directory)).env("CI", "true").env("TARGET", "main");
    world.finish(shell)
}

/// A world with the environment of a job: git credentials, and a private repository beside the checkout.
fn world() -> World {
    let world = World::with_kustomize();
    world.write(
        "home/.gitconfig",
        "[credential]\n\thelper = \"!f() { echo username=me; echo password=own; }; f\"\n",
    );
    world.write("private/plain/cm.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: private}\n");
    Repository::init(world.path("private")).commit("first");
    world
}

#[test]
fn hostile_pull_request_gets_nothing_in_the_setup_for_strangers() {
    let (proxy, authorizations) = server();
    let world = world();
    let repository = team(&world, "checkout");
    world.write(
        "checkout/web/cm.yaml",
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web}\ndata: {is: new}\n",
    );
    repository.commit("a harmless commit");
    let command = command_of("workflow.yaml");
    let honest = run(&world, "checkout", &command);
    assert_eq!(honest.code, 0, "{}", honest.stderr);
    assert!(world.read("checkout/comment.md").contains("+  is: new"), "{}", honest.stderr);
    fs::remove_file(world.path("checkout/comment.md")).expect("remove_file");

    attack(&world, "checkout", &repository, &proxy);
    let attacked = run(&world, "checkout", &command);
    assert_eq!(attacked.code, 3, "{}", attacked.stderr);
    assert!(!world.path("home/attacked").exists(), "a program of the head ran");
    assert_eq!(authorizations.try_iter().collect::<Vec<_>>(), Vec::<String>::new());
    assert!(!world.read("checkout/comment.md").contains("name: private"));

    // The attack works: if the head is trusted, its program runs.
    let trusted = run(&world, "checkout", &format!("{command} --plugins-from head"));
    assert!(world.path("home/attacked").exists(), "{}", trusted.stderr);
}

#[test]
fn hostile_pull_request_gets_nothing_in_the_setup_for_a_team() {
    let (proxy, authorizations) = server();
    let world = world();
    let repository = team(&world, "job/change");
    world.write(
        "job/settings/cm.yaml",
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: argocd-cm, namespace: argocd}\ndata: {application.resourceTrackingMethod: label}\n",
    );
    Repository::init(world.path("job/settings")).commit("first");
    world.write(
        "job/secrets.yaml",
        &format!(
            "apiVersion: v1\nkind: Secret\nmetadata: {{name: t, labels: {{argocd.argoproj.io/secret-type: repo-creds}}}}\n\
             stringData: {{url: '{TRUSTED}', username: robot, password: pw}}\n"
        ),
    );
    let command = command_of("team.yaml");
    let honest = run(&world, "job", &command);
    assert_eq!(honest.code, 0, "{}", honest.stderr);
    let rendered = fs::read_dir(world.path("job/rendered/argocd")).expect("it was rendered");
    assert_eq!(rendered.count(), 1);
    fs::remove_dir_all(world.path("job/rendered")).expect("remove_dir_all");

    attack(&world, "job/change", &repository, &proxy);
    let attacked = run(&world, "job", &command);
    assert_eq!(attacked.code, 3, "{}", attacked.stderr);
    assert!(!world.path("home/attacked").exists(), "a program of the head ran");
    assert_eq!(authorizations.try_iter().collect::<Vec<_>>(), Vec::<String>::new());
    assert!(!world.path("job/rendered").exists(), "a failure leaves no output");
    let linked =
        run(&world, "job/change", &format!("{} --keep-going", command.replace("--output-dir rendered", "")));
    assert!(!linked.stdout.contains("name: private"), "{}", linked.stdout);

    // The attack works: if the head is trusted, its program runs and its proxy gets the job's Secret.
    let trusted = run(&world, "job", &format!("{command} --trust-repository-settings"));
    assert!(world.path("home/attacked").exists(), "{}", trusted.stderr);
    assert!(authorizations.try_iter().any(|one| one == SECRET));
}
