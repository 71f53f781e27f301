//! The jobs of `docs/ci.md` on what they meet: an application that fails, a project file that needs consent, a fork, a checkout of another
//! user, and a comparison that fails as a whole. The comment is delivered in each case.

use std::fs;
use std::os::unix::fs::MetadataExt as _;

use tiphys_testkit::git::Repository;

use crate::ci_setups::{check_out, merge, team, world};
use crate::workflows::{Facts, Workflow};
use crate::world::{Output, URL, World};

/// An Application whose path does not exist.
const BROKEN: &str = "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: broken, namespace: argocd}\nspec:\n  destination: \
                      {namespace: web}\n  source: {repoURL: 'https://git.example.org/team/apps.git', targetRevision: main, path: missing}\n";

/// A project file with a value that needs consent.
const NEEDS_CONSENT: &str = "store: apps\nprojectRules: warn\n";

/// Records the arguments of `gh` and the comment.
const GH: &str = "#!/bin/sh\necho \"$@\" > \"$HOME/gh\"\nwhile [ \"$1\" != --body-file ]; do shift; done\ncp \"$2\" \"$HOME/comment\"\n";

/// A world with a program `gh`, and the repository of a team with a project file. The pull request adds an application that fails.
fn prepared(project_file: &str) -> (World, Repository) {
    let world = world();
    world.write("bin/gh", GH);
    let upstream = team(&world, project_file);
    world.write("team/apps/broken.yaml", BROKEN);
    upstream.commit("an application that fails");
    (world, upstream)
}

/// Gives a checkout to another user, as runners do. Only root can.
fn give_away(world: &World, directory: &str) {
    let mut chown = world.command("chown");
    chown.args(["-R", "4242"]).arg(world.path(directory));
    let Output { code, stderr, .. } = world.finish(chown);
    let is_root = fs::metadata("/proc/self").expect("the process").uid() == 0;
    assert_eq!(code == 0, is_root, "{stderr}");
}

/// The facts of a pull request from this repository.
fn pull_request<'a>(workspace: &'a str, head: &'a str) -> Vec<(&'a str, &'a str)> {
    vec![
        ("GITHUB_WORKSPACE", workspace),
        ("GITHUB_REPOSITORY", "team/apps"),
        ("github.repository", "team/apps"),
        ("github.base_ref", "main"),
        ("github.token", "token"),
        ("github.event.number", "7"),
        ("github.event.pull_request.head.repo.full_name", head),
        ("github.event.workflow_run.event", "pull_request"),
        ("github.event.workflow_run.head_repository.full_name", head),
        ("github.event.workflow_run.head_repository.owner.login", "stranger"),
        ("github.event.workflow_run.head_branch", "change"),
        ("secrets.REPOSITORY_SECRETS", ""),
    ]
}

/// Delivers a comment with a workflow, and returns it with the arguments of `gh`.
fn delivered(world: &World, workflow: &Workflow, facts: &Facts<'_>) -> (String, String) {
    fs::create_dir_all(world.path("second")).expect("create_dir_all");
    let output = workflow.run("comment", world, "second", facts);
    assert_eq!(output.code, 0, "{}", output.stderr);
    (world.read("home/comment"), world.read("home/gh"))
}

#[test]
fn comment_of_a_pull_request_is_delivered() {
    for (project_file, code, expected) in [
        (
            NEEDS_CONSENT,
            5,
            &["### Manifests: 1 application changed, 1 not compared\n", "-  is: old\n+  is: new"][..],
        ),
        (
            "stor: apps\n",
            2,
            &[
                "### Manifests: not compared\n",
                "error: HEAD^1:.tiphys.yaml:1:1: unknown key \"stor\"",
                "; correct it at the base",
            ],
        ),
    ] {
        let (world, upstream) = prepared(project_file);
        check_out(&world, &upstream, URL, &merge(&upstream), 2, "checkout");
        give_away(&world, "checkout");
        let workspace = world.path("checkout").display().to_string();
        let (own, fork) = (pull_request(&workspace, "team/apps"), pull_request(&workspace, "stranger/apps"));
        let (first, second) = (Workflow::read("workflow.yaml"), Workflow::read("fork.yaml"));

        let compared = first.run("diff", &world, "checkout", &own);
        assert_eq!(compared.code, code, "{}", compared.stderr);
        assert!(first.is_run("comment", &own) && !second.is_run("comment", &own));
        let (comment, arguments) = delivered(&world, &first, &own);
        for part in expected {
            assert!(comment.contains(part), "{part}: {comment}");
        }
        // The pull request does not change it; that it belongs to another user does not matter.
        assert!(!compared.stderr.contains("the project file is not that"), "{}", compared.stderr);
        assert!(arguments.starts_with("pr comment 7 --repo team/apps "), "{arguments}");

        assert!(!first.is_run("comment", &fork) && second.is_run("comment", &fork));
        let (of_fork, arguments) = delivered(&world, &second, &fork);
        assert_eq!(of_fork, comment);
        assert!(arguments.starts_with("pr comment stranger:change --repo team/apps "), "{arguments}");
    }
}

#[test]
fn comment_of_a_merge_request_is_delivered_from_a_fork() {
    let (world, upstream) = prepared(NEEDS_CONSENT);
    let fork = "https://git.example.org/stranger/apps.git";
    let origin = format!("[url \"{}\"]\n\tinsteadOf = {fork}\n", upstream.url());
    world.write("home/.gitconfig", &format!("{}{origin}", world.read("home/.gitconfig")));
    check_out(&world, &upstream, fork, &upstream.head(), 1, "checkout");
    give_away(&world, "checkout");
    let (directory, base) =
        (world.path("checkout").display().to_string(), upstream.git(&["merge-base", "main", "change"]));
    let facts = [
        ("CI_PROJECT_DIR", directory.as_str()),
        ("CI_MERGE_REQUEST_PROJECT_URL", "https://git.example.org/team/apps"),
        ("CI_MERGE_REQUEST_TARGET_BRANCH_NAME", "main"),
        ("CI_MERGE_REQUEST_DIFF_BASE_SHA", base.trim()),
    ];
    let compared = Workflow::read("gitlab-ci.yaml").run("manifests", &world, "checkout", &facts);
    assert_eq!(compared.code, 5, "{}", compared.stderr);
    let comment = world.read("artifacts/comment.md");
    assert!(comment.starts_with("### Manifests: 1 application changed, 1 not compared\n"), "{comment}");
    assert!(comment.contains("-  is: old\n+  is: new"), "{comment}");
}

#[test]
fn job_of_a_team_reports_an_application_that_fails() {
    let (world, upstream) = prepared(NEEDS_CONSENT);
    check_out(&world, &upstream, URL, &merge(&upstream), 1, "job/change");
    world.write("job/settings/README", "no settings\n");
    Repository::init(world.path("job/settings")).commit("first");
    give_away(&world, "job/change");
    let (workspace, workflow) = (world.path("job").display().to_string(), Workflow::read("team.yaml"));
    assert!(!workflow.is_run("render", &pull_request(&workspace, "stranger/apps")));
    let facts = pull_request(&workspace, "team/apps");
    assert!(workflow.is_run("render", &facts));
    let rendered = workflow.run("render", &world, "job", &facts);
    assert_eq!(rendered.code, 3, "{}", rendered.stderr);
    assert!(rendered.stderr.contains("application argocd/broken"), "{}", rendered.stderr);
    assert!(!rendered.stderr.contains("consent"), "{}", rendered.stderr);
}
