//! Sources at another revision (`--base`), and what tells files apart that were not written.

use std::sync::Arc;

use tiphys_model::access::ContextProject;
use tiphys_source::{BasePoint, BaseRevision, FilesIdentity, GitSource, Sources, TreeScope, WorkTreePath};
use tiphys_testkit::git::{self, Repository};
use tiphys_tree::Modes;

use crate::sources::workbench::{Workbench, files, path, source};

const URL: &str = "https://git.example.org/team/apps.git";

fn base(name: &str) -> BaseRevision {
    BaseRevision { name: name.to_owned(), point: BasePoint::Revision }
}

fn merge_base(name: &str) -> BaseRevision {
    BaseRevision { name: name.to_owned(), point: BasePoint::MergeBase }
}

/// A repository whose `main` and `topic` have parted behind `first`; `topic` is checked out, with a change that is not committed.
fn parted(bench: &Workbench) -> Repository {
    let repository = bench.repository("apps");
    repository.write("app/a.yaml", "first").commit("first");
    repository.git(&["tag", "-a", "v1", "-m", "one"]);
    repository.git(&["checkout", "--quiet", "-b", "topic"]);
    repository.write("app/a.yaml", "topic").commit("topic");
    repository.git(&["checkout", "--quiet", "main"]);
    repository.write("app/a.yaml", "main").commit("main");
    repository.git(&["update-ref", "refs/remotes/origin/main", "main"]);
    repository.git(&["checkout", "--quiet", "topic"]);
    repository.write("app/a.yaml", "uncommitted");
    repository
}

#[tokio::test]
async fn at_a_base_its_commit_stands_for_what_the_files_stand_for_now() {
    let bench = Workbench::new();
    let repository = parted(&bench);
    let now = bench.with_copies(&[&format!("{URL}=apps")]);
    let digits = &repository.head()[..9];
    for (name, expected) in [
        ("main", "main"),
        ("origin/main", "main"),
        ("refs/heads/main", "main"),
        ("v1", "first"),
        ("HEAD", "topic"),
        ("HEAD^", "first"),
        ("HEAD~1", "first"),
        ("main~1", "first"),
        (digits, "topic"),
    ] {
        let then = now.at(&base(name)).await.expect("it is there");
        for revision in ["HEAD", "", "topic", "refs/heads/topic"] {
            assert_eq!(
                files(&then, URL, revision).await,
                [format!("app/a.yaml: {expected}")],
                "{name} {revision:?}"
            );
        }
        // A revision that is not what is checked out is the same on both sides.
        assert_eq!(files(&then, URL, "main").await, ["app/a.yaml: main"], "{name}");
        assert_eq!(files(&then, URL, "v1").await, ["app/a.yaml: first"], "{name}");
        let resolved = then.resolve(&source(URL, "HEAD")).await.expect("it is there");
        let commit = repository.git(&["rev-parse", &format!("{name}^{{commit}}")]);
        assert_eq!(resolved.revision(), commit, "ARGOCD_APP_REVISION is the base's commit");
    }
    assert_eq!(files(&now, URL, "HEAD").await, ["app/a.yaml: uncommitted"]);
}

#[tokio::test]
async fn the_merge_base_is_where_the_two_parted() {
    let bench = Workbench::new();
    parted(&bench);
    let then =
        bench.with_copies(&[&format!("{URL}=apps")]).at(&merge_base("origin/main")).await.expect("there");
    assert_eq!(files(&then, URL, "HEAD").await, ["app/a.yaml: first"]);
}

#[tokio::test]
async fn a_folder_for_one_revision_is_read_at_the_base_too() {
    let bench = Workbench::new();
    let repository = parted(&bench);
    repository.git(&["checkout", "--quiet", "--detach"]);
    let now = bench.with_copies(&[&format!("{URL}@release=apps")]);
    assert_eq!(files(&now, URL, "release").await, ["app/a.yaml: uncommitted"]);
    let then = now.at(&base("main")).await.expect("it is there");
    assert_eq!(files(&then, URL, "release").await, ["app/a.yaml: main"]);
    assert_eq!(files(&then, URL, "HEAD").await, ["app/a.yaml: main"]);
}

#[tokio::test]
async fn a_bare_repository_is_read_at_the_base_too() {
    let bench = Workbench::new();
    parted(&bench);
    let url = format!("file://{}", bench.path("apps").display());
    git::git(&bench.path(""), &["clone", "--quiet", "--bare", &url, "bare.git"]);
    let now = bench.with_copies(&[&format!("{URL}=bare.git")]);
    let then = now.at(&base("main")).await.expect("it is there");
    assert_eq!(files(&now, URL, "HEAD").await, ["app/a.yaml: topic"]);
    assert_eq!(files(&then, URL, "HEAD").await, ["app/a.yaml: main"]);
    assert_eq!(files(&then, URL, "topic").await, ["app/a.yaml: main"]);
}

async fn refusal(bench: &Workbench, sources: &Sources, base: &BaseRevision) -> String {
    bench.message(&sources.at(base).await.expect_err("this is refused"))
}

#[tokio::test]
async fn a_base_that_is_not_there_is_refused_with_names_that_are() {
    let bench = Workbench::new();
    let repository = parted(&bench);
    let sources = bench.with_copies(&[&format!("{URL}=apps")]);
    for (name, hint) in [
        ("mian", "there are main, topic, origin/main, v1"),
        ("origin/mian", "there are main, topic, origin/main, v1"),
        ("topics", "similar names: topic"),
        ("upstream/main", "similar names: main"),
        ("", "there are main, topic, origin/main, v1"),
        ("--all", "there are main, topic, origin/main, v1"),
        ("main..topic", "similar names: main, topic"),
        ("main:app", "similar names: main"),
        ("0123456789012345678901234567890123456789", "there are main, topic, origin/main, v1"),
    ] {
        let expected = format!("repository $DIR/apps has no revision {name:?}; {hint}");
        assert_eq!(refusal(&bench, &sources, &base(name)).await, expected);
    }
    repository.git(&["checkout", "--quiet", "--orphan", "unrelated"]);
    repository.commit("unrelated");
    let sources = bench.with_copies(&[&format!("{URL}=apps")]);
    assert_eq!(
        refusal(&bench, &sources, &merge_base("main")).await,
        "repository $DIR/apps has no commit from which both \"main\" and what is checked out come"
    );
}

#[tokio::test]
async fn a_shallow_clone_is_told_how_to_be_deepened() {
    let bench = Workbench::new();
    let repository = parted(&bench);
    let clone = |branch: &str| {
        let dir = format!("shallow-{branch}");
        let args = ["clone", "--quiet", "--depth=1", "--branch", branch, &repository.url(), &dir];
        git::git(&bench.path(""), &args);
        bench.with_copies(&[&format!("{URL}={dir}")])
    };
    let sources = clone("topic");
    assert_eq!(
        refusal(&bench, &sources, &base("origin/main")).await,
        "repository $DIR/shallow-topic has no revision \"origin/main\"; the clone is shallow, so it lacks older commits and other \
         branches: fetch the revision (git fetch --depth=1 origin REV), or everything (git fetch --unshallow; fetch-depth: 0 in a \
         job's checkout); there are topic, origin/topic"
    );
    let dir = bench.path("shallow-topic");
    git::git(&dir, &["fetch", "--quiet", "--depth=1", "origin", "main:refs/remotes/origin/main"]);
    let sources = bench.with_copies(&[&format!("{URL}=shallow-topic")]);
    let then = sources.at(&base("origin/main")).await.expect("it was fetched");
    assert_eq!(files(&then, URL, "HEAD").await, ["app/a.yaml: main"]);
    assert_eq!(
        refusal(&bench, &sources, &merge_base("origin/main")).await,
        "repository $DIR/shallow-topic has no commit from which both \"origin/main\" and what is checked out come; the clone is \
         shallow, so the commit where they parted may be missing: fetch more of the history (git fetch --deepen=N, or git fetch \
         --unshallow; fetch-depth: 0 in a job's checkout)"
    );
}

#[tokio::test]
async fn a_folder_without_git_has_no_other_revision() {
    let bench = Workbench::new();
    std::fs::create_dir(bench.path("plain")).expect("the folder can be made");
    let sources = bench.with_copies(&[&format!("{URL}=plain")]);
    assert_eq!(
        refusal(&bench, &sources, &base("main")).await,
        "local copy $DIR/plain: it is not the top of a git work tree, so it cannot be read at revision \"main\""
    );
}

/// A path's own files.
const OWN: TreeScope = TreeScope::Only(Vec::new());

/// The listing of what a commit has at a path.
async fn past(bench: &Workbench, at: &str, revision: &str) -> Option<Vec<String>> {
    let found = WorkTreePath::find(&bench.path(at)).expect("it is UTF-8");
    let place = found.last().expect("it is in a work tree");
    let past = bench
        .sources()
        .past_files(place, &base(revision), (&OWN, Modes::Preserved))
        .await
        .expect("it can be read");
    let place = past.place()?;
    Some(if place.is_file() {
        vec![std::fs::read_to_string(place).expect("the file can be read")]
    } else {
        git::listing(&place)
    })
}

#[tokio::test]
async fn a_path_is_read_as_a_commit_has_it() {
    let bench = Workbench::new();
    let repository = bench.repository("apps");
    repository
        .write("store/a.yaml", "a")
        .write("store/sub/b.yaml", "b")
        .write_executable("store/run.sh", "run");
    repository.write("lib/c.yaml", "c").link("store/near", "a.yaml").link("current", "store");
    repository.write("linked/x.yaml", "x").link("linked/far.yaml", "../lib/c.yaml");
    repository.commit("first");
    std::fs::remove_dir_all(bench.path("apps/store")).expect("the folder can be removed");
    repository.write("new/d.yaml", "d").write("lib/c.yaml", "changed");
    let store = ["a.yaml: a", "near -> a.yaml", "run.sh*: run", "sub/b.yaml: b"].map(str::to_owned).to_vec();
    assert_eq!(past(&bench, "apps/store", "HEAD").await, Some(store.clone()));
    assert_eq!(past(&bench, "apps/store/a.yaml", "HEAD").await, Some(vec!["a".to_owned()]));
    assert_eq!(past(&bench, "apps/current", "HEAD").await, Some(store));
    assert_eq!(past(&bench, "apps/lib", "main").await, Some(vec!["c.yaml: c".to_owned()]));
    assert_eq!(past(&bench, "apps/new", "HEAD").await, None);
    assert_eq!(past(&bench, "apps/store/gone.yaml", "HEAD").await, None);
    // A link that leads out of the folder is followed all the same.
    let place = WorkTreePath::find(&bench.path("apps/linked")).expect("it is UTF-8").remove(0);
    let past = bench
        .sources()
        .past_files(&place, &base("HEAD"), (&OWN, Modes::Plain))
        .await
        .expect("it can be read");
    let file = past.place().expect("it was there").join("far.yaml");
    assert_eq!(std::fs::read_to_string(file).expect("the link leads to a file"), "c");
}

#[tokio::test]
async fn a_link_out_of_the_repository_is_not_followed_at_a_commit_either() {
    let bench = Workbench::new();
    bench.repository("apps").link("out", "../elsewhere").commit("first");
    std::fs::create_dir(bench.path("elsewhere")).expect("the folder can be made");
    let place = WorkTreePath::find(&bench.path("apps/out")).expect("it is UTF-8").remove(0);
    let error = bench
        .sources()
        .past_files(&place, &base("HEAD"), (&OWN, Modes::Plain))
        .await
        .expect_err("it leads out");
    assert_eq!(
        bench.message(&error),
        "tree of repository $DIR/apps: repository contains out-of-bounds symlinks. file: out"
    );
}

/// The identities now and at `main`.
async fn identities(sources: &Sources, app_path: &str, scope: TreeScope) -> (FilesIdentity, FilesIdentity) {
    let then = sources.at(&base("main")).await.expect("it is there");
    let (scope, app_path) = (&scope, &path(app_path));
    (
        sources.identity(&source(URL, "HEAD"), (scope, app_path)).await.expect("it can be computed"),
        then.identity(&source(URL, "HEAD"), (scope, app_path)).await.expect("it can be computed"),
    )
}

#[tokio::test]
async fn equal_files_of_a_work_tree_and_of_a_commit_are_known_without_being_written() {
    let bench = Workbench::new();
    let repository = bench.repository("apps");
    for name in ["one", "two", "three", "four"] {
        repository.write(&format!("{name}/a.yaml"), "a").write_executable(&format!("{name}/run.sh"), "run");
        repository.link(&format!("{name}/link"), "a.yaml");
    }
    // More than is read at once, and nothing at all.
    repository
        .write("one/large", &"0123456789".repeat(20_000))
        .write("one/empty", "")
        .write(".gitignore", "*.log\n");
    repository.commit("first");
    repository.write("one/ignored.log", "ignored");
    let sources = || bench.with_copies(&[&format!("{URL}=apps")]);
    let (now, then) = identities(&sources(), "one", TreeScope::Whole).await;
    assert_eq!(now, then);
    let remove = |file: &str| std::fs::remove_file(bench.path("apps").join(file)).expect("it was there");
    let changes: [(&str, &dyn Fn()); 6] = [
        ("content", &|| {
            repository.write("two/a.yaml", "b");
        }),
        ("a new file", &|| {
            repository.write("two/b.yaml", "a");
        }),
        ("a removed file", &|| remove("two/a.yaml")),
        ("a mode", &|| {
            repository.write_executable("two/a.yaml", "a");
        }),
        ("a link", &|| {
            remove("two/link");
            repository.link("two/link", "run.sh");
        }),
        ("a file for a link", &|| {
            remove("two/link");
            repository.write("two/link", "a.yaml");
        }),
    ];
    for (what, change) in changes {
        repository.git(&["reset", "--quiet", "--hard"]);
        repository.git(&["clean", "--quiet", "--force"]);
        change();
        let sources = sources();
        let only = |paths: &[&str]| TreeScope::Only(paths.iter().copied().map(path).collect());
        let (now, then) = identities(&sources, "one", TreeScope::Whole).await;
        assert_ne!(now, then, "{what}");
        let (now, then) = identities(&sources, "two", only(&[])).await;
        assert_ne!(now, then, "{what}");
        let (now, then) = identities(&sources, "one", only(&["three"])).await;
        assert_eq!(now, then, "{what}, elsewhere");
        let (now, then) = identities(&sources, "one", only(&["two"])).await;
        assert_ne!(now, then, "{what}, in a path of the annotation");
    }
    repository.git(&["reset", "--quiet", "--hard"]);
}

#[tokio::test]
async fn submodules_count_with_their_files() {
    let bench = Workbench::new();
    let library = bench.repository("library");
    library.write("lib.yaml", "1").commit("first");
    let repository = bench.repository("apps");
    repository.git(&["submodule", "--quiet", "add", &library.url(), "lib"]);
    repository.write("app/a.yaml", "a").commit("first");
    let sources = || bench.with_copies(&[&format!("{URL}=apps")]);
    let (now, then) = identities(&sources(), "app", TreeScope::Whole).await;
    assert_eq!(now, then);
    repository.write("lib/lib.yaml", "2");
    let (now, then) = identities(&sources(), "app", TreeScope::Whole).await;
    assert_ne!(now, then);
    let (now, then) = identities(&sources(), "app", TreeScope::Only(Vec::new())).await;
    assert_eq!(now, then);
}

#[tokio::test]
async fn a_remote_repository_is_told_apart_by_what_is_asked_for_and_not_asked_itself() {
    let bench = Workbench::new();
    let sources = bench.sources();
    let identity = async |url: &str, revision: &str| {
        let app_path = path("app");
        sources
            .identity(&source(url, revision), (&TreeScope::Whole, &app_path))
            .await
            .expect("nothing is fetched")
    };
    let url = "https://nowhere.invalid/apps.git";
    assert_eq!(identity(url, "main").await, identity(&format!(" {url} "), "main").await);
    assert_ne!(identity(url, "main").await, identity(url, "v1").await);
    assert_ne!(identity(url, "main").await, identity("https://nowhere.invalid/other.git", "main").await);
    let of_project = async |name: &str| {
        let project = ContextProject { name: name.to_owned(), ..ContextProject::default() };
        let source = GitSource { project: Arc::new(project), ..source(url, "main") };
        sources.identity(&source, (&TreeScope::Whole, &path("app"))).await.expect("nothing is fetched")
    };
    assert_eq!(of_project("one").await, of_project("one").await);
    assert_ne!(of_project("one").await, of_project("other").await, "it may have another login");
}

#[tokio::test]
async fn a_revision_is_one_commit_for_a_whole_command() {
    let bench = Workbench::new();
    let repository = parted(&bench);
    let sources = bench.with_copies(&[&format!("{URL}=apps")]);
    let then = sources.at(&base("main")).await.expect("it is there");
    let parting = sources.at(&merge_base("main")).await.expect("it is there");
    repository.git(&["update-ref", "refs/heads/main", "topic"]);
    assert_eq!(files(&then, URL, "HEAD").await, ["app/a.yaml: main"]);
    let again = sources.at(&base("main")).await.expect("it is there");
    assert_eq!(files(&again, URL, "HEAD").await, ["app/a.yaml: main"]);
    let place = WorkTreePath::find(&bench.path("apps/app/a.yaml")).expect("it is UTF-8").remove(0);
    for (base, expected) in [(base("main"), "main"), (merge_base("main"), "first")] {
        let past = sources.past_files(&place, &base, (&OWN, Modes::Plain)).await.expect("it can be read");
        let file = past.place().expect("it was there");
        assert_eq!(std::fs::read_to_string(file).expect("the file can be read"), expected);
    }
    assert_eq!(files(&parting, URL, "HEAD").await, ["app/a.yaml: first"]);
}
