use std::collections::{BTreeMap, HashSet};

use proptest::prelude::*;

use super::super::*;

fn text(text: &str) -> ParameterValue {
    ParameterValue::String(text.to_owned())
}

#[test]
fn value_is_formatted_in_the_simplest_form() {
    let map = |pairs: &[(&str, &str)]| {
        let pairs = pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
        ParameterValue::Map(pairs.collect())
    };
    let cases = [
        ("n", text("9007199254740993"), Some("n=9007199254740993")),
        ("n", text(""), Some("n=")),
        ("n", text("  a\n'b'\n"), Some("n=  a\n'b'\n")),
        ("n", text("@file"), Some(r#"n:="@file""#)),
        ("n", text("a\r\nb"), Some(r#"n:="a\r\nb""#)),
        ("n", ParameterValue::Array(vec![]), Some("n:=[]")),
        ("n", ParameterValue::Array(vec!["1".into(), "a\"".into()]), Some(r#"n:=["1","a\""]"#)),
        ("n", map(&[("k", "yes"), ("", "")]), Some(r#"n:={"":"","k":"yes"}"#)),
        // Another known name starts with this name and an operator.
        ("a", text("b=c"), Some(r#"a:="b=c""#)),
        ("a", text("b"), Some("a=b")),
        ("x[y]", text("1"), Some("x[y]=1")),
        // Without the known name, this would be an item of `n`.
        ("n[0]", text("1"), None),
        ("z:", text("1"), Some("z:=1")),
        ("z", ParameterValue::Array(vec![]), None),
    ];
    let known: HashSet<&str> = ["n", "a", "a=b", "x[y]", "z", "z:"].into_iter().collect();
    for (name, value, expected) in cases {
        assert_eq!(value.argument(name, &known).as_deref(), expected, "{name} {value:?}");
    }
}

fn value() -> impl Strategy<Value = ParameterValue> {
    prop_oneof![
        any::<String>().prop_map(ParameterValue::String),
        "[@=:\\[\\]+a-c\n]{0,6}".prop_map(ParameterValue::String),
        prop::collection::vec(any::<String>(), 0..4).prop_map(ParameterValue::Array),
        prop::collection::btree_map(any::<String>(), any::<String>(), 0..4)
            .prop_map(|map: BTreeMap<String, String>| ParameterValue::Map(map)),
    ]
}

proptest! {
    #[test]
    fn formatted_assignment_parses_to_the_same_value(
        names in prop::collection::vec("[a-c=:+\\[\\]]{1,5}", 1..4),
        value in value(),
    ) {
        let known: HashSet<&str> = names.iter().map(String::as_str).collect();
        for name in &names {
            let Some(argument) = value.argument(name, &known) else { continue };
            let read = Assignment::parse(&argument, &known).expect("it is an assignment");
            prop_assert_eq!(&read.target, &Target::whole(name));
            let Some(Operand { form, origin: OperandOrigin::Inline(text) }) = read.value else {
                panic!("{argument:?} has no value of its own");
            };
            prop_assert_eq!(read_operand(form, text.as_bytes()), Ok(value.clone()));
        }
    }

    #[test]
    fn plain_name_can_be_set_to_every_value(value in value()) {
        let known: HashSet<&str> = ["replicas"].into_iter().collect();
        prop_assert!(value.argument("replicas", &known).is_some());
    }
}
