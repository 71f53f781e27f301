use super::{EnvVar, app_parameters, escape, parameter_variables};
use crate::params::Parameter;

fn named(name: &str) -> Parameter {
    Parameter { name: name.to_owned(), ..Parameter::default() }
}

#[test]
fn missing_parameters_are_encoded_as_null() {
    assert_eq!(app_parameters(None), "null");
    assert_eq!(app_parameters(Some(&[])), "[]");
}

#[test]
fn name_is_always_encoded_and_values_only_if_set() {
    let empty =
        Parameter { string: Some(String::new()), array: Some(Vec::new()), map: Some([].into()), ..named("") };
    assert_eq!(app_parameters(Some(&[named("")])), r#"[{"name":""}]"#);
    assert_eq!(app_parameters(Some(&[empty])), r#"[{"array":[],"map":{},"name":"","string":""}]"#);
}

#[test]
fn example_of_proposal_gives_its_variables() {
    let parameters = [
        Parameter { string: Some("resources:\n  cpu: 100m".to_owned()), ..named("values") },
        Parameter { array: Some(vec!["values.yaml".to_owned()]), ..named("values-files") },
        Parameter {
            map: Some(
                [("image.repository".to_owned(), "r".to_owned()), ("image.tag".to_owned(), "0.1".to_owned())]
                    .into(),
            ),
            ..named("helm-parameters")
        },
    ];
    let expected = [
        EnvVar::new("PARAM_VALUES", "resources:\n  cpu: 100m"),
        EnvVar::new("PARAM_VALUES_FILES_0", "values.yaml"),
        EnvVar::new("PARAM_HELM_PARAMETERS_IMAGE_REPOSITORY", "r"),
        EnvVar::new("PARAM_HELM_PARAMETERS_IMAGE_TAG", "0.1"),
    ];
    assert_eq!(parameter_variables(&parameters), expected);
}

#[test]
fn variables_are_ordered_string_then_map_then_list() {
    let parameter = Parameter {
        string: Some("s".to_owned()),
        array: Some(vec!["a".to_owned()]),
        map: Some([("k".to_owned(), "m".to_owned())].into()),
        ..named("x")
    };
    let names: Vec<String> =
        parameter_variables(&[parameter]).into_iter().map(|variable| variable.name).collect();
    assert_eq!(names, ["PARAM_X", "PARAM_X_K", "PARAM_X_0"]);
}

#[test]
fn upper_case_maps_one_character_to_one_as_in_go() {
    for (text, expected) in [
        ("straße", "STRA_E"),
        ("ŉ", "_"),
        ("ﬁ", "_"),
        ("ı", "I"),
        ("ſ", "S"),
        ("\u{212a}", "_"),
        ("a_9-Z", "A_9_Z"),
    ] {
        assert_eq!(escape(text), expected, "{text}");
    }
}

#[test]
fn every_character_is_escaped_as_its_simple_upper_case() {
    for c in '\0'..=char::MAX {
        let mut upper = c.to_uppercase();
        let expected = match (upper.next(), upper.next()) {
            (Some(single @ ('A'..='Z' | '0'..='9' | '_')), None) => single,
            _ => '_',
        };
        assert_eq!(escape(&c.to_string()), expected.to_string(), "U+{:04X}", u32::from(c));
    }
}
