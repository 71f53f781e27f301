//! The table of SECURITY.md: what a document of each kind and origin may decide.

use std::fs;

use tiphys_generators::ObjectOrigin;
use tiphys_model::access::FileRepositories;
use tiphys_store::{Origin, Store, StoreInput};

use super::super::StoreSettings;
use crate::context::options::ServiceOptions;
use crate::context::projects::{ProjectInputs, Projects};
use crate::context::sets::objects::object_origin;

const SECURITY: &str = include_str!("../../../../../../SECURITY.md");

/// The beginning of the heading of the table.
const HEADING: &str = "| what | from the caller | from a rendered repository |";

/// One document of each kind.
const DOCUMENTS: &str = "
{kind: ConfigMap, apiVersion: v1, metadata: {name: argocd-cm, namespace: own}, data: {kustomize.buildOptions: --enable-exec, kustomize.path.v9: /bin/k, helm.valuesFileSchemes: ftp, helm.enable: 'false', installationID: id, resource.customizations.ignoreDifferences.all: 'jsonPointers: [/spec]', globalProjects: '[{projectName: g, labelSelector: {matchLabels: {tier: a}}}]'}}
---
{kind: ConfigMap, apiVersion: v1, metadata: {name: argocd-tls-certs-cm}, data: {example.org: pem}}
---
{kind: Secret, apiVersion: v1, metadata: {name: r, labels: {argocd.argoproj.io/secret-type: repository}}, stringData: {url: https://example.org/r}}
---
{kind: Secret, apiVersion: v1, metadata: {name: c, labels: {argocd.argoproj.io/secret-type: cluster}}, stringData: {name: c, server: https://c}}
---
{kind: AppProject, apiVersion: argoproj.io/v1alpha1, metadata: {name: p, namespace: own, labels: {tier: a}}, spec: {sourceRepos: ['*']}}
---
{kind: AppProject, apiVersion: argoproj.io/v1alpha1, metadata: {name: g, namespace: own}, spec: {sourceRepos: ['*']}}
---
{kind: Application, apiVersion: argoproj.io/v1alpha1, metadata: {name: a}, spec: {project: p, source: {repoURL: file:///r, path: .}, destination: {server: https://c}}}
";

/// The columns of [`CASES`].
const ORIGINS: [Origin; 7] = [
    Origin::Caller,
    Origin::WorkTree,
    Origin::AcceptedRepository,
    Origin::Repository,
    Origin::AcceptedHead,
    Origin::Base,
    Origin::AcceptedBase,
];

const ALL: [bool; 7] = [true; 7];
const ACCEPTED: [bool; 7] = [true, true, true, false, true, false, true];

/// The effective settings, projects and Application of a store.
struct Effect {
    origin: Origin,
    settings: StoreSettings,
    projects: Projects,
    store: Store,
}

/// The beginning of a row of SECURITY.md, what is done with a document that would widen what a render may do, and the origins for which it
/// is accepted.
type Case = (&'static str, fn(&Effect) -> bool, [bool; 7]);

const CASES: [Case; 13] = [
    (
        "`kustomize.buildOptions`",
        |effect| effect.settings.settings.kustomize.build_options.is_some(),
        ACCEPTED,
    ),
    ("versions of kustomize", |effect| effect.settings.settings.kustomize.program("v9").is_some(), ACCEPTED),
    ("ignored differences", |effect| !effect.settings.settings.ignore_differences.is_empty(), ALL),
    (
        "`helm.valuesFileSchemes`",
        |effect| effect.settings.settings.value_file_schemes.iter().flatten().any(|scheme| scheme == "ftp"),
        ACCEPTED,
    ),
    // It restricts.
    ("`helm.enable`", |effect| effect.settings.settings.helm_enable.as_deref() == Some("false"), ALL),
    ("tracking method", |effect| effect.settings.settings.installation_id.is_some(), ALL),
    ("control plane namespace", |effect| effect.store.control_plane_namespace() == "own", ALL),
    ("repository Secrets", |effect| !effect.settings.known.repositories.is_empty(), ACCEPTED),
    ("CA certificates", |effect| !effect.settings.known.certificates.is_empty(), ACCEPTED),
    (
        "cluster Secrets: `name`",
        |effect| {
            let application = &effect.store.applications()[0].application;
            effect.projects.cluster(&application.spec.destination).name.is_some()
        },
        ACCEPTED,
    ),
    (
        "AppProjects",
        |effect| effect.projects.permits_live(&effect.store.applications()[0].application),
        [true, true, true, false, true, true, true],
    ),
    (
        "application sets: ConfigMaps",
        |effect| object_origin(effect.origin) == ObjectOrigin::Caller,
        [true, true, true, false, false, true, true],
    ),
    (
        "`file://` repositories of Applications",
        |effect| effect.origin.file_repositories() == FileRepositories::Any,
        [true, false, false, false, false, false, false],
    ),
];

/// The rows about something else than the origin of a document.
const OTHERS: [&str; 9] = [
    "`.tiphys.yaml`: values that need no consent",
    "`.tiphys.yaml`: values that need consent",
    "plugins, plugin sockets",
    "cluster Secrets: `config`",
    "kubeconfigs",
    "dynamic parameters",
    "application sets: which servers",
    "what applications render",
    "`file://` repositories of submodules",
];

fn effect(origin: Origin) -> Effect {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let path = dir.path().join("all.yaml");
    fs::write(&path, DOCUMENTS).expect("a file");
    let store = Store::load(&[StoreInput::Path(path)]).expect("a store");
    for file in store.deciding_files() {
        file.set_origin(|| origin);
    }
    let settings = StoreSettings::new(&store, None);
    let inputs = ProjectInputs {
        options: &ServiceOptions::default(),
        resources: &store,
        settings: &settings.settings,
        origin: settings.origin,
        known: &settings.known,
        live_clusters: &[],
        control_plane: "own",
    };
    let projects = Projects::new(&inputs, &mut Vec::new());
    Effect { origin, settings, projects, store }
}

/// Whether a cell of the table accepts a document that would widen what a render may do.
fn accepts(cell: &str) -> bool {
    let refusals =
        ["ignored", "only ", "can only forbid", "accepted as restrictions", "those below", "by the location"];
    !refusals.iter().any(|beginning| cell.starts_with(beginning)) && !cell.contains("is not sent")
}

#[test]
fn each_origin_decides_what_security_md_says() {
    let (_, table) = SECURITY.split_once(HEADING).expect("the table");
    let rows: Vec<Vec<&str>> = table
        .lines()
        .skip(2)
        .take_while(|line| line.starts_with('|'))
        .map(|line| line.trim_matches('|').split('|').map(str::trim).collect())
        .collect();
    let known = |row: &[&str]| {
        let is_row = |name: &&str| row[0].starts_with(name);
        OTHERS.iter().filter(|name| is_row(name)).count()
            + CASES.iter().filter(|case| is_row(&case.0)).count()
    };
    let unknown: Vec<&str> = rows.iter().filter(|row| known(row) != 1).map(|row| row[0]).collect();
    assert!(unknown.is_empty(), "rows of SECURITY.md without a case: {unknown:?}");
    assert_eq!(rows.len(), CASES.len() + OTHERS.len(), "a case without a row of SECURITY.md");
    let effects = ORIGINS.map(effect);
    for (name, is_accepted, expected) in CASES {
        let found: Vec<bool> = effects.iter().map(is_accepted).collect();
        assert_eq!(found, expected, "{name}");
        let row = rows.iter().find(|row| row[0].starts_with(name)).expect("checked above");
        let [_, caller, repository, base] = row[..] else { panic!("{row:?}") };
        let is =
            |origin: Origin| ORIGINS.iter().zip(expected).any(|(one, accepted)| *one == origin && accepted);
        assert_eq!(accepts(caller), is(Origin::Caller), "{name}: {caller}");
        assert_eq!(accepts(repository), is(Origin::Repository), "{name}: {repository}");
        let of_base = if base.starts_with("the same") { accepts(repository) } else { accepts(base) };
        assert_eq!(of_base, is(Origin::Base), "{name}: {base}");
    }
}

#[test]
fn settings_of_repository_give_way_to_those_of_the_caller() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let settings = |id: &str, namespace: &str| {
        format!(
            "{{kind: ConfigMap, apiVersion: v1, metadata: {{name: argocd-cm, namespace: {namespace}}}, data: {{installationID: {id}}}}}"
        )
    };
    fs::write(dir.path().join("a.yaml"), settings("theirs", "theirs")).expect("a file");
    fs::write(dir.path().join("b.yaml"), settings("own", "own")).expect("a file");
    let store = Store::load(&[StoreInput::Path(dir.path().to_owned())]).expect("a store");
    let own = store.deciding_files().find(|file| file.to_string().ends_with("b.yaml")).expect("the file");
    own.set_origin(|| Origin::Caller);
    // The origin of the other file is not set, so it is a rendered repository's.
    let found = StoreSettings::new(&store, None);
    assert_eq!(found.settings.installation_id.as_deref(), Some("own"));
    assert_eq!(store.control_plane_namespace(), "own");
}
