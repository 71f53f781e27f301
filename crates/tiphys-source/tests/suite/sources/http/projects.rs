//! Repositories over HTTP that only some projects have a login for.

use std::sync::Arc;

use tiphys_model::access::{ContextProject, FileRepositories, KnownRepositories, RepositoryAccess};
use tiphys_source::{GitSource, Network, SourceError, SourceRequest, Sources};
use tiphys_testkit::git::listing;

use super::{ROBOT, bare, basic, serve};
use crate::sources::workbench::{Workbench, whole};

/// A Secret of a project.
fn of_project(project: &str, access: RepositoryAccess) -> RepositoryAccess {
    RepositoryAccess { project: project.to_owned(), ..access }
}

/// The files that an application of a project gets.
async fn files_of(
    sources: &Sources,
    (project, source_repos): (&str, &[&str]),
    url: &str,
) -> Result<Vec<String>, SourceError> {
    let source_repos = source_repos.iter().map(|&pattern| pattern.to_owned()).collect();
    let source = GitSource {
        file_repositories: FileRepositories::default(),
        project: Arc::new(ContextProject { name: project.to_owned(), source_repos }),
        repo_url: url.to_owned(),
        target_revision: "main".to_owned(),
    };
    let resolved = sources.resolve(&source).await?;
    let tree = sources.tree(&resolved, &whole()).await?;
    Ok(listing(tree.root()))
}

#[tokio::test]
async fn a_secret_is_for_its_project_alone_and_only_for_what_the_project_permits() {
    let bench = Workbench::new();
    let server = serve(&bench, Some(ROBOT));
    let url = server.url("apps/.git");
    let right = || basic(&url, "robot", "s3cret");
    let template = || basic(&server.url(""), "robot", "s3cret");
    let (all, none, others): (&[&str], &[&str], &[&str]) = (&["*"], &[], &["https://git.example.org/*"]);
    let cases = [
        // Another project's comes first in the store.
        (vec![of_project("a", right()), basic(&url, "robot", "wr0ng")], vec![], ("b", all), false),
        (vec![of_project("a", basic(&url, "robot", "wr0ng")), right()], vec![], ("b", all), true),
        (vec![right(), of_project("a", basic(&url, "robot", "wr0ng"))], vec![], ("a", all), false),
        (vec![of_project("a", right())], vec![], ("b", all), false),
        (vec![of_project("a", right())], vec![], ("a", none), true),
        (vec![right()], vec![], ("a", none), false),
        (vec![right()], vec![], ("a", others), false),
        (vec![bare(&url)], vec![template()], ("a", all), true),
        (vec![of_project("b", bare(&url))], vec![template()], ("a", all), true),
        (vec![], vec![of_project("b", template())], ("a", all), false),
        (vec![], vec![of_project("a", template())], ("a", all), true),
        (vec![], vec![template()], ("a", none), false),
    ];
    for (repositories, templates, project, is_let_in) in cases {
        let known = KnownRepositories { repositories, templates, ..KnownRepositories::default() };
        let sources = bench.sources_with(|_, request| request.known = known.clone());
        let found = files_of(&sources, project, &url).await;
        assert_eq!(found.is_ok(), is_let_in, "{known:?} {project:?}: {found:?}");
    }
}

#[tokio::test]
async fn what_one_projects_login_has_fetched_is_not_for_a_project_without_it() {
    let bench = Workbench::new();
    let server = serve(&bench, Some(ROBOT));
    let url = server.url("apps/.git");
    let permits_all: &[&str] = &["*"];
    let known = |request: &mut SourceRequest| {
        request.known.repositories =
            ["a", "c"].map(|one| of_project(one, basic(&url, "robot", "s3cret"))).into();
    };
    let sources = bench.sources_with(|_, request| known(request));
    let refused = async |sources: &Sources, url: &str, expected: &str| {
        let error = files_of(sources, ("b", permits_all), url).await.expect_err("there is no login");
        let error = bench.message(&error);
        assert!(error.contains(expected), "{error}");
    };
    assert!(files_of(&sources, ("a", permits_all), &url).await.is_ok());
    let asked = server.authorizations().len();
    assert!(files_of(&sources, ("c", permits_all), &url).await.is_ok());
    assert_eq!(server.authorizations().len(), asked, "the same login need not ask again");
    refused(&sources, &url, "refused access; tried git's credential helpers of this user").await;
    let offline = bench.sources_with(|_, request| {
        known(request);
        request.network = Network::Offline;
    });
    assert!(files_of(&offline, ("a", permits_all), &url).await.is_ok());
    refused(&offline, &url, "the network must not be used").await;
    // Credentials in a URL give no access by the URL without them.
    let with_login = url.replace("http://", "http://robot:s3cret@");
    assert!(files_of(&sources, ("b", permits_all), &with_login).await.is_ok());
    refused(&offline, &url, "the network must not be used").await;
    let folders = std::fs::read_dir(bench.path("cache/git")).expect("there is a cache");
    for folder in folders.map(|folder| folder.expect("it can be read").file_name()) {
        let name = folder.to_string_lossy();
        assert!(!name.contains("robot") && !name.contains("s3cret"), "{name}");
    }
}

#[tokio::test]
async fn a_public_repository_is_asked_for_once_for_all_projects() {
    let bench = Workbench::new();
    let server = serve(&bench, None);
    let url = server.url("apps/.git");
    let sources = bench.sources_with(|_, request| {
        request.known.repositories =
            vec![of_project("a", bare(&url)), basic(&server.url("more"), "robot", "x")];
    });
    assert!(files_of(&sources, ("a", &["*"]), &url).await.is_ok());
    let asked = server.authorizations().len();
    for project in [("b", &["*"][..]), ("c", &[])] {
        assert!(files_of(&sources, project, &url).await.is_ok());
    }
    assert_eq!(server.authorizations().len(), asked);
}

#[tokio::test]
async fn a_submodule_is_reached_with_its_superprojects_login_or_with_what_the_project_may_use() {
    let bench = Workbench::new();
    let server = serve(&bench, Some(ROBOT));
    // The superproject is behind the same server, or on this machine, where it needs no login.
    let library = bench.repository("www/library");
    library.write("lib.yaml", "lib").commit("first");
    let module = server.url("library/.git");
    let superprojects = ["www/super", "super"].map(|name| {
        let repository = bench.repository(name);
        let place = format!("file://{}", bench.path("www/library").display());
        repository.git(&["submodule", "--quiet", "add", "--name", "library", &place, "library"]);
        repository.git(&["config", "--file", ".gitmodules", "submodule.library.url", &module]);
        repository.commit("first");
        repository
    });
    let local = superprojects[1].url();
    let remote = server.url("super/.git");
    let secret = |url: &str| basic(url, "robot", "s3cret");
    let all: &[&str] = &["*"];
    let only_remote: &[&str] = &[&remote];
    let nothing = KnownRepositories::default;
    let repositories = |repositories| KnownRepositories { repositories, ..nothing() };
    let cases = [
        (repositories(vec![secret(&module)]), &local, ("a", all), true),
        (repositories(vec![of_project("a", secret(&module))]), &local, ("a", &[][..]), true),
        (repositories(vec![of_project("b", secret(&module))]), &local, ("a", all), false),
        (repositories(vec![secret(&module)]), &local, ("a", &[][..]), false),
        (repositories(vec![secret(&remote), secret(&module)]), &remote, ("a", only_remote), true),
        (
            KnownRepositories { templates: vec![secret(&server.url(""))], ..nothing() },
            &remote,
            ("a", only_remote),
            true,
        ),
        (repositories(vec![secret(&remote)]), &remote, ("a", all), false),
        (repositories(vec![secret(&remote), of_project("b", secret(&module))]), &remote, ("a", all), false),
    ];
    for (known, url, project, is_let_in) in cases {
        let sources = bench.sources_with(|_, request| request.known = known.clone());
        let found = files_of(&sources, project, url).await;
        assert_eq!(found.is_ok(), is_let_in, "{known:?} {url} {project:?}: {found:?}");
        std::fs::remove_dir_all(bench.path("cache")).expect("the cache can be removed");
    }
}
