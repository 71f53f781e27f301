//! Decoding of resources: fields, unknown fields, error positions.

use tiphys_yaml::{Node, read_document};

use crate::resources::{
    AppProject, AppProjectSpec, Application, ApplicationSource, GoFields, KindPattern, ProjectDestination,
    ReplicaCount, SignatureKey,
};

fn node(text: &str) -> Node {
    read_document(text.as_bytes()).expect("the YAML is well-formed").expect("the YAML is not empty")
}

const FULL: &str = "\
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata:
  name: web
  namespace: argocd
  labels: {team: blue}
  annotations: {note: x}
spec:
  project: shop
  destination: {server: https://kubernetes.default.svc, namespace: web}
  sources:
  - repoURL: https://git.example.com/repo.git
    path: web
    targetRevision: main
    name: main
    plugin:
      name: trivial-v1
      env: [{name: A, value: '1'}]
      parameters:
      - {name: s, string: ''}
      - {name: a, array: []}
      - {name: m, map: {k: v}}
  - repoURL: https://charts.example.com
    chart: redis
    targetRevision: 1.0.0
    ref: charts
    helm: {releaseName: r, valuesObject: {a: 1}, parameters: [{name: x, value: '1', forceString: true}]}
  - repoURL: https://git.example.com/repo.git
    path: overlay
    kustomize: {namePrefix: p-, images: [a:1], commonLabels: {k: v}, replicas: [{name: d, count: 2}, {name: e, count: '3'}]}
  - repoURL: https://git.example.com/repo.git
    path: plain
    directory: {recurse: true, include: '*.yaml', exclude: 'x*', jsonnet: {tlas: [{name: t, value: v, code: true}]}}
  syncPolicy: {automated: {prune: true}}
  ignoreDifferences:
  - {group: apps, kind: Deployment, jsonPointers: [/spec/replicas], jqPathExpressions: [.a], managedFieldsManagers: [m]}
status: {sync: {status: Synced}}
";

#[test]
fn known_fields_are_decoded_without_findings() {
    let decoded = Application::decode(&node(FULL)).expect("the application is valid");
    assert_eq!(decoded.findings, crate::resources::Findings::default());
    let app = decoded.value;
    assert_eq!((app.metadata.name.as_str(), app.metadata.namespace.as_str()), ("web", "argocd"));
    assert_eq!(app.metadata.labels["team"], "blue");
    assert_eq!(app.spec.project_name(), "shop");
    assert_eq!(app.spec.destination.namespace, "web");
    let [plugin, helm, kustomize, directory] = app.spec.effective_sources() else {
        panic!("there are four sources")
    };
    let block = plugin.plugin.as_ref().expect("there is a plugin block");
    assert_eq!((block.name.as_str(), block.env[0].name.as_str()), ("trivial-v1", "A"));
    let parameters = block.parameters.as_ref().expect("there are parameters");
    assert_eq!(parameters[0].string.as_deref(), Some(""));
    assert_eq!(parameters[1].array.as_deref(), Some(&[][..]));
    assert_eq!(parameters[2].map.as_ref().expect("a map")["k"], "v");
    assert_eq!((helm.chart.as_str(), helm.reference.as_str()), ("redis", "charts"));
    let helm = helm.helm.as_ref().expect("there is a Helm block");
    assert_eq!(helm.values_object, Some(serde_json::json!({"a": 1})));
    assert!(helm.parameters[0].force_string);
    let kustomize = kustomize.kustomize.as_ref().expect("there is a kustomize block");
    assert_eq!(kustomize.replicas[0].count, ReplicaCount::Number(2));
    assert_eq!(kustomize.replicas[1].count, ReplicaCount::Text("3".to_owned()));
    let directory = directory.directory.as_ref().expect("there is a directory block");
    assert!(directory.recurse && directory.jsonnet.tlas[0].code);
    assert_eq!(app.spec.ignore_differences[0].json_pointers, ["/spec/replicas"]);
    assert_eq!(app.spec.sync_policy, Some(serde_json::json!({"automated": {"prune": true}})));
}

#[test]
fn serde_round_trip_uses_argo_cd_field_names() {
    let app = Application::decode(&node(FULL)).expect("the application is valid").value;
    let written = serde_json::to_value(&app).expect("it can be written");
    assert_eq!(written["spec"]["sources"][1]["ref"], "charts");
    assert_eq!(written["spec"]["sources"][0]["repoURL"], "https://git.example.com/repo.git");
    assert_eq!(written["spec"]["sources"][3]["directory"]["jsonnet"]["tlas"][0]["code"], true);
    assert_eq!(
        written["spec"]["sources"][0]["plugin"]["parameters"][1],
        serde_json::json!({"name": "a", "array": []})
    );
    assert_eq!(Application::of_json(&written).expect("it can be read"), app);
}

#[test]
fn missing_block_differs_from_empty_block() {
    let cases = [
        ("{repoURL: x}", None),
        ("{repoURL: x, plugin: null}", None),
        ("{repoURL: x, plugin: {}}", Some(None)),
        ("{repoURL: x, plugin: {parameters: null}}", Some(None)),
        ("{repoURL: x, plugin: {parameters: []}}", Some(Some(0))),
    ];
    for (text, expected) in cases {
        let source = ApplicationSource::decode(&node(text), "spec.source").expect("it is valid").value;
        let found = source.plugin.map(|block| block.parameters.map(|list| list.len()));
        assert_eq!(found, expected, "{text}");
    }
}

#[test]
fn sources_take_precedence_over_source() {
    let text = "{spec: {source: {repoURL: one}, sources: [{repoURL: two}]}}";
    let spec = Application::decode(&node(text)).expect("it is valid").value.spec;
    assert_eq!(spec.effective_sources()[0].repo_url, "two");
    let spec = Application::decode(&node("{spec: {source: {repoURL: one}, sources: []}}"))
        .expect("it is valid")
        .value
        .spec;
    assert_eq!(spec.effective_sources()[0].repo_url, "one");
    let spec = Application::decode(&node("{spec: {}}")).expect("it is valid").value.spec;
    assert!(spec.effective_sources().is_empty());
    assert_eq!(spec.project_name(), "default");
}

#[test]
fn unknown_fields_are_ignored_and_reported() {
    let text = "metadata: {name: a, uid: x}\nspec:\n  sauce: 1\n  source:\n    repoURL: x\n    plugin: {nmae: y}\n    sources: []\n";
    let decoded = Application::decode(&node(text)).expect("the application is valid");
    let found: Vec<String> =
        decoded.findings.unknown.iter().map(|field| format!("{} {}", field.path, field.position)).collect();
    assert_eq!(found, ["spec.sauce 3:3", "spec.source.plugin.nmae 6:14", "spec.source.sources 7:5"]);
}

#[test]
fn keys_are_case_insensitive_as_in_go() {
    let source =
        ApplicationSource::decode(&node("{RepoUrl: x, Plugin: {NAME: p}}"), "s").expect("it is valid").value;
    assert_eq!((source.repo_url.as_str(), source.plugin.expect("a block").name.as_str()), ("x", "p"));
}

#[test]
fn wrong_type_error_names_object_field_and_position() {
    let cases = [
        ("spec:\n  source:\n    path: 5\n", "3:11", "spec.source.path"),
        ("spec:\n  source:\n    targetRevision: 1.0\n", "3:21", "spec.source.targetRevision"),
        ("spec:\n  sources: {repoURL: x}\n", "2:12", "spec.sources"),
        ("spec:\n  sources:\n  - repoURL: x\n    plugin: []\n", "4:13", "spec.sources[0].plugin"),
        (
            "spec:\n  source:\n    plugin:\n      env:\n      - {name: A, value: 1}\n",
            "5:26",
            "spec.source.plugin.env[0].value",
        ),
        (
            "spec:\n  source:\n    plugin:\n      parameters: {a: b}\n",
            "4:19",
            "spec.source.plugin.parameters",
        ),
        (
            "spec:\n  source:\n    plugin:\n      parameters:\n      - {name: a, string: 3}\n",
            "5:27",
            "spec.source.plugin.parameters[0].string",
        ),
        ("spec:\n  source:\n    directory: {recurse: 'yes'}\n", "3:26", "spec.source.directory.recurse"),
        (
            "spec:\n  source:\n    kustomize: {replicas: [{name: a, count: 1.5}]}\n",
            "3:45",
            "spec.source.kustomize.replicas[0].count",
        ),
        (
            "spec:\n  source:\n    kustomize: {patches: [{options: {a: 1}}]}\n",
            "3:41",
            "spec.source.kustomize.patches[0].options.a",
        ),
        ("spec:\n  syncPolicy: always\n", "2:15", "spec.syncPolicy"),
        ("spec: []\n", "1:7", "spec"),
    ];
    for (spec, position, path) in cases {
        let text = format!("{spec}kind: Application\nmetadata: {{name: web, namespace: argocd}}\n");
        let error = Application::decode(&node(&text)).expect_err(spec);
        assert_eq!(error.to_string(), "cannot read Application argocd/web", "{spec}");
        assert_eq!(
            (error.position().to_string().as_str(), error.source.path.as_str()),
            (position, path),
            "{spec}"
        );
    }
}

#[test]
fn suspicious_plugin_parameters_are_accepted_with_a_warning() {
    let text = "spec:\n  source:\n    plugin:\n      parameters:\n      - {name: a}\n      - {name: b, string: x}\n      - {name: b, string: z}\n";
    let decoded = Application::decode(&node(text)).expect("the application is valid");
    let lines: Vec<usize> =
        decoded.findings.warnings.iter().map(|warning| warning.position.expect("a position").line).collect();
    assert_eq!(lines, [5, 7]);
    let block = decoded.value.spec.source.and_then(|source| source.plugin).expect("there is a block");
    assert_eq!(block.parameters.expect("there are parameters").len(), 3);
}

#[test]
fn last_of_duplicate_keys_counts_and_maps_are_not_merged() {
    let text = "\
spec:
  project: first
  destination: {server: a, namespace: b}
  source:
    plugin:
      parameters:
      - name: m
        map: {a: '1', b: '2'}
        map: {a: '3', a: '4'}
        Name: other
  project: last
  destination: {server: c}
";
    let decoded = Application::decode(&node(text)).expect("the application is valid");
    let found: Vec<String> = decoded
        .findings
        .warnings
        .iter()
        .map(|warning| format!("{} {}", warning.position.expect("a position"), warning.message))
        .collect();
    assert_eq!(
        found,
        [
            "7:9 parameter `m`: the key `name` is given twice; the last one counts, and maps grow together",
            "9:9 spec.source.plugin.parameters[0].map is given twice; the last one counts",
            "9:23 spec.source.plugin.parameters[0].map.a is given twice; the last one counts",
            "11:3 spec.project is given twice; the last one counts",
            "12:3 spec.destination is given twice; the last one counts",
        ]
    );
    let spec = decoded.value.spec;
    assert_eq!((spec.project.as_str(), spec.destination.namespace.as_str()), ("last", ""));
    let parameters = spec.source.and_then(|source| source.plugin).and_then(|block| block.parameters);
    let parameter = &parameters.expect("there are parameters")[0];
    assert_eq!(parameter.name, "m");
    let map = parameter.map.as_ref().expect("a map");
    assert_eq!(map.iter().collect::<Vec<_>>(), [(&"a".to_owned(), &"4".to_owned())]);
    let project = "metadata: {name: p}\nspec: {sourceRepos: ['*']}\nspec: {description: x}\n";
    let project = AppProject::decode(&node(project)).expect("the project is valid");
    assert_eq!(project.spec, AppProjectSpec::default());
}

#[test]
fn project_is_decoded_with_types() {
    let text = "{metadata: {name: p}, spec: {sourceRepos: ['*', '!x'], destinations: [{server: s, namespace: ns}, {name: c}], \
                clusterResourceWhitelist: [{group: '', kind: Namespace}], signatureKeys: [{keyID: A}]}}";
    let project = AppProject::decode(&node(text)).expect("the project is valid");
    let destination = |server: &str, name: &str, namespace: &str| ProjectDestination {
        server: server.to_owned(),
        name: name.to_owned(),
        namespace: namespace.to_owned(),
    };
    let expected = AppProjectSpec {
        source_repos: vec!["*".to_owned(), "!x".to_owned()],
        destinations: vec![destination("s", "", "ns"), destination("", "c", "")],
        cluster_resource_whitelist: vec![KindPattern {
            group: String::new(),
            kind: "Namespace".to_owned(),
            name: None,
        }],
        signature_keys: vec![SignatureKey { key_id: "A".to_owned() }],
        ..AppProjectSpec::default()
    };
    assert_eq!((project.metadata.name.as_str(), project.spec), ("p", expected));
    for (spec, path) in [
        ("{sourceRepos: x}", "spec.sourceRepos"),
        ("{destinations: [{}, {namespace: 1}]}", "spec.destinations[1].namespace"),
    ] {
        let error = AppProject::decode(&node(&format!("{{metadata: {{name: p}}, spec: {spec}}}")));
        assert_eq!(error.expect_err(spec).source.path, path);
    }
}
