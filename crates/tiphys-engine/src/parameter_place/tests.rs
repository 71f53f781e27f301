use tiphys_yaml::{Node, Step, read_document};

use super::{
    FileLines, ParameterPart, PartPlace, dynamic_parameter_places, parameter_part_place, parameter_places,
    source_node,
};

fn read(text: &str) -> Node {
    read_document(text.as_bytes()).expect("YAML").expect("a document")
}

fn line(source: &Node, name: &str) -> Option<usize> {
    parameter_places(source, None).get(name).map(|position| position.line)
}

#[test]
fn positions_of_plugin_and_kustomize_parameters() {
    let source = read(
        "plugin:
  parameters:
  - name: a
    string: one
  - string: two
    name: b
  - name: a
    string: three
kustomize:
  namePrefix: p-
  commonLabels:
    team: blue
  images:
  - nginx:1
  forceCommonLabels: true
",
    );
    let cases = [
        ("a", Some(7)),
        ("b", Some(5)),
        ("c", None),
        ("name-prefix", Some(10)),
        ("labels", Some(11)),
        ("images", Some(13)),
        ("force-labels", Some(15)),
        ("name-suffix", None),
        ("namePrefix", None),
    ];
    for (name, expected) in cases {
        assert_eq!(line(&source, name), expected, "{name}");
    }
}

#[test]
fn positions_of_helm_block_parameters() {
    let source = read(
        "helm:
  releaseName: a
  valuesObject:
    a: 1
  parameters:
  - name: a
    value: one
  - name: b
    forceString: true
  - name: a
    forceString: true
  fileParameters:
  - name: f
    path: x
",
    );
    let cases = [
        ("release-name", Some(2)),
        ("values-object", Some(3)),
        ("set.a", Some(6)),
        ("set.b", Some(8)),
        ("set-string.a", Some(10)),
        ("set-string.b", None),
        ("set-file.f", Some(13)),
        ("values", None),
    ];
    for (name, expected) in cases {
        assert_eq!(line(&source, name), expected, "{name}");
    }
}

#[test]
fn set_string_entry_of_helm_plugin_is_found_as_set() {
    let list = "parameters:\n  - name: set-string.a\n  - name: set.b\n  - name: set-string.b\n";
    let helm = read(&format!("plugin:\n  name: helm\n  {list}"));
    let other = read(&format!("plugin:\n  name: other\n  {list}"));
    let cases = [
        ("set.a", Some(4), None),
        ("set-string.a", None, Some(4)),
        ("set.b", Some(5), Some(5)),
        ("set-string.b", Some(6), Some(6)),
    ];
    for (name, of_helm, of_another) in cases {
        assert_eq!((line(&helm, name), line(&other, name)), (of_helm, of_another), "{name}");
    }
    let unnamed = read("plugin:\n  parameters:\n  - name: set-string.a\n");
    for (chosen, expected) in [(Some("helm"), Some(3)), (Some("other"), None), (None, None)] {
        let place = parameter_places(&unnamed, chosen).get("set.a").map(|position| position.line);
        assert_eq!(place, expected, "unnamed block, plugin {chosen:?}");
    }
}

#[test]
fn field_names_are_case_insensitive_and_types_checked() {
    assert_eq!(line(&read("Plugin: {Parameters: [{Name: a}]}"), "a"), Some(1));
    for text in ["plugin: x", "plugin: {parameters: {a: b}}", "plugin: {parameters: [a, {name: 5}]}", "[]"] {
        assert_eq!(line(&read(text), "a"), None, "{text}");
    }
}

#[test]
fn source_index_follows_argo_cd() {
    let place = |text: &str, index| source_node(&read(text), index).map(|node| node.position.to_string());
    let several = "spec:\n  source: {path: x}\n  sources:\n  - path: a\n  - path: b\n";
    assert_eq!(place(several, 1).as_deref(), Some("5:5"));
    assert_eq!(place(several, 2), None);
    assert_eq!(place("spec:\n  source: {path: x}\n  sources: []\n", 0).as_deref(), Some("2:11"));
    assert_eq!(place("kind: x\n", 0), None);
}

#[test]
fn positions_of_dynamic_parameters() {
    for block in ["plugin", "helm", "Helm"] {
        let source = read(&format!(
            "{block}:\n  parameters:\n  - name: a\n  dynamicParameters:\n  - name: b\n  - {{kind: x}}\n  - name: c\n"
        ));
        let places = dynamic_parameter_places(&source);
        let lines: Vec<(&str, usize)> =
            places.iter().map(|(name, place)| (name.as_str(), place.line)).collect();
        assert_eq!(lines, [("b", 5), ("c", 7)], "{block}");
    }
}

/// A source, a parameter, a path in its value, the line of the part in a string, and the line of the part.
type PartCase<'a> = (&'a str, &'a str, &'a [Step], Option<usize>, Option<Line>);

#[derive(Debug, PartialEq, Eq)]
enum Line {
    Exact(usize),
    Around(usize),
}

#[test]
fn parts_of_inline_values_have_positions() {
    let key = |key: &str| Step::Key(key.to_owned());
    let part = |text: &str, name: &str, path: &[Step], line| {
        let part = ParameterPart { name, path, line };
        parameter_part_place(&read(text), part, &FileLines::of(text.as_bytes())).map(|place| match place {
            PartPlace::Exact(position) => Line::Exact(position.line),
            PartPlace::Around(position) => Line::Around(position.line),
        })
    };
    let object = "helm:\n  valuesObject:\n    image:\n      tag: 1\n    list:\n    - a\n    - b\n";
    let block = "helm:\n  values: |\n    image:\n      tag: 1\n";
    let quoted = "helm:\n  values: \"image:\\n  tag: 1\\n\"\n";
    let entry = "plugin:\n  parameters:\n  - name: values\n    string: |-\n      image:\n        tag: 1\n";
    let tag = [key("image"), key("tag")];
    let cases: [PartCase<'_>; 8] = [
        (object, "values-object", &tag, Some(1), Some(Line::Exact(4))),
        (object, "values-object", &[key("list"), Step::Index(1)], None, Some(Line::Exact(7))),
        (object, "values-object", &[key("image"), key("none")], None, Some(Line::Around(3))),
        (object, "values", &tag, Some(2), None),
        (block, "values", &tag, Some(2), Some(Line::Exact(4))),
        (block, "values", &tag, None, Some(Line::Exact(2))),
        (quoted, "values", &tag, Some(2), Some(Line::Exact(2))),
        (entry, "values", &tag, Some(2), Some(Line::Exact(6))),
    ];
    for (text, name, path, line, expected) in cases {
        assert_eq!(part(text, name, path, line), expected, "{text}: {name} {path:?} {line:?}");
    }
}
