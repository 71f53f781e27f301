use std::error::Error;

use serde_json::json;
use tiphys_model::resources::GoFields;

use super::*;
use crate::ObjectKey;

fn parameter(value: &Value) -> DynamicParameter {
    GoFields::of_json(value).expect("a dynamic parameter")
}

fn of_field(name: &str, path: &str) -> Value {
    json!({"name": name, "resourceRef": {"kind": "ConfigMap", "name": "cm", "path": path}})
}

fn with(mut parameter: Value, key: &str, value: Value) -> DynamicParameter {
    parameter[key] = value;
    self::parameter(&parameter)
}

fn message(error: &(dyn Error + 'static)) -> String {
    std::iter::successors(Some(error), |error| (*error).source())
        .map(ToString::to_string)
        .collect::<Vec<_>>()
        .join(": ")
}

#[test]
fn invalid_parameters_are_refused() {
    let cases = [
        (parameter(&json!({})), "dynamic parameter 1 (without a name): `name` is required"),
        (parameter(&json!({"name": "a"})), "dynamic parameter \"a\": `resourceRef.kind` is required"),
        (
            parameter(&json!({"name": "a", "resourceRef": {"kind": "Node"}})),
            "dynamic parameter \"a\": `resourceRef.name` is required",
        ),
        (
            parameter(&of_field("a..b", ".data.x")),
            "dynamic parameter \"a..b\": the name \"a..b\" has an empty key; write a key before each dot and bracket, and after each dot",
        ),
        (parameter(&of_field("a", ".data[")), "dynamic parameter \"a\": resourceRef.path: path .data[: "),
        (
            parameter(&of_field("a", ".metadata")),
            "dynamic parameter \"a\": resourceRef.path \".metadata\" can select the whole object or copies of it in its metadata; name one field",
        ),
        (
            with(of_field("a", ""), "default", json!(1)),
            "dynamic parameter \"a\": `default` needs resourceRef.path: without a path, the value is whether the object exists",
        ),
        (
            with(of_field("a", ""), "decode", json!("base64")),
            "dynamic parameter \"a\": `decode` needs resourceRef.path: without a path, the value is whether the object exists",
        ),
        (
            with(of_field("a", ".data.x"), "decode", json!("hex")),
            "dynamic parameter \"a\": `decode: hex` is unknown; `base64` is supported",
        ),
    ];
    for (parameter, expected) in cases {
        let error = look_ups([&parameter], &[], ValueConsumer::Helm).expect_err(expected);
        let message = message(&error);
        assert!(message.starts_with(expected), "{message}\n{expected}");
    }
}

/// Names that are set, names of dynamic parameters, what gets them, the other one in the error.
type NameCase = (&'static [&'static str], &'static [&'static str], ValueConsumer, Option<&'static str>);

#[test]
fn a_value_is_set_once() {
    use ValueConsumer::{Helm, Plugin};
    let cases: [NameCase; 9] = [
        (&["a"], &["b"], Helm, None),
        (&["a.b"], &["a.c"], Helm, None),
        (&["a"], &["a"], Helm, Some("the parameter \"a\"")),
        (&["a.b"], &["a"], Helm, Some("the parameter \"a.b\"")),
        (&["a"], &["a.b"], Helm, Some("the parameter \"a\"")),
        (&[], &["l[0].x", "l[1].x"], Helm, None),
        (&[], &["l[0]", "l[0].x"], Helm, Some("the dynamic parameter \"l[0]\"")),
        (&["a"], &["a.b"], Plugin, None),
        (&["a"], &["a"], Plugin, Some("the parameter \"a\"")),
    ];
    for (set, names, consumer, expected) in cases {
        let set: Vec<String> = set.iter().map(ToString::to_string).collect();
        let parameters: Vec<_> = names.iter().map(|name| parameter(&of_field(name, ".data.x"))).collect();
        let other = match look_ups(&parameters, &set, consumer).map_err(|error| error.problem) {
            Ok(_) => None,
            Err(DynamicParameterProblem::Twice(other)) => Some(other),
            Err(other) => panic!("{other}"),
        };
        assert_eq!(other.as_deref(), expected, "{set:?} {names:?}");
    }
}

fn look_up(parameter: &DynamicParameter, consumer: ValueConsumer) -> LookUp {
    look_ups([parameter], &[], consumer).expect("a valid parameter").remove(0)
}

#[test]
fn helm_gets_values_typed_as_set_types_them() {
    let cases = [
        // Value of the field, JSON for Helm, the same with forceString, the same from a Secret.
        (json!("text"), r#""text""#, r#""text""#, r#""text""#),
        (json!(""), r#""""#, r#""""#, r#""""#),
        (json!("5"), "5", r#""5""#, r#""5""#),
        (json!("007"), r#""007""#, r#""007""#, r#""007""#),
        (json!("+07"), "7", r#""+07""#, r#""+07""#),
        (json!("True"), "true", r#""True""#, r#""True""#),
        (json!("null"), r#""null""#, r#""null""#, r#""null""#),
        (json!("{a,b}"), r#""{a,b}""#, r#""{a,b}""#, r#""{a,b}""#),
        (json!("1.5"), r#""1.5""#, r#""1.5""#, r#""1.5""#),
        (json!(1_000_000), "1000000", r#""1000000""#, r#""1000000""#),
        (json!(1.5), r#""1.5""#, r#""1.5""#, r#""1.5""#),
        (json!(true), "true", r#""true""#, r#""true""#),
        (
            json!({"b": [1], "a": "x"}),
            r#"{"a":"x","b":[1]}"#,
            r#""{\"a\":\"x\",\"b\":[1]}""#,
            r#"{"a":"x","b":[1]}"#,
        ),
    ];
    for (value, plain, forced, secret) in cases {
        let object = json!({"data": {"x": value}});
        let field = of_field("p", ".data.x");
        for (parameter, is_secret, expected) in [
            (parameter(&field), false, plain),
            (with(field.clone(), "forceString", json!(true)), false, forced),
            (parameter(&field), true, secret),
        ] {
            let resolution = look_up(&parameter, ValueConsumer::Helm).value(Some(&object), is_secret);
            let resolved = resolution.expect("a value").parameter;
            assert_eq!(resolved.expose().name, "value.p");
            assert_eq!(resolved.expose().string.as_deref(), Some(expected), "{value} {is_secret}");
            assert_eq!(resolved.is_from_secret(), is_secret);
        }
    }
}

#[test]
fn plugins_get_strings_lists_and_maps() {
    let cases = [
        (json!("5"), Ok(json!({"name": "p", "string": "5"}))),
        (json!(5), Ok(json!({"name": "p", "string": "5"}))),
        (json!(["a", 1, true]), Ok(json!({"name": "p", "array": ["a", "1", "true"]}))),
        (json!({"k": 1}), Ok(json!({"name": "p", "map": {"k": "1"}}))),
        (json!([]), Ok(json!({"name": "p", "array": []}))),
        (json!({"k": {}}), Err(ValueProblem::Nested)),
        (json!([["a"]]), Err(ValueProblem::Nested)),
    ];
    for (value, expected) in cases {
        let object = json!({"data": {"x": value}});
        let look_up = look_up(&parameter(&of_field("p", ".data.x")), ValueConsumer::Plugin);
        let found = look_up.value(Some(&object), false).map(|resolution| resolution.parameter);
        let expected = expected.map(|json| {
            serde_json::from_value::<tiphys_model::params::Parameter>(json).expect("a parameter")
        });
        assert_eq!(found.map(|one| one.expose().clone()), expected, "{value}");
    }
}

#[test]
fn missing_objects_and_fields_have_defaults() {
    let object = json!({"data": {"x": null, "y": "v"}});
    let default = |path| with(of_field("p", path), "default", json!("d"));
    let cases = [
        (parameter(&of_field("p", "")), Some(&object), Ok(("true", Used::Existence))),
        (parameter(&of_field("p", "")), None, Ok(("false", Used::Existence))),
        (parameter(&of_field("p", ".data.y")), Some(&object), Ok((r#""v""#, Used::Field))),
        (default(".data.y"), Some(&object), Ok((r#""v""#, Used::Field))),
        (default(".data.z"), Some(&object), Ok((r#""d""#, Used::DefaultForField))),
        (default(".data.x"), Some(&object), Ok((r#""d""#, Used::DefaultForField))),
        (default(".data.y"), None, Ok((r#""d""#, Used::DefaultForObject))),
        (parameter(&of_field("p", ".data.y")), None, Err("resource not found")),
        (parameter(&of_field("p", ".data.z")), Some(&object), Err("path .data.z: .z does not exist")),
        (
            default(".data.*"),
            Some(&object),
            Err("path .data.*: selects several values; select one, for example with an index like [0]"),
        ),
    ];
    for (parameter, object, expected) in cases {
        let resolution = look_up(&parameter, ValueConsumer::Helm).value(object, false);
        let found = resolution.map(|one| (one.parameter.expose().string.clone(), one.used));
        let expected = expected.map(|(value, used)| (Some(value.to_owned()), used)).map_err(str::to_owned);
        assert_eq!(found.map_err(|error| error.to_string()), expected, "{parameter:?}");
    }
}

#[test]
fn base64_is_decoded() {
    let object = json!({"data": {"ok": "aMOpbGxv", "text": "not base64!", "bytes": "/w==", "number": 5}});
    let cases = [
        ("ok", Ok(r#""héllo""#)),
        ("text", Err(ValueProblem::NotBase64)),
        ("bytes", Err(ValueProblem::NotUtf8)),
        ("number", Err(ValueProblem::NotBase64)),
    ];
    for (key, expected) in cases {
        let parameter = with(of_field("p", &format!(".data.{key}")), "decode", json!("base64"));
        let found = look_up(&parameter, ValueConsumer::Helm).value(Some(&object), false);
        let found = found.map(|one| one.parameter.expose().string.clone().unwrap_or_default());
        assert_eq!(found, expected.map(str::to_owned), "{key}");
    }
}

#[test]
fn problems_have_one_wording() {
    let object = ObjectKey {
        group: String::new(),
        kind: "ConfigMap".to_owned(),
        namespace: "ns".to_owned(),
        name: "cm".to_owned(),
    };
    let field =
        FieldPath::parse(".data.foo").expect("a path").one(&json!({"data": {}})).expect_err("no field");
    let cases = [
        (LookUpProblem::Forbidden, "access to the resource is forbidden by configuration"),
        (
            LookUpProblem::of_value(object.clone(), ValueProblem::NoObject),
            "resource not found: ConfigMap ns/cm",
        ),
        (
            LookUpProblem::of_value(object.clone(), ValueProblem::Field(field)),
            "path .data.foo does not exist in ConfigMap ns/cm",
        ),
        (
            LookUpProblem::of_value(object, ValueProblem::Nested),
            "ConfigMap ns/cm: plugins get strings, and lists and maps of strings; the value is nested deeper: name a field of it",
        ),
        (LookUpProblem::NoCluster("prod".to_owned()), "no access to the destination cluster prod was given"),
        (LookUpProblem::ChangedByHead, "not resolved: changed by head"),
    ];
    for (problem, expected) in cases {
        assert_eq!(problem.to_string(), expected);
    }
}

#[test]
fn values_are_shown_as_json_and_those_of_secrets_never() {
    let object = json!({"data": {"text": "a", "count": "3", "list": ["x"], "map": {"k": "v"}}});
    // Path, the value for Helm, the value for other plugins.
    let cases = [
        (".data.text", json!("a"), json!("a")),
        (".data.count", json!(3), json!("3")),
        (".data.list", json!(["x"]), json!(["x"])),
        (".data.map", json!({"k": "v"}), json!({"k": "v"})),
    ];
    for (path, helm, plugin) in cases {
        for (consumer, expected) in [(ValueConsumer::Helm, helm), (ValueConsumer::Plugin, plugin)] {
            let found = look_ups([&parameter(&of_field("a", path))], &[], consumer).expect(path);
            let shown = |is_secret| {
                let resolution = found[0].value(Some(&object), is_secret).expect(path);
                found[0].shown_value(&resolution.parameter)
            };
            assert_eq!((shown(false), shown(true)), (Some(expected), None), "{path} for {consumer:?}");
        }
    }
}
