use super::{
    Command, ConfigError, LargeParameters, PluginConfig, PluginFile, configs_from_configmap, read, read_file,
};

const MINIMAL: &str =
    "kind: ConfigManagementPlugin\nmetadata: {name: p}\nspec:\n  generate: {command: [g]}\n";

fn with_spec(spec: &str) -> PluginConfig {
    read(format!("{MINIMAL}{spec}").as_bytes()).unwrap_or_else(|error| panic!("{spec}: {error}"))
}

fn words(list: &[&str]) -> Vec<String> {
    list.iter().map(|word| (*word).to_owned()).collect()
}

#[test]
fn minimal_file_has_the_defaults_of_argo_cd() {
    let config = with_spec("");
    assert_eq!((config.name.as_str(), config.version.as_str()), ("p", ""));
    assert_eq!(config.generate, Command { command: words(&["g"]), args: Vec::new() });
    assert_eq!((config.init, config.dynamic, config.static_announcements), (None, None, Vec::new()));
    assert_eq!(
        (config.preserve_file_mode, config.provide_git_creds, config.run_context),
        (false, false, false)
    );
    assert_eq!(config.large_parameters, LargeParameters::Refuse);
}

#[test]
fn args_are_appended_to_the_command() {
    let config =
        with_spec("  init: {command: [sh, -c], args: [x, '']}\n  parameters: {dynamic: {args: [x]}}\n");
    assert_eq!(config.init.map(|command| command.argv()), Some(words(&["sh", "-c", "x", ""])));
    assert_eq!(config.dynamic, None);
}

#[test]
fn version_is_part_of_the_names() {
    let cases = [("", "p", "p.sock"), ("  version: v1.0\n", "p-v1.0", "p-v1.0.sock")];
    for (spec, display_name, socket_name) in cases {
        let config = with_spec(spec);
        assert_eq!(
            (config.display_name().as_str(), config.socket_name().as_str()),
            (display_name, socket_name)
        );
    }
}

#[test]
fn any_rule_configures_discovery() {
    let cases = [
        ("", false),
        ("  discover: {fileName: x}\n", true),
        ("  discover: {find: {glob: x}}\n", true),
        ("  discover: {find: {command: [x]}}\n", true),
        ("  discover: {find: {command: [], args: [x]}}\n", false),
        ("  discovery: {fileName: x}\n", false),
    ];
    for (spec, configured) in cases {
        assert_eq!(with_spec(spec).discovery_configured(), configured, "{spec}");
    }
}

#[test]
fn keys_of_tiphys_never_invalidate_a_file() {
    let config = with_spec("  runContext: true\n  largeParameters: file\n");
    assert_eq!((config.run_context, config.large_parameters), (true, LargeParameters::File));
    let config = with_spec(
        "  runContext: 'true'\n  largeParameters: [file]\n  parameters: {static: [{name: a, choices: 1}]}\n",
    );
    assert_eq!((config.run_context, config.large_parameters), (false, LargeParameters::Refuse));
    let config = with_spec("  largeParameters: env\n");
    assert_eq!(config.large_parameters, LargeParameters::Refuse);
}

#[test]
fn invalid_static_announcement_fails_only_when_used() {
    let cases = [
        (
            "[{title: t}]",
            "announcement 1 (line 5, column 25): has no name; every announcement needs a non-empty `name`",
        ),
        (
            "[{name: a}, null]",
            "announcement 2 (line 5, column 36): is null; an announcement is an object with a `name`",
        ),
        (
            "[{name: a, collectionType: set}]",
            "announcement 1 `a` (line 5, column 25): unknown collectionType `set`; use `string`, `array` or `map`, or leave it \
             out for a string",
        ),
    ];
    for (list, expected) in cases {
        let config = with_spec(&format!("  parameters: {{static: {list}}}\n"));
        assert_eq!(config.checked_announcements().expect_err(list).to_string(), expected);
    }
    let config = with_spec("  parameters: {static: [{name: a, choices: [x, z]}]}\n");
    let read = config.checked_announcements().expect("it holds");
    assert_eq!((read.list[0].name.as_str(), &read.list[0].choices), ("a", &words(&["x", "z"])));
}

#[test]
fn letter_case_variants_are_read_in_byte_order() {
    let config = with_spec("  Generate: {command: [a, b], args: [x]}\n");
    assert_eq!(config.generate, Command { command: words(&["g"]), args: words(&["x"]) });
    let spec = "  parameters: {static: [{title: t}], STATIC: [{name: a, title: s}, {name: b}]}\n";
    let config = with_spec(spec);
    let entries: Vec<_> =
        config.static_announcements.into_iter().map(|entry| entry.announcement.expect("no null")).collect();
    assert_eq!(entries.len(), 1);
    assert_eq!((entries[0].name.as_deref(), entries[0].title.as_deref()), (Some("a"), Some("t")));
}

#[test]
fn wrong_type_error_has_position_and_remedy() {
    let cases = [
        (
            "  version: 1.0\n",
            "line 5, column 12: spec.version: expected a string, found a number; put it in quotes",
        ),
        (
            "  init: {command: [sh, y]}\n",
            "line 5, column 24: spec.init.command[1]: expected a string, found a boolean; put it in quotes",
        ),
        ("  discover: x\n", "line 5, column 13: spec.discover: expected an object, found a string"),
        (
            "  preserveFileMode: 'true'\n",
            "line 5, column 21: spec.preserveFileMode: expected a boolean, found a string",
        ),
        (
            "  parameters: {static: {name: a}}\n",
            "line 5, column 24: spec.parameters.static: expected a list, found an object",
        ),
    ];
    for (spec, expected) in cases {
        let error = read(format!("{MINIMAL}{spec}").as_bytes()).expect_err(spec);
        assert_eq!(error.to_string(), expected);
    }
}

#[test]
fn types_of_object_meta_are_checked() {
    let good = [
        "labels: {a: b}, annotations: {c: d}, namespace: ns, uid: u, generateName: g, resourceVersion: '1'",
        "creationTimestamp: 2024-01-02T03:04:05Z, deletionTimestamp: '2024-02-29T23:59:59.5+01:00'",
        "creationTimestamp: '2024-01-02T03:04:05-24:60'",
        "creationTimestamp: null, generation: 3, deletionGracePeriodSeconds: 1.0",
        "finalizers: [a, null], ownerReferences: [{apiVersion: v1, kind: K, name: o, uid: u, controller: true}]",
        "managedFields: [{manager: m, time: '2024-01-02T03:04:05Z', fieldsV1: {x: [1]}}], unknown: [1]",
    ];
    for metadata in good {
        let text = MINIMAL.replace("{name: p}", &format!("{{name: p, {metadata}}}"));
        assert_eq!(read(text.as_bytes()).map(|config| config.name), Ok("p".to_owned()), "{metadata}");
    }
    let bad = [
        "labels: {a: 1}",
        "annotations: [a]",
        "namespace: 1",
        "creationTimestamp: yesterday",
        "creationTimestamp: '2024-01-02'",
        "creationTimestamp: '2023-02-29T00:00:00Z'",
        "creationTimestamp: '2024-01-02T24:00:00Z'",
        "creationTimestamp: '2024-01-02T03:04:05'",
        "creationTimestamp: '2024-01-02T03:04:05.Z'",
        "creationTimestamp: '2024-01-02T03:04:05+1:00'",
        "creationTimestamp: '2024-01-02T03:04:05+25:00'",
        "creationTimestamp: '2024-01-02T03:04:05+01:61'",
        "generation: 1.5",
        "generation: 1e30",
        "generation: '1'",
        "finalizers: x",
        "ownerReferences: [{controller: 'true'}]",
        "ownerReferences: {}",
        "managedFields: [{time: x}]",
    ];
    for metadata in bad {
        let text = MINIMAL.replace("{name: p}", &format!("{{name: p, {metadata}}}"));
        assert!(matches!(read(text.as_bytes()), Err(ConfigError::Type(_))), "{metadata}");
    }
}

#[test]
fn json_has_own_keys_only_if_set() {
    let text = MINIMAL.replace("{name: p}", "{name: p, labels: {a: b}}") + "  runContext: true\n";
    let json = PluginFile::read(text.as_bytes()).expect("it is read").to_json();
    assert_eq!(json["metadata"], serde_json::json!({"name": "p", "labels": {"a": "b"}}));
    assert_eq!(json["spec"]["runContext"], true);
    assert_eq!(json["spec"].get("largeParameters"), None);
}

const CONFIG_MAP: &str = "apiVersion: v1
kind: ConfigMap
metadata:
  name: plugins
data:
  generate.sh: |
    echo 'not: [yaml'
  z.yaml: |
    kind: ConfigManagementPlugin
    metadata: {name: last}
    spec: {generate: {command: [z]}}
  a.json: '{\"kind\":\"ConfigManagementPlugin\",\"metadata\":{\"name\":\"first\"},\"spec\":{\"generate\":{\"command\":[\"a\"]}}}'
  values.yaml: |
    kind: Values
  empty.yaml: ''
";

#[test]
fn configmap_plugins_are_in_key_order() {
    let names = |text: &str| -> Vec<String> {
        read_file(text.as_bytes()).expect("it is read").into_iter().map(|config| config.name).collect()
    };
    assert_eq!(names(CONFIG_MAP), ["first", "last"]);
    assert_eq!(names(MINIMAL), ["p"]);
    let node = tiphys_yaml::read_document(CONFIG_MAP.as_bytes()).expect("YAML").expect("a document");
    assert_eq!(configs_from_configmap(&node).map(|configs| configs.len()), Ok(2));
}

#[test]
fn invalid_configmap_value_names_its_key() {
    use std::error::Error as _;
    let cases = [
        (
            "command: [z]",
            "command: []",
            "invalid plugin configuration file. spec.generate command should be non-empty",
        ),
        (
            "name: last",
            "name: 1",
            "line 2, column 18: metadata.name: expected a string, found a number; put it in quotes",
        ),
    ];
    for (from, to, cause) in cases {
        let error = read_file(CONFIG_MAP.replace(from, to).as_bytes()).expect_err(to);
        assert_eq!(error.to_string(), "ConfigMap plugins, key z.yaml");
        assert_eq!(error.source().map(ToString::to_string).as_deref(), Some(cause));
    }
}

#[test]
fn configmap_without_a_plugin_is_an_error() {
    for data in ["{}", "{x.sh: 'kind: ConfigManagementPlugin'}", "{x.yaml: 'kind: Other'}"] {
        let text = format!("kind: ConfigMap\nmetadata: {{name: plugins}}\ndata: {data}\n");
        assert_eq!(
            read_file(text.as_bytes()).expect_err(data).to_string(),
            "ConfigMap plugins contains no plugin: none of its keys ending in .yaml, .yml or .json has a document of kind \
             ConfigManagementPlugin"
        );
    }
}

#[test]
fn configmap_is_not_a_plugin_file_for_argo_cd() {
    let error = read(CONFIG_MAP.as_bytes()).expect_err("it is refused");
    assert_eq!(error, ConfigError::Kind { found: "ConfigMap".to_owned() });
    assert_eq!(
        error.to_string(),
        "invalid plugin configuration file. kind should be ConfigManagementPlugin, found ConfigMap"
    );
}
