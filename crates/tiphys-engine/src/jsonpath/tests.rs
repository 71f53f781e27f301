use serde_json::{Value, json};

use super::{FieldPath, FindProblem, PATH_BYTES_MAX, printed};

fn path(path: &str) -> FieldPath {
    FieldPath::parse(path).unwrap_or_else(|error| panic!("{error}"))
}

/// Returns the only value, or the error.
fn one(written: &str, object: &Value) -> Result<Value, String> {
    let path = FieldPath::parse(written).map_err(|error| error.to_string())?;
    path.one(object).cloned().map_err(|error| error.to_string())
}

#[test]
fn exactly_one_value_is_found() {
    let object = json!({"data": {"host": "db", "empty": "", "none": null}, "list": [1, 2], "lists": [[1], [2, 3]], "no": []});
    for (written, expected) in [
        ("data.host", Ok(json!("db"))),
        ("{.data.empty}", Ok(json!(""))),
        ("list", Ok(json!([1, 2]))),
        ("list[1]", Ok(json!(2))),
        ("..host", Ok(json!("db"))),
        ("list[?(@>1)]", Ok(json!(2))),
        // As in kubectl, an empty range hides the lists after it.
        ("lists[*][1:]", Err("path lists[*][1:]: selects no value")),
        ("data.none", Err("path data.none: the value is null")),
        (".data.foo", Err("path .data.foo: .foo does not exist")),
        (".data['a\\.b'].c", Err("path .data['a\\.b'].c: .a\\.b does not exist")),
        ("data.none.x", Err("path data.none.x: .x does not exist")),
        ("no[*]", Err("path no[*]: selects no value")),
        ("no[*].x", Err("path no[*].x: selects no value")),
        (
            "list[*]",
            Err("path list[*]: selects several values; select one, for example with an index like [0]"),
        ),
        ("list[2]", Err("path list[2]: [2] is out of range")),
        ("list[0:3]", Err("path list[0:3]: [0:3] is out of range")),
        ("data[0]", Err("path data[0]: [0] must follow a list")),
        ("data[?(@.x)]", Err("path data[?(@.x)]: [?(@.x)] must follow a list")),
        (
            "list[?(@==\"1\")]",
            Err(
                "path list[?(@==\"1\")]: [?(@==\"1\")] compares values of incompatible types; strings are quoted, `1` is \
                 an integer, `1.0` is a float",
            ),
        ),
    ] {
        assert_eq!(one(written, &object), expected.map_err(str::to_owned), "{written}");
    }
}

#[test]
fn invalid_path_is_rejected_with_its_problem() {
    for (written, problem) in [
        ("{a", "expected `.name1.name2`, with or without the dot and `{}` around it"),
        ("a b", "unexpected `b`; fields begin with `.`, strings are quoted"),
        ("a true", "a literal must be alone on its side of a comparison"),
        ("a|b | c", "unexpected '|'"),
        ("a\\", "`\\` must precede a character"),
        ("....", "`..` must not follow `..`"),
        ("a[0", "expected `]`"),
        ("a[b]", "[b] is invalid; expected an index, a range like [0:2], [*], or a key like ['name']"),
        ("a[::0]", "[::0]: the step must be at least 1"),
        ("a[?(@.b==1]", "expected `)]` at the end of the filter"),
        ("a[?(@.b=='x'~)]", "unexpected '~'"),
        ("a[?(@.b=~'x')]", "unknown operator `=`; expected ==, !=, <, <=, > or >="),
        ("a[?(@.b=1)]", "unknown operator `=`; expected ==, !=, <, <=, > or >="),
        ("a[?(@.b==1.2.3)]", "invalid number `1.2.3`"),
        ("a[?(@.b=='\\x41')]", "unsupported escape in a string; write the character itself"),
        ("a[?(1)]", "expected a field, found a literal"),
    ] {
        let expected = format!("path {written}: {problem}");
        assert_eq!(FieldPath::parse(written).unwrap_err().to_string(), expected);
    }
    for length in [0, PATH_BYTES_MAX + 1] {
        let expected = format!("a path has 1 to {PATH_BYTES_MAX} bytes, found {length}");
        assert_eq!(FieldPath::parse(&"a".repeat(length)).unwrap_err().to_string(), expected);
    }
}

#[test]
fn nesting_is_limited() {
    let object = json!({"a": [{"b": {"c": {"d": 1}}}]});
    assert_eq!(one("a[?(@.b['c','c'])].b.c.d", &object), Ok(json!(1)));
    // Quotes hide the end of the inner filter from the outer one, as in kubectl.
    let error = FieldPath::parse("a[?(@.x\"[?(@.b['c','d'])]\"y\")]").unwrap_err().to_string();
    assert!(error.ends_with("filters and brackets are nested deeper than 3 levels"), "{error}");
}

#[test]
fn paths_to_hidden_copies_are_recognized() {
    for (written, may_reach) in [
        (".data.host", false),
        (".metadata.name", false),
        (".metadata.annotations.note", false),
        (".metadata.labels", false),
        (".metadata.labels.*", false),
        (".spec.*", false),
        (".spec.annotations", false),
        (".*.host", false),
        (".spec[?(@.metadata.name=='a')].x", false),
        ("..host", true),
        (".spec..host", true),
        (".metadata", true),
        (".metadata['annotations']", true),
        (".metadata['name','annotations']", true),
        (".metadata.*", true),
        (".metadata[*]", true),
        (".metadata.annotations.*", true),
        (".metadata.*.note", true),
        (".*", true),
        (".*.*", true),
        (".*.annotations", true),
        (".metadata.managedFields[0].manager", true),
        (".metadata.annotations.kubectl\\.kubernetes\\.io/last-applied-configuration", true),
        (".metadata.annotations['kubectl\\.kubernetes\\.io/last-applied-configuration']", true),
        (".spec.template.metadata", true),
        (".items[0].metadata.annotations", true),
        (".items[?(@.metadata.annotations)].x", false),
        (".items[?(@.metadata.managedFields)].x", true),
        (".items[?(@..x=='a')].x", true),
    ] {
        assert_eq!(path(written).may_reach_hidden_copies(), may_reach, "{written}");
    }
}

#[test]
fn expensive_look_up_is_ended() {
    let mut object = json!("leaf");
    for _ in 0..200 {
        object = json!({"a": object, "b": 1});
    }
    let result = path(&"...*".repeat(20)).find(&object).map_err(|error| error.problem);
    assert_eq!(result, Err(FindProblem::TooManyVisits));
}

#[test]
fn values_are_printed_as_kubectl_does() {
    for (value, expected) in [
        (json!("<a>"), "<a>"),
        (json!(true), "true"),
        (json!(i64::MIN), "-9223372036854775808"),
        (json!(u64::MAX), "1.8446744073709552e+19"),
        (json!(1.0), "1"),
        (json!(-0.5), "-0.5"),
        (json!(1e-7), "1e-07"),
        (json!(0.0001), "0.0001"),
        (json!(999_999.5), "999999.5"),
        (json!(123_456_789.5), "1.234567895e+08"),
        (json!(1e100), "1e+100"),
        (json!({"b": ["<"], "a": null}), "{\"a\":null,\"b\":[\"\\u003c\"]}"),
    ] {
        assert_eq!(printed(&value), expected);
    }
}
