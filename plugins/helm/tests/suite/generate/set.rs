//! `set`, `set-string` and `set-file`: types, escaping, order and substitution.

use serde_json::{Value, json};

use crate::generate::world::{Helm, World, shown_values};

/// Returns the values and types in a template, with each value set under a unique name in a single run, which also detects side effects.
fn set(helm: Helm, kind_of_parameter: &str, values: &[&str]) -> Vec<(Value, String)> {
    let name = |index: usize| format!("v{index}");
    let world = values.iter().enumerate().fold(World::probe(), |world, (index, value)| {
        world.text(&format!("{kind_of_parameter}.{}", name(index)), value)
    });
    let seen = world.seen_all(helm);
    let mut found = shown_values(&seen);
    let kinds = seen["types"].as_str().expect("a string");
    let of = |index| {
        let beginning = format!("{}=", name(index));
        let kind = kinds.split(' ').find_map(|kind| kind.strip_prefix(&beginning)).unwrap_or_default();
        (found[&name(index)].take(), kind.to_owned())
    };
    let set = (0..values.len()).map(of).collect();
    found.as_object_mut().expect("an object").retain(|_, value| !value.is_null());
    assert_eq!(found, json!({ "from": "chart", "list": ["a", "b", "c"] }), "nothing else is set");
    set
}

#[test]
fn set_values_have_the_types_of_helm() {
    let cases = [
        ("true", json!(true), "bool"),
        ("True", json!(true), "bool"),
        ("5", json!(5), "int64"),
        ("-5", json!(-5), "int64"),
        ("0123", json!("0123"), "string"),
        ("0x1F", json!("0x1F"), "string"),
        ("1.50", json!("1.50"), "string"),
        ("1e3", json!("1e3"), "string"),
        ("9223372036854775808", json!("9223372036854775808"), "string"),
        ("yes", json!("yes"), "string"),
        ("", json!(""), "string"),
        ("{x, y}", json!(["x", " y"]), "slice"),
        ("{}", json!([""]), "slice"),
        ("[]", json!("[]"), "string"),
        (r"x\y", json!("xy"), "string"),
        ("x=y", json!("x=y"), "string"),
        ("a\nb  c", json!("a\nb  c"), "string"),
    ];
    let values = cases.each_ref().map(|(value, ..)| *value);
    for helm in Helm::ALL {
        let set = set(helm, "set", &values);
        for ((value, expected, kind), set) in cases.iter().zip(set) {
            assert_eq!(set, (expected.clone(), (*kind).to_owned()), "{value:?} with {helm:?}");
        }
    }
}

#[test]
fn null_removes_a_value_of_the_chart() {
    for helm in Helm::ALL {
        let values = World::probe().text("set.from", "null").values(helm);
        assert_eq!(values, json!({ "list": ["a", "b", "c"] }));
    }
}

#[test]
fn set_string_values_are_strings() {
    let cases =
        [("true", json!("true")), ("5", json!("5")), ("null", json!("null")), ("{1,2}", json!(["1", "2"]))];
    let values = cases.each_ref().map(|(value, _)| *value);
    for helm in Helm::ALL {
        for ((value, expected), (set, _)) in cases.iter().zip(set(helm, "set-string", &values)) {
            assert_eq!(set, *expected, "{value} with {helm:?}");
        }
    }
}

#[test]
fn commas_are_part_of_a_value() {
    let cases = [("not, clean", "not, clean"), (r"a\,b,c", "a,b,c"), (",,,", ",,,")];
    let values = cases.map(|(value, _)| value);
    for helm in Helm::ALL {
        for ((value, expected), (set, _)) in cases.iter().zip(set(helm, "set", &values)) {
            assert_eq!(set, *expected, "{value} with {helm:?}");
        }
    }
}

#[test]
fn values_with_special_characters_are_verbatim() {
    let values = [
        "-x",
        "--help",
        "`id`",
        "$(id)",
        "a b  'c' \"d\"",
        "; exit 3",
        "line\nbreak",
        "ü \u{feff}",
        "x {{ .Values }}",
        "%s",
    ];
    for helm in Helm::ALL {
        for (value, (set, _)) in values.iter().zip(set(helm, "set-string", &values)) {
            assert_eq!(set, *value, "{value:?} with {helm:?}");
        }
    }
}

#[test]
fn request_cannot_add_options_of_helm() {
    for helm in Helm::ALL {
        let world = World::probe()
            .text("release-name", "{{ \"x\" }}")
            .text("namespace", "--help")
            .array("api-versions", &["--help", "-h", "a/v1"])
            .file("charts/probe/-x.yaml", "from: dash\n")
            .array("value-files", &["-x.yaml"])
            .text("set.--help", "1")
            .text("set-file.-h", "-x.yaml");
        let seen = world.seen_all(helm);
        let values = shown_values(&seen);
        assert_eq!((&values["--help"], &values["-h"]), (&json!(1), &json!("from: dash\n")));
        assert_eq!((&values["from"], &seen["a"]), (&json!("dash"), &json!("true")));
        assert!(seen["release"].as_str().expect("a string").contains("\"Namespace\":\"--help\""));
    }
}

#[test]
fn nul_byte_is_rejected() {
    let refused =
        |name: &str, part: &str| format!("parameter {name} has a NUL byte in its {part}; remove it");
    let cases = [
        (World::probe().text("set.v", "a\0b"), refused("set.v", "value")),
        (World::probe().text("set.v\0w", "a"), refused(r"set.v\u{0}w", "name")),
        (World::probe().text("set-file.v\0w", "values.yaml"), refused(r"set-file.v\u{0}w", "name")),
        (World::probe().text("release-name", "a\0b"), refused("release-name", "value")),
        (World::probe().array("value-files", &["a\0b.yaml"]), refused("value-files", "value")),
        (World::probe().array("api-versions", &["a\0b"]), refused("api-versions", "value")),
    ];
    for (world, expected) in cases {
        assert_eq!(world.generate(Helm::Four).error(), expected);
    }
    let answer = World::probe().text("values", "a: b\0").generate(Helm::Four);
    assert!(answer.error().ends_with("control characters are not allowed"), "{}", answer.error());
}

#[test]
fn names_may_have_dots_and_indices() {
    for helm in Helm::ALL {
        let world = World::probe().text(r"set.a\.b/c", "1").text("set.list[1]", "z").text("set.m.n", "x");
        let values = world.values(helm);
        assert_eq!((&values["a.b/c"], &values["m"]["n"]), (&json!(1), &json!("x")));
        // One item replaces the whole list.
        assert_eq!(values["list"], json!([null, "z"]));
    }
}

#[test]
fn last_assignment_of_a_name_wins_per_kind() {
    for helm in Helm::ALL {
        let world = World::probe()
            .text("set.v", "1")
            .text("set-string.w", "2")
            .text("set.v", "3")
            .text("set-string.w", "4");
        let values = world.values(helm);
        assert_eq!((&values["v"], &values["w"]), (&json!(3), &json!("4")));
    }
}

#[test]
fn set_file_overrides_set_string_which_overrides_set() {
    for helm in Helm::ALL {
        let world = World::probe()
            .file("charts/probe/v.txt", "file")
            .text("set-file.v", "v.txt")
            .text("set-string.v", "text")
            .text("set.v", "value")
            .text("set-string.w", "text")
            .text("set.w", "value")
            .text("values", "v: inline\nw: inline\nx: inline\n")
            .text("set.x", "value");
        let values = world.values(helm);
        assert_eq!(
            (&values["v"], &values["w"], &values["x"]),
            (&json!("file"), &json!("text"), &json!("value"))
        );
    }
}

#[test]
fn values_are_set_in_written_order() {
    for helm in Helm::ALL {
        let world = World::probe().text("set.l", "{a,b}").text("set.l[0]", "z");
        assert_eq!(world.values(helm)["l"], json!(["z", "b"]));
        let world = World::probe().text("set.l[0]", "z").text("set.l", "{a,b}");
        assert_eq!(world.values(helm)["l"], json!(["a", "b"]));
    }
}

#[test]
fn variables_are_expanded_in_values_and_paths_only() {
    for helm in Helm::ALL {
        let world = World::probe()
            .variable("ARGOCD_ENV_STAGE", "prod")
            .file("charts/probe/prod.yaml", "from: prod\n")
            .file("charts/probe/my-app.txt", "content")
            .text("set.v", "${ARGOCD_APP_NAME}-$ARGOCD_ENV_STAGE-$HOME-$$x")
            .text("set-string.w", "$ARGOCD_APP_NAMESPACE,$NOPE")
            .text("set-file.f", "$ARGOCD_APP_NAME.txt")
            .text("set.$ARGOCD_APP_NAME", "1")
            .array("value-files", &["$ARGOCD_ENV_STAGE.yaml"]);
        let values = world.values(helm);
        let expected = json!({
            "v": "my-app-prod--$x", "w": "my-ns,", "f": "content", "$ARGOCD_APP_NAME": 1, "from": "prod", "list": ["a", "b", "c"]
        });
        assert_eq!(values, expected);
    }
}

#[test]
fn file_content_keeps_its_final_newline() {
    for helm in Helm::ALL {
        let world = World::probe()
            .file("charts/probe/f, x.txt", "one\ntwo\n")
            .file("root.txt", "7")
            .text("set-file.f", "f, x.txt")
            .text("set-file.g", "/root.txt");
        let values = world.values(helm);
        assert_eq!((&values["f"], &values["g"]), (&json!("one\ntwo\n"), &json!("7")));
    }
}

#[test]
fn value_above_128_kib_is_rejected() {
    let text = "x".repeat(100_000);
    for helm in Helm::ALL {
        assert_eq!(World::probe().text("set.v", &text).values(helm)["v"], text.as_str());
    }
    let answer = World::probe().text("set.large", &"x".repeat(128 << 10)).generate(Helm::Four);
    let expected = "parameter set.large has 131078 bytes, more than 131071, the limit of one value; move it to the parameter values or to \
                    a value file, or name a file with it in set-file.large";
    assert_eq!(answer.error(), expected);
}
