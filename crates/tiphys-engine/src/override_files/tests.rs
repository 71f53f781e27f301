use serde_json::{Value, json};
use tiphys_model::resources::{ApplicationSource, GoFields, GoStruct, GoType};
use tiphys_testkit::oracle;
use tiphys_yaml::Node;

use super::{OverrideError, OverrideFile, as_argo_cd::Memory, merge_patch, override_source};
use crate::appset::apply_template_patch;
use crate::{is_override_file_name, override_file_names};

fn source(value: &Value) -> ApplicationSource {
    ApplicationSource::of_json(value).expect("valid source")
}

fn plugin() -> ApplicationSource {
    source(
        &json!({"repoURL": "https://x", "path": "app", "plugin": {"name": "p", "parameters": [{"name": "s", "string": "1"}]}}),
    )
}

fn merged(files: &[(&str, &str)]) -> Result<super::Overridden, OverrideError> {
    let files: Vec<OverrideFile<'_>> =
        files.iter().map(|(name, text)| OverrideFile { name, text: text.as_bytes() }).collect();
    override_source(&plugin(), &files)
}

#[test]
fn override_files_are_merged_in_order() {
    let found = merged(&[("a", "plugin: {name: one}\nref: r\n"), ("b", "plugin: {name: two}\nname: main\n")])
        .expect("valid");
    let source = found.source;
    assert_eq!(source.plugin.expect("a plugin block").name, "two");
    assert_eq!((source.reference.as_str(), source.name.as_str()), ("r", "main"));
    assert_eq!(found.warnings, []);
}

#[test]
fn each_step_has_patch_and_resulting_source() {
    let found = merged(&[
        ("a", "plugin: {parameters: [{name: s, string: '2'}]}\n"),
        ("b", "\nplugin: {parameters: [{name: t, string: '3'}]}\n"),
    ])
    .expect("valid");
    let steps: Vec<(String, usize)> = found
        .steps
        .iter()
        .map(|step| {
            let parameters = step.source.plugin.clone().and_then(|block| block.parameters).expect("a list");
            (parameters[0].name.clone(), step.patch.position.line)
        })
        .collect();
    assert_eq!(steps, [("s".to_owned(), 1), ("t".to_owned(), 2)]);
    assert_eq!(found.steps[1].source, found.source);
}

#[test]
fn location_fields_are_ignored_with_a_warning() {
    let found = merged(&[("f", "path: other\nrepoURL: https://evil\nplugin: {name: q}\n")]).expect("valid");
    assert_eq!((found.source.path.as_str(), found.source.repo_url.as_str()), ("app", "https://x"));
    let messages: Vec<String> = found.warnings.iter().map(|warning| warning.message.clone()).collect();
    assert_eq!(
        messages,
        [
            "f: `path` cannot be set in an override file and is ignored",
            "f: `repoURL` cannot be set in an override file and is ignored",
        ]
    );
}

#[test]
fn unknown_field_is_reported_with_position() {
    let found = merged(&[("f", "plugin:\n  nmae: q\n")]).expect("valid");
    assert_eq!(found.warnings[0].message, "f: `plugin.nmae` is not a field of a source and is ignored");
    assert_eq!(found.warnings[0].position.expect("a position").line, 2);
}

#[test]
fn invalid_file_is_rejected_with_name_and_position() {
    let cases = [
        ("", "override file f is empty, not an object"),
        ("# nothing\n", "override file f is empty, not an object"),
        ("null\n", "override file f is"),
        ("hello\n", "override file f is a single value"),
        ("- a\n", "override file f is a list"),
        ("plugin: [\n", "cannot read override file f"),
        ("plugin:\n  name: yes\n", "override file f does not result in a valid source"),
    ];
    for (text, expected) in cases {
        let error = merged(&[("f", text)]).expect_err(text);
        assert!(error.to_string().starts_with(expected), "{text:?}: {error}");
    }
    let Err(OverrideError::Field { source, .. }) = merged(&[("f", "plugin:\n  name: yes\n")]) else {
        panic!("a boolean must not be accepted as a name");
    };
    assert_eq!((source.position.to_string().as_str(), source.path.as_str()), ("2:9", "plugin.name"));
}

#[test]
fn warning_names_fields_that_differ_in_argo_cd() {
    let found = merged(&[("f", "plugin:\n  parameters: [{name: s, array: [x]}]\n")]).expect("valid");
    let parameters = found.source.plugin.and_then(|block| block.parameters).expect("parameters");
    assert_eq!(
        (parameters[0].string.as_deref(), parameters[0].array.as_deref()),
        (None, Some(&["x".to_owned()][..]))
    );
    assert!(found.warnings[0].message.contains("`plugin.parameters`"), "{:?}", found.warnings);
}

#[test]
fn empty_parameter_list_stays_empty_without_files() {
    let source = source(&json!({"repoURL": "x", "plugin": {"parameters": []}}));
    let found = override_source(&source, &[]).expect("valid");
    assert_eq!((found.source, found.warnings), (source, vec![]));
}

#[test]
fn override_file_names_are_limited_in_length() {
    assert_eq!(
        override_file_names("web").expect("it fits"),
        [".argocd-source.yaml", ".argocd-source-web.yaml"]
    );
    assert_eq!(override_file_names("").expect("it fits"), [".argocd-source.yaml"]);
    assert!(override_file_names(&"a".repeat(235)).is_ok());
    assert_eq!(override_file_names(&"a".repeat(236)), Err(OverrideError::NameTooLong { bytes: 236 }));
}

#[test]
fn override_files_are_known_by_name() {
    for application in ["", "web", "team_web", "a.yaml"] {
        for name in override_file_names(application).expect("it fits") {
            assert!(is_override_file_name(&name), "{name}");
        }
    }
    for name in [
        "argocd-source.yaml",
        ".argocd-source.yml",
        ".argocd-source",
        ".argocd-sources.yaml",
        "x.argocd-source.yaml",
    ] {
        assert!(!is_override_file_name(name), "{name}");
    }
}

/// A value of a type that is not its default.
fn sample(kind: &GoType) -> Value {
    match kind.base() {
        GoType::Bool => json!(true),
        GoType::Int64 | GoType::IntOrString => json!(1),
        GoType::Free(_) | GoType::Ignored(_) => json!({"a": [1]}),
        GoType::List(item) => json!([sample(item)]),
        GoType::Map(value) => json!({"k": sample(value)}),
        GoType::Struct(of) => {
            of.fields.iter().map(|field| (field.name.to_owned(), sample(&field.kind))).collect()
        }
        _ => json!("x"),
    }
}

#[test]
fn every_declared_field_is_merged_patched_and_written() {
    static SOURCE: GoStruct = ApplicationSource::GO;
    let bare = source(&json!({"repoURL": "r", "path": "p"}));
    for block in ["helm", "kustomize", "directory", "plugin"] {
        let GoType::Struct(of) = SOURCE.field(block).expect("a block").kind.base() else {
            panic!("{block} is a struct")
        };
        for field in of.fields {
            let name = format!("{block}.{}", field.name);
            let patch = json!({block: {field.name: sample(&field.kind)}});
            let text = patch.to_string();
            let file = OverrideFile { name: "f", text: text.as_bytes() };
            let found = override_source(&bare, &[file]).expect(&name);
            assert_eq!((found.differs_in, found.warnings), (vec![], vec![]), "{name}");
            assert_eq!(super::to_value(&found.source)[block], patch[block], "{name}");

            let application = json!({"spec": {"source": {"repoURL": "r"}}});
            let template_patch = json!({"spec": {"source": patch}}).to_string();
            let patched = apply_template_patch(application, &template_patch).expect(&name);
            assert_eq!(patched["spec"]["source"][block], patch[block], "{name}");
        }
    }
}

/// The prediction of Argo CD's merge equals the recorded result in every case that has one.
#[test]
fn prediction_of_argo_cd_merge_equals_recordings() {
    let mut checked = 0;
    for case in oracle::cases("source-override") {
        let (Some(recorded), files) = (case["output"]["merged_text"].as_str(), &case["input"]["files"])
        else {
            continue;
        };
        let source: Value =
            serde_json::from_str(case["input"]["source_text"].as_str().expect("a string")).expect("JSON");
        let mut memory = Memory::of(&source);
        for name in override_file_names(case["input"]["app_name"].as_str().expect("a name")).expect("it fits")
        {
            let Some(text) = files[&name].as_str() else { continue };
            let patch = tiphys_yaml::read_document(text.as_bytes()).expect("YAML").expect("an object");
            memory.decode(&merge_patch(Some(&Node::from(&memory.to_value())), &patch).to_value());
        }
        let recorded: Value = serde_json::from_str(recorded).expect("JSON");
        if case["group"] == "protected" || case["id"] == "app-name-dotdot" {
            continue;
        }
        assert_eq!(without_empty_parameters(memory.to_value()), recorded, "{}", case["id"]);
        checked += 1;
    }
    assert!(checked >= 40, "{checked}");
}

fn without_empty_parameters(mut value: Value) -> Value {
    if value.pointer("/plugin/parameters") == Some(&json!([]))
        && let Some(plugin) = value.pointer_mut("/plugin").and_then(Value::as_object_mut)
    {
        plugin.remove("parameters");
    }
    value
}
