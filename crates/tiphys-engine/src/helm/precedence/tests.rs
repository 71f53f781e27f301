use tiphys_model::resources::{HelmFileParameter, HelmParameter, HelmSource, PluginSource};

use super::*;
use crate::HELM_PLUGIN;
use crate::helm::text_parameter;

fn parameters(entries: &[(&str, bool)], files: &[&str]) -> ValueParameters {
    let entry = |(name, force_string): &(&str, bool)| HelmParameter {
        name: (*name).to_owned(),
        value: "1".to_owned(),
        force_string: *force_string,
    };
    let file = |name: &&str| HelmFileParameter { name: (*name).to_owned(), path: "f".to_owned() };
    let block = HelmSource {
        parameters: entries.iter().map(entry).collect(),
        file_parameters: files.iter().map(file).collect(),
        ..HelmSource::default()
    };
    let source = ApplicationSource { helm: Some(block), ..ApplicationSource::default() };
    ValueParameters::of(&source, SourceType::HELM, None)
}

#[test]
fn parameters_of_a_value_have_the_order_of_helm() {
    let both = parameters(&[("a.b", true), ("a.b", false), ("a.c", true)], &["a.b"]);
    assert_eq!(both.of_value("set.a.b"), ["set.a.b", "set-string.a.b", "set-file.a.b"]);
    assert_eq!(both.of_value("set.a.c"), ["set.a.c"]);
    assert!(both.of_value("set.a").is_empty());
    assert!(both.of_value("set-string.a.b").is_empty());
}

#[test]
fn later_parameter_of_the_value_or_around_it_wins() {
    for (entries, files, name, expected) in [
        (&[("a.b", true), ("a.b", false)][..], &[][..], "set.a.b", Some("set-string.a.b")),
        (&[("a.b", true), ("a.b", false)], &["a.b"], "set-string.a.b", Some("set-file.a.b")),
        (&[("a.b", true)], &[], "set.a.b", None),
        (&[("a.b", false), ("a", false)], &[], "set.a.b", Some("set.a")),
        (&[("a", false), ("a.b", false)], &[], "set.a.b", None),
        (&[("a", false), ("a.b", false)], &[], "set.a", None),
        (&[("l[0]", false), ("l", true)], &[], "set.l[0]", Some("set.l")),
        (&[("a.b", false)], &["a.c"], "set.a.b", None),
        (&[("a.b", false)], &[], "set.other", None),
    ] {
        assert_eq!(parameters(entries, files).winning_over(name), expected, "{entries:?} {files:?} {name}");
    }
}

#[test]
fn parameters_at_above_and_below_a_path_cover_it() {
    let block = parameters(&[("a.b", false), ("c", true), ("d[0].e", true), ("d[0].e", false)], &["f"]);
    for (name, expected) in [
        ("set.a", Some("set.a.b")),
        ("set.a.b", Some("set.a.b")),
        ("set.a.b.c", Some("set.a.b")),
        ("set.a.c", None),
        ("set.c[x]", Some("set.c")),
        ("set.d", Some("set-string.d[0].e")),
        ("set.d[1]", None),
        ("set.f", Some("set-file.f")),
    ] {
        let path = ValuePath::of_parameter(name).and_then(Result::ok).map(|(path, _)| path);
        assert_eq!(path.and_then(|path| block.covering(&path)), expected, "{name}");
    }
}

#[test]
fn parameters_of_the_plugin_have_the_order_of_helm() {
    let parameter = |name: &str| text_parameter("", name, "1");
    let list = ["value.a", "set-file.b", "set.b", "values"].map(parameter).to_vec();
    let block =
        PluginSource { name: HELM_PLUGIN.to_owned(), parameters: Some(list), ..PluginSource::default() };
    let source = ApplicationSource { plugin: Some(block), ..ApplicationSource::default() };
    let found = ValueParameters::of(&source, SourceType::Plugin, None);
    let names: Vec<&str> = found.0.iter().map(|(_, name)| name.as_str()).collect();
    assert_eq!(names, ["set.b", "set-file.b", "value.a"]);
}
