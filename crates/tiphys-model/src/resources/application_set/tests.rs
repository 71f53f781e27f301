use serde_json::{Value, json};
use tiphys_yaml::{Node, read_document};

use super::{
    ApplicationSet, GeneratorEntry, GeneratorKind, IgnoreApplicationDifference, PluginContract,
    PluginGenerator,
};
use crate::resources::{Decoded, FieldPath};

const SET: &str = r#"apiVersion: argoproj.io/v1alpha1
kind: ApplicationSet
metadata:
  name: set
  namespace: argocd
  labels: {team: a}
spec:
  goTemplate: true
  goTemplateOptions: [missingkey=error]
  generators:
  - matrix:
      generators:
      - git:
          repoURL: https://git.example.com/a.git
          revision: main
          directories: [{path: apps/*}, {path: apps/x, exclude: true}]
          values: {k: v}
      - merge:
          mergeKeys: [name]
          generators:
          - list: {elements: [{name: a, count: 1}], elementsYaml: '[]'}
          - clusters: {flatList: true, selector: {matchLabels: {env: dev}}}
          - matrix: {}
            nope: {}
      template:
        metadata: {name: '{{.name}}', labels: {}}
        spec:
          project: ""
          destination: {namespace: x}
    selector:
      matchExpressions: [{key: name, operator: In, values: [a]}]
  - plugin:
      configMapRef: {name: cm}
      input:
        parameters: {a: 1}
      requeueAfterSeconds: 0
    clusterDecisionResource: {configMapRef: c, name: d, requeueAfterSeconds: 60}
  template:
    metadata: {name: app}
    spec:
      project: default
      destination: {}
  templatePatch: "spec: {}"
  syncPolicy: {preserveResourcesOnDeletion: true, applicationsSync: create-only}
  strategy: {type: RollingSync, rollingSync: {steps: [{maxUpdate: 10%}]}}
  preservedFields: {annotations: [a], labels: [l]}
  ignoreApplicationDifferences: [{name: app, jsonPointers: [/spec/source], jqPathExpressions: [.spec]}]
"#;

fn document(text: &str) -> Node {
    read_document(text.as_bytes()).unwrap().unwrap()
}

fn decoded(text: &str) -> Decoded<ApplicationSet> {
    ApplicationSet::decode(&document(text)).unwrap()
}

/// The tree as lines of path and settings.
fn outline(set: &ApplicationSet, entries: &[GeneratorEntry], lines: &mut Vec<String>) {
    for entry in entries {
        let position = set.position_of(&entry.path);
        let names: Vec<&str> = entry.generators.iter().map(|generator| generator.kind.name()).collect();
        lines.push(format!("{position} {} {names:?}", entry.path));
        for generator in &entry.generators {
            match &generator.kind {
                GeneratorKind::Matrix(children) => outline(set, children, lines),
                GeneratorKind::Merge(merge) => outline(set, &merge.generators, lines),
                _ => {}
            }
        }
    }
}

#[test]
fn set_is_decoded_with_generators_of_three_levels() {
    let Decoded { value: set, findings } = decoded(SET);
    let mut lines = Vec::new();
    outline(&set, &set.generators, &mut lines);
    assert_eq!(
        lines,
        [
            r#"11:5 spec.generators[0] ["matrix"]"#,
            r#"13:9 spec.generators[0].matrix.generators[0] ["git"]"#,
            r#"18:9 spec.generators[0].matrix.generators[1] ["merge"]"#,
            r#"21:13 spec.generators[0].matrix.generators[1].merge.generators[0] ["list"]"#,
            r#"22:13 spec.generators[0].matrix.generators[1].merge.generators[1] ["clusters"]"#,
            "23:13 spec.generators[0].matrix.generators[1].merge.generators[2] []",
            r#"32:5 spec.generators[1] ["clusterDecisionResource", "plugin"]"#,
        ]
    );
    let unknown: Vec<String> =
        findings.unknown.iter().map(|field| format!("{} {}", field.position, field.path)).collect();
    let third = "spec.generators[0].matrix.generators[1].merge.generators[2]";
    assert_eq!(unknown, [format!("23:13 {third}.matrix"), format!("24:13 {third}.nope")]);

    assert_eq!((set.metadata.name.as_str(), set.metadata.labels["team"].as_str()), ("set", "a"));
    assert!(set.go_template && set.preserves_resources_on_deletion);
    assert_eq!(set.go_template_options, ["missingkey=error"]);
    assert_eq!(set.applications_sync.as_deref(), Some("create-only"));
    assert_eq!(set.template_patch.as_deref(), Some("spec: {}"));
    assert_eq!(
        set.template,
        json!({"metadata": {"name": "app"}, "spec": {"project": "default", "destination": {}}})
    );
    assert_eq!(
        set.strategy,
        Some(json!({"type": "RollingSync", "rollingSync": {"steps": [{"maxUpdate": "10%"}]}}))
    );
    assert_eq!(
        (set.preserved_annotations, set.preserved_labels),
        (vec!["a".to_owned()], vec!["l".to_owned()])
    );
    assert_eq!(
        set.ignore_application_differences,
        [IgnoreApplicationDifference {
            name: "app".to_owned(),
            json_pointers: vec!["/spec/source".to_owned()],
            jq_path_expressions: vec![".spec".to_owned()],
        }]
    );
}

#[test]
fn oci_is_a_generator_of_all_three_levels() {
    let oci = json!({"repoURL": "oci://r.example.com/a", "revision": "^1", "directories": [{"path": "*"}]});
    let third = json!({"merge": {"mergeKeys": ["a"], "generators": [{"oci": oci}]}});
    let second = json!({"matrix": {"generators": [{"oci": oci}, third]}});
    let plugin = json!({"configMapRef": "c"});
    let spec = json!({"generators": [{"oci": oci, "plugin": plugin}, second]});
    let Decoded { value: set, findings } = decoded(&json!({"spec": spec}).to_string());
    let mut lines = Vec::new();
    outline(&set, &set.generators, &mut lines);
    let kinds: Vec<&str> =
        lines.iter().filter_map(|line| line.split_once(" [")).map(|(_, kinds)| kinds).collect();
    // Argo CD runs it last.
    let expected = [r#""plugin", "oci"]"#, r#""matrix"]"#, r#""oci"]"#, r#""merge"]"#, r#""oci"]"#];
    assert_eq!((kinds, findings.unknown), (expected.to_vec(), vec![]));
    let GeneratorKind::Oci(settings) = &set.generators[0].generators[1].kind else { panic!("{set:?}") };
    assert_eq!(
        (settings.repo_url.as_str(), settings.revision.as_str(), settings.directories.len()),
        ("oci://r.example.com/a", "^1", 1)
    );
}

#[test]
fn generators_have_their_settings() {
    let set = decoded(SET).value;
    let [matrix_entry, second] = set.generators.as_slice() else { panic!("{:?}", set.generators) };
    let GeneratorKind::Matrix(children) = &matrix_entry.generators[0].kind else {
        panic!("{matrix_entry:?}")
    };
    let git = &children[0].generators[0];
    let GeneratorKind::Git(settings) = &git.kind else { panic!("{git:?}") };
    assert_eq!(
        (settings.repo_url.as_str(), settings.revision.as_str()),
        ("https://git.example.com/a.git", "main")
    );
    let patterns: Vec<_> = settings.directories.iter().map(|p| (p.path.as_str(), p.is_excluded)).collect();
    assert_eq!(patterns, [("apps/*", false), ("apps/x", true)]);
    assert_eq!((git.values["k"].as_str(), &git.template, git.requeue_after_seconds), ("v", &None, None));

    let GeneratorKind::Merge(merge) = &children[1].generators[0].kind else { panic!("{children:?}") };
    let GeneratorKind::List(list) = &merge.generators[0].generators[0].kind else { panic!("{merge:?}") };
    assert_eq!(
        (&list.elements, list.elements_yaml.as_str()),
        (&vec![json!({"name": "a", "count": 1})], "[]")
    );
    let unknown: Vec<_> =
        merge.generators[2].unknown.iter().map(|field| field.path.rsplit('.').next()).collect();
    assert_eq!(unknown, [Some("matrix"), Some("nope")]);
    let GeneratorKind::Clusters(clusters) = &merge.generators[1].generators[0].kind else {
        panic!("{merge:?}")
    };
    assert!(clusters.is_flat_list);
    assert_eq!((clusters.selector.match_labels["env"].as_str(), merge.merge_keys.len()), ("dev", 1));

    let selector = matrix_entry.selector.as_ref().unwrap();
    assert_eq!(
        (selector.match_expressions[0].operator.as_str(), &selector.match_expressions[0].values[0]),
        ("In", &"a".to_owned())
    );
    let [decisions, plugin] = second.generators.as_slice() else { panic!("{second:?}") };
    assert_eq!(decisions.requeue_after_seconds, Some(60));
    assert_eq!(plugin.requeue_after_seconds, Some(0));
    let GeneratorKind::Plugin(settings) = &plugin.kind else { panic!("{plugin:?}") };
    let parameters = json!({"a": 1}).as_object().unwrap().clone();
    let expected =
        PluginGenerator { contract: PluginContract::Shipped, config_map: "cm".to_owned(), parameters };
    assert_eq!(settings, &expected);
}

#[test]
fn fields_of_merged_template_have_positions() {
    let set = decoded(SET).value;
    let generator = &set.generators[0].generators[0];
    let field = |names: &[&str]| names.iter().fold(FieldPath::default(), |path, name| path.key(name));
    let cases = [
        // The generator's own template sets the first two; the others are the set's.
        (["metadata", "name"].as_slice(), 26),
        (&["spec", "destination", "namespace"], 29),
        (&["spec", "project"], 41),
        (&["spec", "source", "repoURL"], 41),
    ];
    for (names, line) in cases {
        assert_eq!(set.template_position(generator, &field(names)).line, line, "{names:?}");
    }
}

#[test]
fn entry_is_built_again_from_interpolated_value() {
    let set = decoded(SET).value;
    let GeneratorKind::Matrix(children) = &set.generators[0].generators[0].kind else { panic!("no matrix") };
    for entry in set.generators.iter().chain(children) {
        assert_eq!(&set.generator_entry(entry.path.clone(), entry.value.clone()).unwrap(), entry);
    }
    let mut value = children[1].value.clone();
    value["merge"]["generators"][0]["list"]["elements"][0]["name"] = Value::from("b");
    let entry = set.generator_entry(children[1].path.clone(), value).unwrap();
    let GeneratorKind::Merge(merge) = &entry.generators[0].kind else { panic!("{entry:?}") };
    let GeneratorKind::List(list) = &merge.generators[0].generators[0].kind else { panic!("{merge:?}") };
    assert_eq!(list.elements, [json!({"name": "b", "count": 1})]);
}

#[test]
fn plugin_has_one_of_two_forms() {
    let decode = |plugin: &str| {
        ApplicationSet::decode(&document(&format!("spec:\n  generators:\n  - plugin: {plugin}\n")))
            .map(|decoded| match decoded.value.generators[0].generators[0].kind.clone() {
                GeneratorKind::Plugin(plugin) => {
                    (plugin.contract, plugin.config_map, Value::from(plugin.parameters))
                }
                kind => panic!("{kind:?}"),
            })
            .map_err(|error| error.source.to_string())
    };
    let proposal = |name: Option<&str>| PluginContract::Proposal { name: name.map(str::to_owned) };
    let valid = [
        ("{configMapRef: {name: cm}}", (PluginContract::Shipped, "cm", json!({}))),
        (
            "{configMapRef: {Name: cm}, input: {parameters: {a: [1]}}}",
            (PluginContract::Shipped, "cm", json!({"a": [1]})),
        ),
        ("{}", (PluginContract::Shipped, "", json!({}))),
        ("{configMapRef: cm}", (proposal(None), "cm", json!({}))),
        ("{configMapRef: cm, name: x, params: {a: b}}", (proposal(Some("x")), "cm", json!({"a": "b"}))),
    ];
    for (plugin, (contract, config_map, parameters)) in valid {
        assert_eq!(decode(plugin), Ok((contract, config_map.to_owned(), parameters)), "{plugin}");
    }
    let invalid = [
        (
            "{configMapRef: cm, input: {parameters: {a: b}}}",
            "line 3, column 39: spec.generators[0].plugin.input: belongs to `configMapRef: {name: NAME}`; use `params` with a string",
        ),
        (
            "{configMapRef: {name: cm}, params: {a: b}}",
            "line 3, column 48: spec.generators[0].plugin.params: belongs to `configMapRef: NAME`; use `input.parameters` with an object",
        ),
        (
            "{configMapRef: {name: cm}, name: x}",
            "line 3, column 46: spec.generators[0].plugin.name: belongs to `configMapRef: NAME`; use `input.parameters` with an object",
        ),
        (
            "{configMapRef: [cm]}",
            "line 3, column 28: spec.generators[0].plugin.configMapRef: expected an object with a name, or a string",
        ),
        (
            "{configMapRef: {name: 5}}",
            "line 3, column 28: spec.generators[0].plugin.configMapRef: expected the name as a string",
        ),
    ];
    for (plugin, message) in invalid {
        assert_eq!(decode(plugin), Err(message.to_owned()), "{plugin}");
    }
}

#[test]
fn generator_of_unknown_kind_is_named() {
    let set = decoded("spec:\n  generators:\n  - nope: {}\n    Selector: {}\n  - list: {}\n").value;
    let unknown: Vec<_> = set.generators[0].unknown.iter().map(|field| field.path.as_str()).collect();
    assert_eq!(unknown, ["spec.generators[0].nope"]);
    assert_eq!((set.generators[0].generators.len(), set.generators[1].unknown.len()), (0, 0));
}

#[test]
fn wrong_type_is_reported_with_object_and_position() {
    let text = "kind: ApplicationSet\nmetadata: {name: set, namespace: ns}\nspec:\n  generators:\n  - git: {values: {a: 1}}\n";
    let error = ApplicationSet::decode(&document(text)).unwrap_err();
    assert_eq!(error.to_string(), "cannot read ApplicationSet ns/set");
    assert_eq!(
        error.source.to_string(),
        "line 5, column 23: spec.generators[0].git.values.a: expected a string, found a number; put it in quotes"
    );
}

#[test]
fn documents_of_applications_have_the_positions_of_templates() {
    let set = decoded(
        "
metadata: {name: s}
spec:
  generators:
  - list:
      elements: []
      template:
        metadata: {}
        spec:
          project: own
  template:
    metadata:
      name: '{{name}}'
    spec:
      project: shared
      source:
        repoURL: x
",
    )
    .value;
    let application = json!({
        "metadata": {"name": "a", "labels": {"b": "c"}},
        "spec": {"project": "own", "source": {"repoURL": "x", "path": "."}},
    });
    let document = set.application_document("spec.generators[0].list", &application, None);
    let position = |path: &str| document.at(path.split('.')).map(|node| node.position.to_string());
    for (path, expected) in [
        ("kind", "8:9"),
        ("metadata.name", "13:13"),
        ("metadata.labels.b", "8:19"),
        ("spec.project", "10:20"),
        ("spec.source.repoURL", "17:18"),
        ("spec.source.path", "17:9"),
    ] {
        assert_eq!(position(path).as_deref(), Some(expected), "{path}");
    }
    assert_eq!(document.to_value()["spec"], application["spec"]);
}

#[test]
fn values_of_a_patch_have_its_position() {
    let set = decoded(
        "
metadata: {name: s}
spec:
  generators: []
  template:
    metadata:
      name: x
    spec:
      source:
        repoURL: x
        path: a
  templatePatch: |
    {{- if true }}
    spec: {source: {path: b, ref: c}}
    {{- end }}
",
    )
    .value;
    let application =
        json!({"metadata": {"name": "x"}, "spec": {"source": {"repoURL": "x", "path": "b", "ref": "c"}}});
    let position = |patch, path: &str| {
        let document = set.application_document("spec.generators[0].list", &application, patch);
        document.at(path.split('.')).map(|node| node.position.line)
    };
    let patch = Some("spec: {source: {path: b, ref: c}}");
    for (path, expected, unpatched) in [
        ("metadata.name", 7, 7),
        ("spec.source.repoURL", 10, 10),
        ("spec.source.path", 12, 11),
        ("spec.source.ref", 12, 10),
    ] {
        assert_eq!(position(patch, path), Some(expected), "{path}");
        assert_eq!(position(None, path), Some(unpatched), "{path}");
    }
}
