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

/// Returns the commands of a workflow in `docs/ci.md` that read the checkout, as one script.
fn commands_of(workflow: &str) -> String {
    let page = fs::read_to_string(workspace_root().join("docs/ci.md")).expect("the page can be read");
    let start = page.find(&format!("<!-- tested: file {workflow} -->")).expect("the page has the workflow");
    let end = page[start..].find("\n```\n").map_or(page.len(), |length| start + length);
    let lines =
        page[start..end].lines().map(|line| line.trim().trim_start_matches("- ").trim_start_matches("run: "));
    let commands: Vec<&str> =
        lines.filter(|line| line.starts_with("tiphys ") || line.starts_with("git fetch ")).collect();
    assert!(!commands.is_empty(), "the workflow calls tiphys");
    commands.join(" && ")
}

/// The team's repository: `main` has an Application of a kustomization and a project file, `change` is the branch of a pull request.
pub(crate) fn team(world: &World, project_file: &str) -> Repository {
    let application = format!(
        "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {{name: web, namespace: argocd}}\nspec:\n  \
         destination: {{namespace: web}}\n  source: {{repoURL: '{URL}', targetRevision: main, path: web, kustomize: {{namePrefix: eu-}}}}\n"
    );
    world
        .write("team/.tiphys.yaml", project_file)
        .write("team/apps/web.yaml", &application)
        .write("team/web/kustomization.yaml", "resources: [cm.yaml]\n")
        .write("team/web/cm.yaml", &config_map("old"));
    let repository = Repository::init(world.path("team"));
    repository.commit("first");
    repository.git(&["switch", "--quiet", "--create", "change"]);
    world.write("team/web/cm.yaml", &config_map("new"));
    repository.commit("a harmless commit");
    // The base branch goes on.
    repository.git(&["switch", "--quiet", "main"]);
    world.write("team/README", "later\n");
    repository.commit("later");
    repository.git(&["switch", "--quiet", "change"]);
    repository
}

fn config_map(content: &str) -> String {
    format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: web}}\ndata: {{is: {content}}}\n")
}

/// Checks a commit out as CI services do: detached, shallow, without a default branch of the remote.
pub(crate) fn check_out(
    world: &World,
    upstream: &Repository,
    origin: &str,
    commit: &str,
    depth: u32,
    directory: &str,
) {
    if world.path(directory).exists() {
        fs::remove_dir_all(world.path(directory)).expect("remove_dir_all");
    }
    fs::create_dir_all(world.path(directory)).expect("create_dir_all");
    let checkout = Repository::init(world.path(directory));
    checkout.git(&["remote", "add", "origin", origin]);
    let (depth, refspec) = (format!("--depth={depth}"), format!("+{commit}:refs/remotes/pull/1/merge"));
    checkout.git(&["fetch", "--quiet", "--no-tags", &depth, &upstream.url(), &refspec]);
    checkout.git(&["checkout", "--quiet", "--force", "refs/remotes/pull/1/merge"]);
}

/// The merge of the pull request with its base, which GitHub checks out.
pub(crate) fn merge(upstream: &Repository) -> String {
    upstream.git(&["switch", "--quiet", "--detach", "main"]);
    upstream.git(&["merge", "--quiet", "--no-ff", "--message", "merge", "change"]);
    let merged = upstream.head();
    upstream.git(&["switch", "--quiet", "change"]);
    merged
}

/// The hostile head: a generator program and the build options that run it, a Secret that sends credentials to another proxy with an
/// Application that uses it, and a local repository.
fn attack(world: &World, repository: &Repository, proxy: &str) {
    let write = |path: &str, text: &str| {
        world.write(&format!("team/{path}"), text);
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

/// A project file of the hostile head that trusts its settings.
fn attack_by_project_file(world: &World, repository: &Repository) {
    world.write(
        "team/.tiphys.yaml",
        "store: apps\ntrustRepositorySettings: [apps/cm.yaml, apps/secret.yaml]\nprojectRules: warn\n",
    );
    repository.commit("attack by the project file");
}

fn run(world: &World, directory: &str, command: &str) -> Output {
    let mut shell = world.command("sh");
    shell
        .args(["-c", command])
        .current_dir(world.path(directory))
        .env("CI", "true")
        .env("TARGET", "main")
        .env("UPSTREAM", URL);
    world.finish(shell)
}

/// A world with the environment of a job: git credentials, and a private repository beside the checkout.
pub(crate) fn world() -> World {
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
    let upstream = team(&world, "store: apps\n");
    let command = commands_of("workflow.yaml");
    let checked = |command: &str| {
        check_out(&world, &upstream, URL, &merge(&upstream), 2, "checkout");
        run(&world, "checkout", command)
    };
    let honest = checked(&command);
    assert_eq!(honest.code, 0, "{}", honest.stderr);
    let comment = world.read("checkout/comment.md");
    assert!(comment.contains("-  is: old\n+  is: new"), "{comment}{}", honest.stderr);

    attack(&world, &upstream, &proxy);
    for attack in ["settings", "project file"] {
        let attacked = checked(&command);
        assert_eq!(attacked.code, 5, "{attack}: {}", attacked.stderr);
        assert!(!world.path("home/attacked").exists(), "{attack}: a program of the head ran");
        assert_eq!(authorizations.try_iter().collect::<Vec<_>>(), Vec::<String>::new(), "{attack}");
        assert!(!world.read("checkout/comment.md").contains("name: private"), "{attack}");
        attack_by_project_file(&world, &upstream);
    }

    // The attack works: if the head is trusted, its program runs.
    let trusted =
        checked(&format!("{} --plugins-from head", command.replace("--config base", "--config none")));
    assert!(world.path("home/attacked").exists(), "{}", trusted.stderr);
}

#[test]
fn hostile_pull_request_gets_nothing_in_the_setup_for_a_team() {
    let (proxy, authorizations) = server();
    let world = world();
    let upstream = team(&world, "store: apps\n");
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
    let command = commands_of("team.yaml");
    let checked = |directory: &str, command: &str| {
        check_out(&world, &upstream, URL, &merge(&upstream), 1, "job/change");
        run(&world, directory, command)
    };
    let honest = checked("job", &command);
    assert_eq!(honest.code, 0, "{}", honest.stderr);
    let rendered = fs::read_dir(world.path("job/rendered/argocd")).expect("it was rendered");
    assert_eq!(rendered.count(), 1);
    assert!(world.read("job/rendered/argocd/web.yaml").contains("is: new"), "{}", honest.stderr);
    fs::remove_dir_all(world.path("job/rendered")).expect("remove_dir_all");

    attack(&world, &upstream, &proxy);
    let attacked = checked("job", &command);
    assert_eq!(attacked.code, 3, "{}", attacked.stderr);
    assert!(!world.path("home/attacked").exists(), "a program of the head ran");
    assert_eq!(authorizations.try_iter().collect::<Vec<_>>(), Vec::<String>::new());
    assert!(!world.path("job/rendered").exists(), "a failure leaves no output");
    let linked =
        checked("job/change", &format!("{} --keep-going", command.replace("--output-dir rendered", "")));
    assert!(!linked.stdout.contains("name: private"), "{}", linked.stdout);

    // The attack works: if the head is trusted, its program runs and its proxy gets the job's Secret.
    let trusted = checked("job", &format!("{command} --config=trustRepositorySettings=/"));
    assert!(world.path("home/attacked").exists(), "{}", trusted.stderr);
    assert!(authorizations.try_iter().any(|one| one == SECRET));
}

#[test]
fn setup_of_gitlab_works_on_its_shallow_checkout() {
    let world = world();
    let upstream = team(&world, "store: apps\n");
    let origin = format!("[url \"{}\"]\n\tinsteadOf = {URL}\n", upstream.url());
    let settings = format!("{}{origin}", world.read("home/.gitconfig"));
    world.write("home/.gitconfig", &settings);
    check_out(&world, &upstream, URL, &upstream.head(), 1, "checkout");
    let base = upstream.git(&["merge-base", "main", "change"]);
    let command =
        format!("export CI_MERGE_REQUEST_DIFF_BASE_SHA={}; {}", base.trim(), commands_of("gitlab-ci.yaml"));
    let honest = run(&world, "checkout", &command);
    assert_eq!(honest.code, 0, "{}", honest.stderr);
    let comment = world.read("checkout/comment.md");
    assert!(comment.contains("-  is: old\n+  is: new"), "{comment}{}", honest.stderr);
}
