use std::collections::BTreeMap;

use tiphys_model::access::{
    ContextProject, KnownRepositories, RepositoryAccess, RepositoryKind, RepositoryUse, Secret,
};
use tiphys_model::project_rules::source_access;
use tiphys_model::resources::ApplicationSource;

use super::{ContextSettings, repositories_of, templates_of, told_source};

fn access(url: &str) -> RepositoryAccess {
    RepositoryAccess { url: url.to_owned(), kind: RepositoryKind::Helm, ..RepositoryAccess::default() }
}

#[test]
fn a_repository_has_its_servers_own_authority_unless_it_has_one() {
    let known = KnownRepositories {
        repositories: vec![
            access("https://charts.example.org:8443/a"),
            RepositoryAccess { ca_data: "own".to_owned(), ..access("https://charts.example.org/b") },
            access("registry.example.org/c"),
            access("https://other.example.org"),
        ],
        certificates: BTreeMap::from([
            ("charts.example.org".to_owned(), "charts".to_owned()),
            ("registry.example.org".to_owned(), "registry".to_owned()),
        ]),
        ..KnownRepositories::default()
    };
    let project = ContextSettings::default().project("default");
    let found = repositories_of(&known, &project);
    let found: Vec<&str> = found.iter().map(|access| access.ca_data.as_str()).collect();
    assert_eq!(found, ["charts", "own", "registry", ""]);
    let unknown = source_access(&project, &known, "oci://registry.example.org/d", RepositoryUse::Chart);
    assert_eq!(unknown.access.ca_data, "registry");
}

/// Three Secrets and two templates.
fn known() -> KnownRepositories {
    const A: &str = "https://a.example.org/x";
    let with = |username: &str, access: RepositoryAccess| RepositoryAccess {
        username: username.to_owned(),
        ..access
    };
    let of =
        |project: &str, access: RepositoryAccess| RepositoryAccess { project: project.to_owned(), ..access };
    let git = RepositoryAccess { kind: RepositoryKind::Git, ..access("https://a.example.org") };
    KnownRepositories {
        repositories: vec![
            with("other", of("other", access(A))),
            with("all", access(A)),
            with("own", of("team", access("https://b.example.org"))),
        ],
        templates: vec![with("template", access("https://a.example.org")), with("git", git)],
        ..KnownRepositories::default()
    }
}

/// The project `team` permits these addresses, other projects all.
fn project(name: &str, of_team: &[&str]) -> ContextProject {
    let permitted = of_team.iter().map(|address| (*address).to_owned()).collect();
    let source_repos = BTreeMap::from([("team".to_owned(), permitted)]);
    ContextSettings { source_repos, ..ContextSettings::default() }.project(name)
}

#[test]
fn a_plugin_is_told_of_what_its_project_permits_and_of_charts_only() {
    let (known, of_team) = (known(), ["https://a.example.org/*"]);
    let names =
        |found: Vec<RepositoryAccess>| found.into_iter().map(|access| access.username).collect::<Vec<_>>();
    let repositories = |project: &str| names(repositories_of(&known, &self::project(project, &of_team)));
    let templates = |project: &str| names(templates_of(&known, &self::project(project, &of_team)));
    assert_eq!(repositories("team"), ["all", "own"]);
    assert_eq!(repositories("other"), ["other", "all"]);
    assert_eq!(repositories("default"), ["all"]);
    assert!(templates("team").is_empty(), "its whole address is not permitted");
    assert_eq!(templates("default"), ["template"]);
}

#[test]
fn a_repository_without_credentials_is_told_with_those_of_its_template_though_that_is_not_permitted() {
    let mut known = known();
    known.repositories = vec![access("https://a.example.org/x"), access("https://b.example.org")];
    let project = project("team", &["https://a.example.org/*"]);
    let found = repositories_of(&known, &project);
    let found: Vec<_> = found.iter().map(|one| (one.url.as_str(), one.username.as_str())).collect();
    assert_eq!(found, [("https://a.example.org/x", "template")]);
    assert_eq!(templates_of(&known, &project), []);
}

#[test]
fn a_source_that_its_project_permits_gets_what_is_for_its_address() {
    let known = known();
    for (name, address, expected) in [
        ("team", "https://a.example.org/x", "all"),
        ("other", "https://a.example.org/x", "other"),
        ("team", "https://a.example.org/y", "template"),
        ("team", "https://b.example.org", "own"),
        ("team", "https://c.example.org", ""),
        ("default", "https://b.example.org", ""),
        ("default", "https://a.example.org/y", "template"),
    ] {
        let project = project(name, &["https://a.example.org/*"]);
        let found = source_access(&project, &known, address, RepositoryUse::Chart);
        assert_eq!(found.access.username, expected, "{name} {address}");
    }
    let found = source_access(&project("team", &[]), &known, "https://a.example.org/x", RepositoryUse::Chart);
    assert_eq!(found.access.username, "");
}

#[test]
fn a_plugin_is_told_of_the_proxy_of_the_source_s_repository_of_whatever_kind_it_is() {
    let with_proxy = |kind, access: RepositoryAccess| RepositoryAccess {
        kind,
        proxy: Secret::new("http://proxy.example.org"),
        no_proxy: "intern".to_owned(),
        ..access
    };
    let known = KnownRepositories {
        repositories: vec![with_proxy(RepositoryKind::Git, access("https://git.example.org/apps.git"))],
        templates: vec![with_proxy(RepositoryKind::Helm, access("https://charts.example.org"))],
        ..KnownRepositories::default()
    };
    for (name, address, expected) in [
        ("default", "https://git.example.org/apps.git", "http://proxy.example.org intern"),
        ("default", "https://Git.example.org/apps", "http://proxy.example.org intern"),
        ("default", "https://charts.example.org/stable", "http://proxy.example.org intern"),
        ("default", "https://git.example.org/more.git", " "),
        ("team", "https://git.example.org/apps.git", " "),
    ] {
        let source = ApplicationSource { repo_url: address.to_owned(), ..ApplicationSource::default() };
        let told = told_source(&known, &project(name, &[]), &source);
        assert_eq!(told.repo_url, address);
        assert_eq!(format!("{} {}", told.proxy.expose(), told.no_proxy), expected, "{name} {address}");
    }
}
