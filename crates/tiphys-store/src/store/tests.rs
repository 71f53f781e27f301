use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use tempfile::TempDir;
use tiphys_model::resources::SecretType;

use super::{Counts, PastInput, Store, StoreError, StoreInput};
use crate::{Authors, Origin, SetId, StoredSecret, StoredSettings};

/// Creates a directory with files.
fn folder(files: &[(&str, &str)]) -> TempDir {
    let dir = tempfile::tempdir().expect("a temporary directory");
    for (path, text) in files {
        let path = dir.path().join(path);
        fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
        fs::write(path, text).expect("a file");
    }
    dir
}

fn load(dir: &TempDir) -> Store {
    Store::load(&[StoreInput::Path(dir.path().to_owned())]).expect("readable directory")
}

fn app(name: &str) -> String {
    format!(
        "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata:\n  name: {name}\nspec:\n  source:\n    repoURL: https://git.example.com/r.git\n"
    )
}

fn names(store: &Store) -> Vec<&str> {
    store.applications().iter().map(|stored| stored.application.metadata.name.as_str()).collect()
}

/// `file:line:column: reason`, with files relative to the directory.
fn skipped(store: &Store, dir: &TempDir) -> Vec<String> {
    let root = format!("{}/", dir.path().display());
    store
        .skipped()
        .iter()
        .map(|skipped| format!("{}: {}", skipped.place, skipped.reason).replace(&root, ""))
        .collect()
}

fn broken(store: &Store, dir: &TempDir) -> Vec<String> {
    let root = format!("{}/", dir.path().display());
    store.broken().iter().map(|broken| broken.to_string().replace(&root, "")).collect()
}

#[test]
fn documents_lists_and_arrays_are_read_in_order() {
    let list = format!(
        "apiVersion: v1\nkind: List\nitems:\n- {}\n- {{apiVersion: v1, kind: Pod}}\n",
        app("c").trim_end().replace('\n', "\n  ")
    );
    let array = r#"[{"apiVersion": "argoproj.io/v1alpha1", "kind": "Application", "metadata": {"name": "d"}, "spec": {"source": {"repoURL": "x"}}}]"#;
    let dir = folder(&[
        ("a.yaml", &format!("{}---\n{}", app("a"), app("b"))),
        ("b.yml", &list),
        ("c.json", array),
        ("sub/deep/e.yaml", &app("e")),
        ("notes.txt", &app("not-looked-at")),
    ]);
    let store = load(&dir);
    assert_eq!(names(&store), ["a", "b", "c", "d", "e"]);
    let places: Vec<String> = store.applications().iter().map(|stored| stored.place.to_string()).collect();
    assert!(places[1].ends_with("a.yaml:9:1"), "{places:?}");
    assert!(places[2].ends_with("b.yml:4:3"), "{places:?}");
    assert!(store.skipped().is_empty() && store.broken().is_empty());
}

#[test]
fn standard_input_and_any_named_file_are_stores() {
    let dir = folder(&[("apps.txt", &app("file"))]);
    let inputs =
        [StoreInput::StandardInput(app("piped").into_bytes()), StoreInput::Path(dir.path().join("apps.txt"))];
    let store = Store::load(&inputs).expect("readable inputs");
    assert_eq!(names(&store), ["piped", "file"]);
    assert_eq!(store.applications()[0].place.to_string(), "standard input:1:1");
}

#[test]
fn missing_path_is_reported() {
    let error = Store::load(&[StoreInput::Path("/nonexistent/store".into())]).expect_err("a missing path");
    assert!(matches!(&error, StoreError::Open { path, .. } if path == Path::new("/nonexistent/store")));
    assert_eq!(error.to_string(), "cannot open /nonexistent/store");
}

#[test]
fn hidden_directories_and_ignored_files_are_skipped() {
    let dir = folder(&[
        (".git/a.yaml", &app("git")),
        (".hidden.yaml", &app("hidden-file")),
        ("sub/.cache/a.yaml", &app("cache")),
        ("drafts/a.yaml", &app("draft")),
        ("drafts/keep/b.yaml", &app("draft-below")),
        ("kept/x.yaml", &app("kept")),
        ("kept/x-test.yaml", &app("test")),
        ("kept/y-test.yaml", &app("kept-test")),
        ("kept/.tiphysignore", "!y-test.yaml\n"),
        (".tiphysignore", "# comments\n/drafts/\n*-test.yaml\n"),
        (".gitignore", "kept\n"),
    ]);
    assert_eq!(names(&load(&dir)), ["hidden-file", "kept", "kept-test"]);
}

#[test]
fn directories_that_commands_write_are_skipped() {
    let dir = folder(&[
        ("a.yaml", &app("a")),
        ("rendered/argocd/b.yaml", &app("rendered")),
        ("rendered/.tiphys-files", "argocd/b.yaml\n"),
        ("kept/c.yaml", &app("kept")),
        ("kept/list", ""),
    ]);
    std::os::unix::fs::symlink("list", dir.path().join("kept/.tiphys-files")).expect("a link");
    assert_eq!(names(&load(&dir)), ["a", "kept"]);
    let named = Store::load(&[StoreInput::Path(dir.path().join("rendered"))]).expect("readable directory");
    assert_eq!(names(&named), ["rendered"]);
}

#[test]
fn templates_and_patches_are_skipped_with_reason() {
    let dir = folder(&[
        ("app.yaml", &app("web")),
        (
            "chart/templates/app.yaml",
            "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata:\n  name: {{ .Values.name }}\n",
        ),
        (
            "chart/templates/deployment.yaml",
            "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: {{ .Release.Name }}\n",
        ),
        (
            "chart/templates/loop.yaml",
            "{{- range .Values.apps }}\n---\napiVersion: argoproj.io/v1alpha1\n{{- end }}\n",
        ),
        ("chart/templates/quoted.yaml", &app("'{{ .Release.Name }}'")),
        (
            "overlay/patch.yaml",
            "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata:\n  name: web\nspec:\n  source:\n    targetRevision: v2\n",
        ),
        (
            "overlay/delete.yaml",
            "$patch: delete\napiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata:\n  name: web\nspec: {source: {repoURL: x}}\n",
        ),
        (
            "overlay/json6902.yaml",
            "# target: argoproj.io/v1alpha1\n- op: replace\n  path: /spec/source/targetRevision\n  value: v3\n",
        ),
        ("overlay/project.yaml", "apiVersion: argoproj.io/v1alpha1\nkind: AppProject\nmetadata: {name: p}\n"),
        (
            "overlay/nameless.yaml",
            "apiVersion: argoproj.io/v1alpha1\nkind: Application\nspec: {source: {repoURL: x}}\n",
        ),
        ("values.yaml", "a: [\n"),
        ("rollout.yaml", "apiVersion: argoproj.io/v1alpha1\nkind: Rollout\nmetadata: {name: r}\n"),
        (
            "secret.yaml",
            "apiVersion: v1\nkind: Secret\nmetadata: {name: s, labels: {argocd.argoproj.io/secret-type: repository}}\ndata: {password: <vault#x>}\n",
        ),
        ("settings.md.yaml", "see argocd-cm: [\n"),
    ]);
    let store = load(&dir);
    assert_eq!((names(&store), broken(&store, &dir)), (vec!["web"], vec![]));
    assert_eq!(
        skipped(&store, &dir),
        [
            "chart/templates/app.yaml:4:10: a template, not YAML",
            "chart/templates/loop.yaml:1:3: a template, not YAML",
            "chart/templates/quoted.yaml:1:1: only a part of an object: its name is a template",
            "overlay/delete.yaml:1:1: only a part of an object: it is a patch",
            "overlay/nameless.yaml:1:1: only a part of an object: it has no name",
            "overlay/patch.yaml:1:1: only a part of an object: it names no repository",
            "overlay/project.yaml:1:1: only a part of an object: it has no spec",
            "secret.yaml:1:1: only a part of an object: a value of its `data` is not base64",
            "settings.md.yaml:2:1: not YAML: expected a value",
        ],
    );
    assert_eq!(store.counts(), Counts { files: 14, files_without_resources: 2 });
}

#[test]
fn misspelt_field_of_incomplete_document_is_reported() {
    let start = "apiVersion: argoproj.io/v1alpha1\nkind: ";
    for (document, expected) in [
        ("Application\nmetadata: {name: x}\nspec: {source: {targetRevision: v2}}", "it names no repository"),
        ("Application\nmetadata: {name: x}\nspec: {syncPolicy: {newInArgoCd: x}}", "it names no repository"),
        ("Application\nmetadata: {name: x}\n$setElementOrder/x: []", "it names no repository"),
        ("Application\nmetadata: {annotations: {a: b}}", "it has no name"),
        ("AppProject\nmetadata: {name: x}", "it has no spec"),
        (
            "Application\nmetadata: {name: x}\nsepc: {source: {repoURL: x}}",
            "4:1: sepc: unknown field; the fields are",
        ),
        (
            "Application\nmetadata: {name: x}\nSpec: {source: {repoURL: x}}",
            "4:1: Spec: unknown field; the fields are",
        ),
        (
            "Application\nmetdata: {name: x}\nspec: {source: {repoURL: x}}",
            "3:1: metdata: unknown field; the fields are",
        ),
        ("Application\nmetadata: {nmae: x}", "3:12: metadata.nmae: unknown field; did you mean name?"),
        (
            "Application\nmetadata: {name: x}\nspec: {sorce: {repoURL: x}}",
            "4:8: spec.sorce: unknown field; did you mean source?",
        ),
        (
            "Application\nmetadata: {name: x}\nspec: {source: {url: x}}",
            "4:17: spec.source.url: unknown field",
        ),
        (
            "Application\nmetadata: {name: x}\nspec: {sources: [{url: x}]}",
            "4:19: spec.sources[0].url: unknown field",
        ),
        ("Application\nmetadata: {name: x}\nspec: {repository: x}", "4:8: spec.repository: unknown field"),
        (
            "Application\nmetadata: {name: x}\nspec: {syncPolicy: {automated: true}}",
            "expected an object, found a boolean",
        ),
        ("AppProject\nmetadata: {name: x}\nspec:\nspecs: {}", "5:1: specs: unknown field; the fields are"),
        ("ApplicationSet\nmetadata: {name: x}\nSpec: {}", "4:1: Spec: unknown field; the fields are"),
    ] {
        let dir = folder(&[("one.yaml", &format!("{start}{document}\n"))]);
        let store = load(&dir);
        let found = [skipped(&store, &dir), broken(&store, &dir)].concat();
        let [found] = &found[..] else { panic!("{document}: {found:?}") };
        let parts: Vec<&str> = expected.split(": ").collect();
        assert!(parts.iter().all(|part| found.contains(part)), "{document}: {found}");
    }
}

#[test]
fn broken_documents_are_recorded_with_location() {
    let dir = folder(&[
        ("a.yaml", "# argoproj.io/\nkind: [\n"),
        ("b.yaml", &app("web").replace("https://git.example.com/r.git", "5")),
        ("c.yaml", &format!("{}---\n{}", app("good"), app("list").replace("source:", "sources:"))),
        (
            "d.yaml",
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: argocd-cm}\ndata: {installationID: 5}\n",
        ),
        (
            "e.yaml",
            "apiVersion: v1\nkind: Secret\nmetadata:\n  name: s\n  labels: {argocd.argoproj.io/secret-type: repository}\ndata:\n  password: 5\n",
        ),
    ]);
    let store = load(&dir);
    assert_eq!(names(&store), ["good"]);
    let found = broken(&store, &dir);
    let expected = [
        "a.yaml:3:1: expected a value",
        "b.yaml:7:14: Application web: spec.source.repoURL: expected a string",
        "c.yaml:15:5: Application list: spec.sources: expected a list",
        "d.yaml:4:24: ConfigMap argocd-cm: data.installationID: expected a string, found a number; put it in quotes",
        "e.yaml:7:13: Secret s: data.password: expected a string",
    ];
    assert_eq!(found.len(), expected.len(), "{found:?}");
    for (found, start) in found.iter().zip(expected) {
        assert!(found.starts_with(start), "{found}");
    }
}

#[test]
fn file_reached_twice_is_loaded_once() {
    let dir = folder(&[("a.yaml", &app("a")), ("sub/b.yaml", &app("b"))]);
    let inputs =
        [dir.path().to_owned(), dir.path().join("sub"), dir.path().join("sub/b.yaml")].map(StoreInput::Path);
    assert_eq!(names(&Store::load(&inputs).expect("readable inputs")), ["a", "b"]);
}

#[test]
fn settings_are_read_from_argocd_cm() {
    let dir = folder(&[(
        "cm.yaml",
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: argocd-cm, namespace: gitops}\ndata:\n  application.resourceTrackingMethod: label\n  application.instanceLabelKey: example.com/app\n  installationID: one\n  kustomize.buildOptions: --enable-helm\n  kustomize.buildOptions.v5: --x\n  helm.valuesFileSchemes: 'https, s3,'\n  resource.customizations.ignoreDifferences.all: x\n  resource.customizations.health.x: ignoreDifferences\n  resource.customizations: 'x: {ignoreDifferences: y}'\n",
    )]);
    let store = load(&dir);
    let (stored, warning) = store.settings(None, Authors::Untrusted);
    assert_eq!(warning, None);
    let settings = &stored.expect("settings").settings;
    assert_eq!(store.control_plane_namespace(), "gitops");
    assert_eq!(settings.tracking_method.as_deref(), Some("label"));
    assert_eq!(settings.label_key.as_deref(), Some("example.com/app"));
    assert_eq!(settings.installation_id.as_deref(), Some("one"));
    assert_eq!(settings.kustomize.build_options.as_deref(), Some("--enable-helm"));
    assert_eq!(settings.kustomize.build_options("v5"), "--x");
    assert_eq!(settings.value_file_schemes, Some(vec!["https".to_owned(), "s3".to_owned()]));
    let keys: Vec<_> = settings.ignore_differences.iter().map(|found| found.key.as_str()).collect();
    assert_eq!(keys, ["resource.customizations", "resource.customizations.ignoreDifferences.all"]);
}

#[test]
fn certificates_are_read_from_the_namespace() {
    let cm = |namespace: &str, pem: &str| {
        format!(
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: argocd-tls-certs-cm, namespace: {namespace}}}\ndata: {{charts.example.org: {pem}, empty: ' '}}\n"
        )
    };
    assert_eq!(load(&folder(&[])).server_certificates(None), (BTreeMap::new(), None));
    let store = load(&folder(&[("a.yaml", &cm("one", "first")), ("b.yaml", &cm("two", "second"))]));
    let of = |pem: &str| BTreeMap::from([("charts.example.org".to_owned(), pem.to_owned())]);
    assert_eq!(store.server_certificates(None), (BTreeMap::new(), None));
    for file in store.deciding_files() {
        file.set_origin(|| Origin::Caller);
    }
    let (found, warning) = store.server_certificates(None);
    assert_eq!(found, of("first"));
    assert!(warning.expect("a warning").contains("b.yaml:1:1"));
    assert_eq!(store.server_certificates(Some("two")), (of("second"), None));
    assert_eq!(store.server_certificates(Some("three")), (of("first"), None));
}

#[test]
fn control_plane_namespace_defaults_to_argocd() {
    let cm = |namespace: &str, id: &str| {
        format!(
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: argocd-cm, namespace: {namespace}}}\ndata: {{installationID: {id}}}\n"
        )
    };
    assert_eq!(load(&folder(&[])).control_plane_namespace(), "argocd");
    let dir = folder(&[("a.yaml", &cm("one", "first")), ("b.yaml", &cm("two", "second"))]);
    let store = load(&dir);
    let of = |(stored, warning): (Option<&StoredSettings>, Option<String>)| {
        (stored.and_then(|stored| stored.settings.installation_id.clone()), warning)
    };
    let (id, warning) = of(store.settings(None, Authors::Untrusted));
    assert_eq!(id.as_deref(), Some("first"));
    assert!(warning.expect("a warning").contains("b.yaml:1:1"));
    assert_eq!(of(store.settings(Some("two"), Authors::Untrusted)), (Some("second".to_owned()), None));
    assert_eq!(of(store.settings(None, Authors::Trusted)), (None, None));
    let second = store.deciding_files().find(|file| file.to_string().ends_with("b.yaml"));
    second.expect("the second file").set_origin(|| Origin::WorkTree);
    assert_eq!(of(store.settings(None, Authors::Trusted)), (Some("second".to_owned()), None));
    assert_eq!(of(store.settings(None, Authors::Untrusted)), (Some("first".to_owned()), None));
    assert_eq!(store.control_plane_namespace(), "two");
}

#[test]
fn secrets_are_loaded_and_redacted_in_debug_output() {
    let dir = folder(&[
        (
            "a.yaml",
            "apiVersion: v1\nkind: Secret\nmetadata:\n  name: s\n  labels: {argocd.argoproj.io/secret-type: repo-creds}\ndata:\n  url: aHR0cHM6\n    Ly94\n  password: aHVudGVyMg==\nstringData:\n  username: me\n",
        ),
        (
            "b.yaml",
            "apiVersion: v1\nkind: Secret\nmetadata: {name: other, labels: {x: argoproj.io/}}\ndata: {a: YQ==}\n",
        ),
    ]);
    let store = load(&dir);
    let [StoredSecret { secret, .. }] = store.secrets() else { panic!("{:?}", store.secrets()) };
    assert_eq!(secret.secret_type, SecretType::RepositoryCredentials);
    let values: Vec<(&str, &[u8])> =
        secret.values.iter().map(|(key, value)| (key.as_str(), value.expose())).collect();
    assert_eq!(values, [("password", &b"hunter2"[..]), ("url", b"https://x"), ("username", b"me")]);
    let printed = format!("{store:?}");
    assert!(!printed.contains("hunter2") && !printed.contains("aHVudGVyMg"), "{printed}");
}

#[test]
fn projects_and_application_sets_are_loaded() {
    let dir = folder(&[
        (
            "p.yaml",
            "apiVersion: argoproj.io/v1alpha1\nkind: AppProject\nmetadata: {name: shop}\nspec: {sourceRepos: ['https://x']}\n",
        ),
        (
            "open.yaml",
            "apiVersion: argoproj.io/v1alpha1\nkind: AppProject\nmetadata: {name: open}\nspec: {sourceRepos: ['*'], destinations: [{server: '*', namespace: '*'}], clusterResourceWhitelist: [{group: '*', kind: '*'}]}\n",
        ),
        (
            "set.yaml",
            "apiVersion: argoproj.io/v1alpha1\nkind: ApplicationSet\nmetadata: {name: all}\nspec: {generators: []}\n",
        ),
    ]);
    let store = load(&dir);
    let places = ["shop", "open"].map(|name| store.project(name).map(|stored| stored.place.to_string()));
    let expected = ["p.yaml:1:1", "open.yaml:1:1"].map(|end| format!("{}/{end}", dir.path().display()));
    assert_eq!(places, expected.map(Some));
    assert_eq!(store.project("missing"), None);
    assert_eq!(store.sets()[0].metadata.name, "all");
}

#[test]
fn files_are_read_in_order_on_several_threads() {
    let files: Vec<(String, String)> =
        (0..200).map(|n| (format!("{n:03}.yaml"), app(&format!("a{n:03}")))).collect();
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    let store = load(&folder(&files));
    let expected: Vec<String> = (0..200).map(|n| format!("a{n:03}")).collect();
    assert_eq!(names(&store), expected);
}

#[test]
fn links_to_files_are_followed_and_dangling_ones_skipped() {
    let dir = folder(&[("real.txt", &app("linked"))]);
    std::os::unix::fs::symlink(dir.path().join("real.txt"), dir.path().join("a.yaml")).expect("a link");
    std::os::unix::fs::symlink(dir.path().join("gone"), dir.path().join("b.yaml")).expect("a link");
    std::os::unix::fs::symlink(dir.path(), dir.path().join("loop")).expect("a link");
    let store = load(&dir);
    assert_eq!((names(&store), store.skipped().len()), (vec!["linked"], 0));
}

#[test]
fn only_regular_files_list_what_to_ignore() {
    // A socket stands for all that opening may block.
    for kind in ["link", "directory", "socket"] {
        for list in [".tiphysignore", "sub/.tiphysignore"] {
            let dir = folder(&[("a.yaml", &app("a")), ("sub/b.yaml", &app("b")), ("list", "a.yaml\n")]);
            let path = dir.path().join(list);
            let made = match kind {
                "link" => std::os::unix::fs::symlink(dir.path().join("list"), path),
                "directory" => fs::create_dir(path),
                _ => std::os::unix::net::UnixListener::bind(path).map(drop),
            };
            made.expect("it is made");
            let error = Store::load(&[StoreInput::Path(dir.path().to_owned())]).expect_err(kind);
            let StoreError::Open { source, .. } = error else { panic!("{error}") };
            assert!(source.to_string().contains(list), "{kind}: {source}");
        }
    }
}

#[test]
fn files_of_a_revision_are_named_as_in_git() {
    let whole = folder(&[
        ("apps/a.yaml", &app("a")),
        ("apps/.hidden/h.yaml", &app("h")),
        ("apps/x.yaml", "a: [argoproj.io/"),
    ]);
    let part = folder(&[("apps/a.yaml", &app("a")), ("apps/b.yaml", &app("b"))]);
    std::os::unix::fs::symlink("b.yaml", part.path().join("apps/again.yaml")).expect("a link");
    let input = |dir: &TempDir, path: &str| {
        StoreInput::Past(PastInput {
            root: dir.path().to_owned(),
            path: path.into(),
            work_tree: "/work".into(),
            revision: "origin/main".to_owned(),
        })
    };
    let inputs = [input(&whole, ""), input(&part, "apps"), input(&part, "apps/b.yaml")];
    let store = Store::load(&inputs).expect("readable inputs");
    let places: Vec<String> = store.applications().iter().map(|stored| stored.place.to_string()).collect();
    assert_eq!(places, ["origin/main:apps/a.yaml:1:1", "origin/main:apps/again.yaml:1:1"]);
    let broken: Vec<String> = store.broken().iter().map(|broken| broken.place.to_string()).collect();
    assert_eq!(broken, ["origin/main:apps/x.yaml:1:17"]);
    assert_eq!(store.applications()[0].place.file.path(), None, "files of a revision are not editable");
}

#[test]
fn objects_are_found_by_kind_and_name() {
    let map =
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: plugin, namespace: argocd}\ndata: {baseUrl: x}\n";
    let dir = folder(&[
        ("a.yaml", &format!("{map}---\n{}", map.replace("plugin", "other"))),
        (
            "list.yaml",
            "kind: List\nitems:\n- kind: ConfigMap\n  metadata: {name: plugin}\n- kind: Secret\n  metadata: {name: plugin}\n",
        ),
        ("broken.yaml", "kind: ConfigMap\nmetadata: {name: plugin\n"),
    ]);
    let store = load(&dir);
    assert_eq!(store.counts().files_without_resources, 3);
    let found = |kind, name| -> Vec<String> {
        let root = format!("{}/", dir.path().display());
        store
            .documents()
            .objects(kind, name)
            .iter()
            .map(|(_, place)| place.to_string().replace(&root, ""))
            .collect()
    };
    assert_eq!(found("ConfigMap", "plugin"), ["a.yaml:1:1", "list.yaml:3:3"]);
    assert_eq!(found("Secret", "plugin"), ["list.yaml:5:3"]);
    assert_eq!(found("Secret", "other"), [""; 0]);
}

#[test]
fn stored_applications_of_a_set_give_way_to_generated_ones() {
    let set = "apiVersion: argoproj.io/v1alpha1\nkind: ApplicationSet\nmetadata: {name: set}\nspec: {}\n";
    for (owns, name, expected) in [
        (true, "a", vec!["set.yaml:1:1"]),
        (true, "b", vec!["a.yaml:1:1", "set.yaml:1:1"]),
        (false, "a", vec!["a.yaml:1:1", "set.yaml:1:1"]),
    ] {
        let dir = folder(&[("a.yaml", &app(name)), ("set.yaml", set)]);
        let mut store = load(&dir);
        let node = tiphys_yaml::read_document(app("a").as_bytes()).expect("YAML").expect("a document");
        let id = SetId { namespace: "argocd".to_owned(), name: "set".to_owned() };
        let generated = store.sets()[0].generated(node, id.clone());
        store.include(vec![generated.expect("an application")], "argocd", &|_, _| owns);
        let root = format!("{}/", dir.path().display());
        let places: Vec<String> =
            store.applications().iter().map(|stored| stored.place.to_string().replace(&root, "")).collect();
        assert_eq!(places, expected);
        assert_eq!(store.applications().last().expect("one").generated_by, Some(id));
    }
}
