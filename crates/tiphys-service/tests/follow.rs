//! Apps of apps: Applications that applications render, on temporary directories. The sources are plain manifests, so no plugin runs.

use std::collections::BTreeMap;
use std::fs;

use tempfile::TempDir;
use tiphys_model::limits::Limit;
use tiphys_service::{
    ApplicationSelection, Host, Service, ServiceError, ServiceOptions, StorePath, Warning, Workspace,
    WorkspaceOptions, check_applications, select,
};
use tiphys_source::{CopyOrigin, LocalCopy};

const URL: &str = "https://git.example.org/a.git";

/// Returns an Application of the control plane that renders a directory of the repository.
fn app(name: &str, path: &str) -> String {
    app_in("https://kubernetes.default.svc", "default", name, path)
}

fn app_in(server: &str, project: &str, name: &str, path: &str) -> String {
    format!(
        "---\napiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {{name: {name}, labels: {{app: {name}}}}}\nspec:\n  \
         project: {project}\n  source: {{repoURL: '{URL}', path: {path}}}\n  destination: {{server: '{server}', namespace: argocd}}\n"
    )
}

/// Returns a set that generates an Application for each name.
fn set(name: &str, applications: &[&str]) -> String {
    format!(
        "---\napiVersion: argoproj.io/v1alpha1\nkind: ApplicationSet\nmetadata: {{name: {name}}}\nspec:\n  goTemplate: true\n  generators:\n    \
         - list: {{elements: [{}]}}\n  template:\n    metadata: {{name: '{{{{.name}}}}'}}\n    spec:\n      project: default\n      \
         source: {{repoURL: '{URL}', path: leaf}}\n      destination: {{server: 'https://kubernetes.default.svc', namespace: web}}\n",
        applications.iter().map(|name| format!("{{name: {name}}}")).collect::<Vec<_>>().join(", ")
    )
}

fn leaf() -> String {
    "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: leaf}\n".to_owned()
}

/// A store and a repository.
struct World {
    dir: TempDir,
    service: Service,
}

/// The selected applications, errors and warnings.
#[derive(Debug, Default, PartialEq, Eq)]
struct Found {
    applications: Vec<String>,
    errors: Vec<String>,
    warnings: Vec<String>,
}

impl World {
    /// Creates the directories of the repository, each with one file, beside a store of one file.
    fn new(store: &str, repository: &[(&str, String)]) -> Self {
        Self::with_options(store, repository, |options| options)
    }

    fn with_options(
        store: &str,
        repository: &[(&str, String)],
        adjust: impl FnOnce(ServiceOptions) -> ServiceOptions,
    ) -> Self {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let root = dir.path();
        let files = repository.iter().map(|(path, text)| (format!("repo/{path}/file.yaml"), text.as_str()));
        for (path, text) in files.chain([("store/apps.yaml".to_owned(), store), ("tmp/.keep".to_owned(), "")])
        {
            let path = root.join(path);
            fs::create_dir_all(path.parent().expect("it has a parent")).expect("a directory");
            fs::write(path, text).expect("a file");
        }
        let options = adjust(ServiceOptions {
            store: vec![StorePath::Path("store".into())],
            repositories: vec![LocalCopy {
                url: Some(URL.to_owned()),
                revision: None,
                dir: root.join("repo"),
                origin: CopyOrigin::Caller,
            }],
            cache_dir: Some(root.join("cache")),
            offline: true,
            ..ServiceOptions::default()
        });
        let options = ServiceOptions { store: vec![StorePath::Path(root.join("store"))], ..options };
        let host = Host {
            variables: BTreeMap::from([(
                "TMPDIR".to_owned(),
                root.join("tmp").to_str().expect("it is UTF-8").to_owned(),
            )]),
            executable: root.join("bin/tiphys"),
            current_dir: root.to_path_buf(),
            plugin_programs: &[],
            native_commands: &[],
            in_process_commands: &[],
            processors: 2,
            standard_input: || Box::new(std::io::empty()),
            clock: || std::time::UNIX_EPOCH,
        };
        Self { service: Service::open(options, host).expect("a service"), dir }
    }

    async fn workspace(&self, selection: &ApplicationSelection) -> Workspace {
        Workspace::open_with_sets(&self.service, WorkspaceOptions::following(selection))
            .await
            .expect("a workspace")
    }

    async fn selected(&self, selection: &ApplicationSelection) -> Found {
        let workspace = self.workspace(selection).await;
        let selected = select(&workspace, selection, "render").expect("applications");
        let shown = |text: String| text.replace(&format!("{}/", self.dir.path().display()), "");
        Found {
            applications: selected.applications.iter().map(|stored| stored.full_name()).collect(),
            errors: selected.errors.iter().map(ServiceError::message).map(shown).collect(),
            warnings: selected.warnings.iter().map(Warning::message).map(str::to_owned).map(shown).collect(),
        }
    }

    async fn all(&self) -> Found {
        self.selected(&ApplicationSelection::default()).await
    }
}

fn named(names: &[&str]) -> ApplicationSelection {
    let applications = names.iter().map(|name| (*name).to_owned()).collect();
    ApplicationSelection { applications, ..ApplicationSelection::default() }
}

fn only(applications: &[&str]) -> Found {
    let applications = applications.iter().map(|name| (*name).to_owned()).collect();
    Found { applications, ..Found::default() }
}

#[tokio::test]
async fn children_and_grandchildren_are_selected_with_their_root() {
    let store = app("root", "root") + &app("other", "leaf");
    let world = World::new(
        &store,
        &[("root", app("a", "a") + &app("b", "leaf")), ("a", app("c", "leaf")), ("leaf", leaf())],
    );
    let labelled = |name: &str| ApplicationSelection {
        selector: Some(format!("app={name}")),
        ..ApplicationSelection::default()
    };
    for (selection, expected) in [
        (named(&[]), &["root", "other", "a", "b", "c"][..]),
        (named(&["root"]), &["root", "a", "b", "c"]),
        (named(&["a"]), &["a", "c"]),
        (named(&["other", "b"]), &["other", "b"]),
        (labelled("root"), &["root", "a", "b", "c"]),
        (labelled("c"), &["c"]),
    ] {
        assert_eq!(world.selected(&selection).await, only(expected), "{selection:?}");
    }
}

#[tokio::test]
async fn depth_above_the_limit_is_an_error() {
    let repository = [
        ("d1", app("a1", "d2")),
        ("d2", app("a2", "d3")),
        ("d3", app("a3", "d4")),
        ("d4", app("a4", "leaf")),
        ("leaf", leaf()),
    ];
    let root = app("root", "d1");
    let found = World::new(&root, &repository).all().await;
    assert_eq!(found.applications, ["root", "a1", "a2", "a3"]);
    assert_eq!(
        found.errors,
        [
            "application a3 (manifests of a2:1:1): it renders Applications at depth 4, which are not followed: limit follow-depth-max"
        ]
    );
    let deeper = |mut options: ServiceOptions| {
        options.limits.set(Limit::FOLLOW_DEPTH_MAX, 4);
        options
    };
    let found = World::with_options(&root, &repository, deeper).all().await;
    assert_eq!(found, only(&["root", "a1", "a2", "a3", "a4"]));
}

#[tokio::test]
async fn known_applications_are_not_followed_again() {
    let differs = |name: &str, place: &str, used: &str| Found {
        warnings: vec![format!(
            "application {name} ({place}): its spec differs from that in {used}, which is used"
        )],
        ..Found::default()
    };
    let root = || app("root", "root");
    for (what, store, repository, expected, warned) in [
        ("itself", root(), vec![("root", root())], &["root"][..], Found::default()),
        (
            "itself with another spec",
            root(),
            vec![("root", app("root", "other"))],
            &["root"],
            differs("root", "manifests of root:1:1", "store/apps.yaml:2:1"),
        ),
        (
            "a cycle",
            app("a", "a"),
            vec![("a", app("b", "b")), ("b", app("a", "a"))],
            &["a", "b"],
            Found::default(),
        ),
        (
            "one of the store",
            root() + &app("web", "leaf"),
            vec![("root", app("web", "other")), ("leaf", leaf())],
            &["root", "web"],
            differs("web", "manifests of root:1:1", "store/apps.yaml:10:1"),
        ),
        (
            "one of two roots",
            root() + &app("second", "second"),
            vec![("root", app("web", "leaf")), ("second", app("web", "other")), ("leaf", leaf())],
            &["root", "second", "web"],
            differs("web", "manifests of second:1:1", "manifests of root:1:1"),
        ),
    ] {
        let found = World::new(&store, &repository).all().await;
        assert_eq!(found, Found { warnings: warned.warnings, ..only(expected) }, "{what}");
    }
    let store = root() + &app("web", "leaf") + &app("other", "leaf");
    let world = World::new(&store, &[("root", app("web", "leaf")), ("leaf", leaf())]);
    assert_eq!(world.selected(&named(&["root"])).await, only(&["root", "web"]), "a child of the store");
}

#[tokio::test]
async fn rendered_set_generates_applications() {
    let root = app("root", "root");
    let repository = [("root", set("teams", &["web", "shop"])), ("leaf", leaf())];
    let world = World::new(&root, &repository);
    assert_eq!(world.selected(&named(&["root"])).await, only(&["root", "web", "shop"]));
    let known = root + &set("teams", &["web"]) + &app("other", "leaf");
    let found = World::new(&known, &repository).selected(&named(&["root"])).await;
    let warning = "application set argocd/teams (manifests of root:1:1): its spec differs from that in store/apps.yaml:10:1, which is used";
    assert_eq!(found, Found { warnings: vec![warning.to_owned()], ..only(&["root", "web"]) });
}

#[tokio::test]
async fn rendered_documents_gain_no_trust() {
    let project = |name: &str, repository: &str| {
        format!(
            "---\napiVersion: argoproj.io/v1alpha1\nkind: AppProject\nmetadata: {{name: {name}}}\nspec:\n  sourceRepos: ['{repository}']\n  \
             destinations: [{{server: '*', namespace: '*'}}]\n  clusterResourceWhitelist: [{{group: '*', kind: '*'}}]\n"
        )
    };
    let own = "https://kubernetes.default.svc";
    // The rendered project would permit the repository, and the cluster Secret would name the cluster.
    let widening = project("team", "*")
        + "---\napiVersion: v1\nkind: Secret\nmetadata: {name: prod, labels: {argocd.argoproj.io/secret-type: cluster}}\nstringData: {name: prod, \
           server: 'https://prod.example.org'}\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: argocd-cm}\ndata: \
           {application.resourceTrackingMethod: label}\n"
        + &app_in(own, "team", "child", "leaf");
    let store = app("root", "root") + &project("team", "https://git.example.org/other.git");
    let world = World::new(&store, &[("root", widening), ("leaf", leaf())]);
    let found = world.all().await;
    assert_eq!(found.applications, ["root"]);
    assert_eq!(
        found.errors,
        [format!(
            "application child (manifests of root:50:12): application repo URL {URL} is not permitted in project 'team'"
        )]
    );
    // A child is not rendered, so not followed, if its project forbids it.
    let checked = check_applications(&world.workspace(&named(&[])).await, &named(&[])).await;
    let checked = checked.expect("a check");
    assert_eq!((checked.applications, checked.errors.len()), (2, 1), "{checked:?}");
}

#[tokio::test]
async fn application_that_may_not_deploy_applications_is_not_followed() {
    let project = "---\napiVersion: argoproj.io/v1alpha1\nkind: AppProject\nmetadata: {name: team}\nspec:\n  sourceRepos: ['*']\n  destinations: \
                   [{server: '*', namespace: '*'}]\n  namespaceResourceBlacklist: [{group: argoproj.io, kind: Application}]\n";
    let own = "https://kubernetes.default.svc";
    let store = app_in(own, "team", "root", "root") + project;
    let repository = [("root", app("child", "leaf")), ("leaf", leaf())];
    let found = World::new(&store, &repository).all().await;
    assert_eq!(found, only(&["root"]), "rendering it reports the error");
    let workspace = World::new(&store, &repository);
    let checked = check_applications(&workspace.workspace(&named(&[])).await, &named(&[])).await;
    let checked = checked.expect("a check");
    assert_eq!(checked.errors.len(), 1, "{checked:?}");
}

#[tokio::test]
async fn applications_of_another_cluster_are_not_followed() {
    let store = app_in("https://prod.example.org", "default", "root", "root");
    let found = World::new(&store, &[("root", app("child", "leaf"))]).all().await;
    assert_eq!(found.applications, ["root"]);
    assert_eq!(
        found.warnings,
        [
            "root: the Applications that it renders are not followed: its destination is another cluster than Argo CD's"
        ]
    );
}

#[tokio::test]
async fn invalid_child_is_an_error() {
    let child = app("child", "[]");
    let found = World::new(&app("root", "root"), &[("root", child)]).all().await;
    assert_eq!(found.applications, ["root"]);
    assert_eq!(
        found.errors,
        ["manifests of root:15:11: Application child: spec.source.path: expected a string, found a list"]
    );
}
