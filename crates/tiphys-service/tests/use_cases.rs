//! Whole use cases on temporary directories, without a command line. The sources are plain manifests, so no plugin runs.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::Mutex;

use serde_json::Value;
use tempfile::TempDir;
use tiphys_engine::Manifest;
use tiphys_service::compare::{ClusterStateArgument, LiveClusters, compare_live};
use tiphys_service::params::{
    EditOptions, ParameterRequest, ParameterValues, PlannedEdit, SourceChoice, open_workspace, plan_edits,
};
use tiphys_service::{
    ApplicationSelection, ErrorKind, Host, RenderAdjustments, SelectedApplications, Service, ServiceOptions,
    StorePath, Workspace, WorkspaceOptions, render, select,
};
use tiphys_source::{CopyOrigin, LocalCopy};

/// A store with Applications, a repository and live objects.
const FILES: [(&str, &str); 5] = [
    (
        "store/apps.yaml",
        r"
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: web}
spec:
  source: {repoURL: 'https://git.example.org/a.git', path: web}
  destination: {server: 'https://kubernetes.default.svc', namespace: shop}
---
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: gone}
spec:
  source: {repoURL: 'https://git.example.org/a.git', path: gone}
  destination: {server: 'https://kubernetes.default.svc', namespace: shop}
",
    ),
    (
        "store/plugin.yaml",
        r"apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: plugged}
spec:
  source:
    repoURL: https://git.example.org/a.git
    path: web
    plugin:
      name: any
      parameters:
        - name: replicas # of the web server
          string: '1'
  destination: {server: 'https://kubernetes.default.svc', namespace: shop}
",
    ),
    (
        "repo/web/config.yaml",
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: config}\ndata: {key: new}\n---\napiVersion: v1\nkind: Secret\nmetadata: {name: secret}\n",
    ),
    (
        "live/config.yaml",
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: config, namespace: shop}\ndata: {key: old}\n",
    ),
    ("tmp/.keep", ""),
];

struct World {
    dir: TempDir,
    service: Service,
}

impl World {
    fn new() -> Self {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let root = dir.path();
        for (path, content) in FILES {
            let path = root.join(path);
            fs::create_dir_all(path.parent().expect("it has a parent")).expect("a directory");
            fs::write(path, content).expect("a file");
        }
        let path = |name: &str| root.join(name).to_str().expect("it is UTF-8").to_owned();
        let options = ServiceOptions {
            store: vec![StorePath::Path(root.join("store"))],
            repositories: vec![LocalCopy {
                url: Some("https://git.example.org/a.git".to_owned()),
                revision: None,
                dir: root.join("repo"),
                origin: CopyOrigin::Caller,
            }],
            cluster_state: vec![ClusterStateArgument::parse(&path("live"))],
            cache_dir: Some(root.join("cache")),
            offline: true,
            ..ServiceOptions::default()
        };
        let host = Host {
            variables: BTreeMap::from([("TMPDIR".to_owned(), path("tmp"))]),
            executable: root.join("bin/tiphys"),
            current_dir: root.to_path_buf(),
            plugin_programs: &[],
            native_commands: &[],
            in_process_commands: &[],
            processors: 2,
            standard_input: || Box::new(std::io::empty()),
            clock: || std::time::UNIX_EPOCH,
        };
        let service = Service::open(options, host).expect("a service");
        Self { dir, service }
    }

    fn path(&self) -> &Path {
        self.dir.path()
    }

    async fn select(&self, names: &[&str]) -> (Workspace, SelectedApplications) {
        let applications = names.iter().map(|name| (*name).to_owned()).collect();
        let selection = ApplicationSelection { applications, ..ApplicationSelection::default() };
        let needs = WorkspaceOptions::for_selection(&selection);
        let workspace = Workspace::open(&self.service, needs).await.expect("a workspace");
        let selected = select(&workspace, &selection, "render").expect("applications");
        (workspace, selected)
    }
}

#[tokio::test]
async fn results_are_in_order_and_errors_have_kinds() {
    let world = World::new();
    let (workspace, selected) = world.select(&["gone", "web", "unknown"]).await;
    let kinds: Vec<ErrorKind> = selected.errors.iter().map(tiphys_service::ServiceError::kind).collect();
    assert_eq!(kinds, [ErrorKind::NotFound], "{:?}", selected.errors);
    let adjustments = RenderAdjustments { set_namespace: true, skip_secrets: true };
    let steps = Mutex::new(Vec::new());
    let progress = |name: &str| steps.lock().expect("one thread").push(name.to_owned());
    let mut results = Vec::new();
    render(&workspace, &selected.applications, adjustments, &progress, |stored, result| {
        let objects =
            result.map(|rendered| rendered.manifests.into_iter().map(Manifest::into_value).collect());
        results.push((stored.full_name(), objects.map_err(|error| error.kind())));
    })
    .await;
    let [(gone, failed), (web, objects)] = results.as_slice() else { panic!("{results:?}") };
    assert_eq!((gone.as_str(), failed), ("gone", &Err(ErrorKind::Rendering)));
    let objects: &Vec<Value> = objects.as_ref().expect("it renders");
    assert_eq!((web.as_str(), objects.len()), ("web", 1), "the Secret is left out");
    assert_eq!(objects[0]["metadata"]["namespace"], "shop");
    assert_eq!(steps.lock().expect("one thread").len(), 2);
}

#[tokio::test]
async fn requests_of_one_service_see_the_store_and_the_files_as_they_are_then() {
    let world = World::new();
    let (before, _) = world.select(&["web"]).await;
    let file = world.path().join("repo/web/config.yaml");
    let value = async |workspace: &Workspace, selected: &SelectedApplications| {
        let mut values = Vec::new();
        render(workspace, &selected.applications, RenderAdjustments::default(), &|_| {}, |_, result| {
            let manifests = result.expect("it renders").manifests;
            values.push(manifests[0].object()["data"]["key"].clone());
        })
        .await;
        values
    };
    let (first, selected) = world.select(&["web"]).await;
    assert_eq!(value(&first, &selected).await, ["new"]);
    fs::write(file, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: config}\ndata: {key: newer}\n")
        .expect("a file");
    fs::write(
        world.path().join("store/more.yaml"),
        FILES[0].1.replace("name: web", "name: more").replace("name: gone", "name: other"),
    )
    .expect("a file");
    let (second, both) = world.select(&["web", "more"]).await;
    assert_eq!(value(&second, &both).await, ["newer", "newer"]);
    assert_eq!(value(&first, &selected).await, ["new"], "a request reads the files of a repository once");
    let error = select(
        &before,
        &ApplicationSelection { applications: vec!["more".to_owned()], ..ApplicationSelection::default() },
        "render",
    );
    assert_eq!(error.expect("a selection").errors.len(), 1, "a request has the store of its beginning");
}

#[tokio::test]
async fn manifests_are_compared_with_live_objects() {
    let world = World::new();
    let (workspace, selected) = world.select(&["web"]).await;
    let clusters = LiveClusters::open(&workspace).expect("live objects");
    let compared = compare_live(&workspace, &clusters, &selected.applications, &|_| {}).await;
    let [diff] = compared.as_slice() else { panic!("{compared:?}") };
    let mut found: Vec<(&str, &str)> =
        diff.objects().iter().map(|object| (object.key.kind.as_str(), object.change.word())).collect();
    found.sort_unstable();
    assert_eq!(found, [("ConfigMap", "changed"), ("Secret", "added")]);
}

#[tokio::test]
async fn planned_edit_is_written_once_and_only_to_the_expected_version() {
    let world = World::new();
    let values = ParameterValues { assignments: vec!["replicas=2".to_owned()], ..ParameterValues::default() };
    let request = ParameterRequest::new(&values, &[], world.service.host()).expect("a request");
    let plan = async |if_version: Option<&str>| {
        let workspace = open_workspace(&world.service, "plugged").await.expect("a workspace");
        let options = EditOptions {
            if_version: if_version.map(str::to_owned),
            allow_unannounced: true,
            ..EditOptions::default()
        };
        let selection =
            ApplicationSelection { applications: vec!["plugged".to_owned()], ..Default::default() };
        plan_edits(&workspace, &selection, &SourceChoice::default(), &options, &request, &|_| {}).await
    };
    let file = world.path().join("store/plugin.yaml");
    let before = fs::read_to_string(&file).expect("a file");

    let conflict = plan(Some("other")).await.expect_err("the file has another version");
    assert_eq!(conflict.kind(), ErrorKind::Conflict);
    let planned = plan(None).await.expect("a plan");
    let patch = planned.patch(world.service.host());
    assert!(patch.starts_with("--- store/plugin.yaml\n+++ store/plugin.yaml\n"), "{patch}");
    assert_eq!(fs::read_to_string(&file).expect("a file"), before, "a plan writes nothing");
    let late = plan(None).await.expect("a plan");
    planned.write(|_| {}).expect("it is written");
    let after = fs::read_to_string(&file).expect("a file");
    assert_eq!(after, before.replace("'1'", "'2'"));
    assert_eq!(late.write(|_| {}).expect_err("the file changed").kind(), ErrorKind::Conflict);
    let rest = plan(None).await.expect("a plan");
    assert!(rest.edits.iter().all(PlannedEdit::is_empty), "nothing is left to change");
}
