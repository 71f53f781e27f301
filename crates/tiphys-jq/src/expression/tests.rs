use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::{
    Budget, DEFAULT_TIME_LIMIT, EXCEEDED_MAX, EXPRESSION_BYTES_MAX, PathExpression, RemoveError, Unselected,
    compile, paths,
};

fn removed(expression: &str, object: &Value) -> Result<Value, RemoveError> {
    let expression = PathExpression::new(expression, DEFAULT_TIME_LIMIT)
        .unwrap_or_else(|error| panic!("{expression}: {error}"));
    let mut object = object.clone();
    let result = expression.remove_from(&mut object);
    result.map(|()| object)
}

#[test]
fn selected_fields_are_removed() {
    let object = json!({"a": {"b": 1, "c": null}, "l": [{"n": "x", "v": 1}, {"n": "y", "v": 2}, {"n": "xy"}], "s": "t"});
    let (list, a) = (object["l"].clone(), object["a"].clone());
    let with = |a: &Value, l: Value| json!({"a": a, "l": l, "s": "t"});
    let cases = [
        (".a.b", with(&json!({"c": null}), list.clone())),
        (".a[\"b\"], .a.c", with(&json!({}), list.clone())),
        (".a", json!({"l": list, "s": "t"})),
        (".nope.x", object.clone()),
        (".a.c.x", object.clone()),
        (".l[] | select(.n == \"x\")", with(&a, json!([list[1], list[2]]))),
        (".l[] | select(.n | test(\"^x\"))", with(&a, json!([list[1]]))),
        (".l[] | select(.n | test(\"^X\"; \"i\")) | .v", with(&a, json!([{"n": "x"}, list[1], list[2]]))),
        (".l[0, 2]", with(&a, json!([list[1]]))),
        (".l[-1]", with(&a, json!([list[0], list[1]]))),
        (".l[1:]", with(&a, json!([list[0]]))),
        (".l[1:][0].n", with(&a, json!([list[0], {"v": 2}, list[2]]))),
        (".l[].v", with(&a, json!([{"n": "x"}, {"n": "y"}, list[2]]))),
        (".l[]?.v?, .s[]?", with(&a, json!([{"n": "x"}, {"n": "y"}, list[2]]))),
        (".. | .v?", with(&a, json!([{"n": "x"}, {"n": "y"}, list[2]]))),
        (".. | objects | select(has(\"v\")) | .n", with(&a, json!([{"v": 1}, {"v": 2}, list[2]]))),
        ("first(.l[] | select(.v > 0))", with(&a, json!([list[1], list[2]]))),
        (".l[] | select(any(.[]; . == 2) or (.n | startswith(\"xy\")))", with(&a, json!([list[0]]))),
        ("if .s == \"t\" then .a else .l end", json!({"l": list, "s": "t"})),
        (".x // .a.b", with(&json!({"c": null}), list.clone())),
        ("getpath([\"a\", \"b\"])", with(&json!({"c": null}), list.clone())),
        (".l[] | select(.n | IN(\"x\", \"y\"))", with(&a, json!([list[2]]))),
        (".l[] | select(.n | contains(\"y\"))", with(&a, json!([list[0]]))),
        (".l | first, last", with(&a, json!([list[1]]))),
        (". as {s: $s} | .l[] | select($s == \"t\" and .v == 1)", with(&a, json!([list[1], list[2]]))),
        (".", Value::Null),
        ("empty", object.clone()),
    ];
    for (expression, expected) in cases {
        assert_eq!(removed(expression, &object), Ok(expected), "{expression}");
    }
}

#[test]
fn expression_that_does_not_fit_leaves_the_object() {
    let object = json!({"a": {"b": 1}, "s": "t"});
    for expression in [
        ".x[]",
        ".s.x",
        ".a[0]",
        "1",
        ".a | keys",
        ".a.b, .s[]",
        "error(\"x\")",
        ".s[0:1]",
        ".a | select(.x | contains(\"y\"))",
        "last(.a[])",
    ] {
        assert_eq!(removed(expression, &object), Err(RemoveError::Failed), "{expression}");
    }
}

#[test]
fn invalid_expressions_are_rejected_in_words_of_gojq() {
    let long = format!(".{}", "a".repeat(EXPRESSION_BYTES_MAX));
    let nested = format!("{}.{}", "(".repeat(2000), ")".repeat(2000));
    assert!(PathExpression::new(&nested, DEFAULT_TIME_LIMIT).is_ok());
    let cases = [
        (".spec[", r#"unexpected token ")""#),
        ("", r#"unexpected token ")""#),
        (".a.", r#"unexpected token ")""#),
        (".a b", r#"unexpected token "b""#),
        (".a]", r#"unexpected token "]""#),
        (".a[(.b", "unexpected EOF"),
        (".a # x", "unexpected EOF"),
        (".\"a", "unterminated string literal"),
        (".\"\\x\"", r#"invalid escape sequence "\x" in string literal"#),
        ("nope(1)", "function not defined: nope/1"),
        ("$x", "variable not defined: $x"),
        ("$ENV", "variable not defined: $ENV"),
        ("env", "function not defined: env/0"),
        ("input", "function not defined: input/0"),
        ("now", "function not defined: now/0"),
        ("range(9)", "function not defined: range/1"),
        ("range(0; 9; 1)", "function not defined: range/3"),
        ("recurse(.)", "function not defined: recurse/1"),
        ("def f: f; f", "def is not supported in path expressions"),
        (".a[\"\\(reduce . as $x (0; 1))\"]", "reduce is not supported in path expressions"),
        (".a | select(\"x\" * 9)", "* is not supported in path expressions"),
        (&long, "the expression has more than 4096 bytes"),
    ];
    for (expression, expected) in cases {
        let error = PathExpression::new(expression, DEFAULT_TIME_LIMIT).err().expect(expression);
        assert_eq!(error.to_string(), expected, "{expression}");
    }
}

#[test]
fn endless_expression_is_abandoned_at_the_time_limit() {
    let repeated = |part: &str, count: usize| vec![part; count].join("|");
    let products = [
        format!(".l as $l | {}", repeated("$l[]", 800)),
        format!(".l as $l | [{}]", repeated("$l[]", 12)),
        format!(".s as $s | {}", repeated("($s, $s)", 300)),
        repeated("(., .)", 400),
        repeated("(. as {(\"l\", \"s\"): $x} | .)", 100),
        repeated("..", 400),
        format!("{} | .[]", repeated("(., .)", 400)),
    ];
    let object = json!({"l": vec![1; 100], "s": "t"});
    let limit = Duration::from_millis(20);
    for product in products {
        let expression = PathExpression::new(&format!("select({product} | false)"), limit).expect("valid");
        for _ in 0..EXCEEDED_MAX {
            assert_eq!(
                expression.remove_from(&mut object.clone()),
                Err(RemoveError::Exceeded(limit)),
                "{product}"
            );
        }
        // It ends at once on this object, but is not applied any more.
        assert_eq!(expression.remove_from(&mut json!({"l": []})), Err(RemoveError::Exceeded(limit)));
        // A thread has a reference to the filter.
        let deadline = Instant::now() + Duration::from_mins(1);
        while Arc::strong_count(&expression.filter) > 1 {
            assert!(Instant::now() < deadline, "{product}: the thread goes on");
            std::thread::yield_now();
        }
    }
}

#[test]
fn abandoned_run_ends_at_the_next_value() {
    let filter = compile("path(.l[])").expect("valid");
    for is_abandoned in [false, true] {
        let budget = Budget::new(Arc::new(AtomicBool::new(is_abandoned)));
        let result = paths(&filter, "{\"l\": [1]}", &budget);
        assert_eq!(matches!(result, Err(Unselected::Exceeded)), is_abandoned);
    }
}

#[test]
fn growing_expression_ends_before_it_fills_the_memory() {
    let repeated = |part: &str, count: usize| vec![part; count].join("|");
    let string = |part: &str, count| format!("\"xxxxxxxxxxxxxxxx\" | {}", repeated(part, count));
    let list = |part: &str, count| format!("[1, 2] | {}", repeated(part, count));
    let nested = format!("{}1{}", "$l | sort_by(".repeat(100), ")".repeat(100));
    let expressions = [
        string(". + .", 100),
        string("\"\\(.)\\(.)\"", 100),
        string("tojson", 200),
        string("[., .] | add", 100),
        string("[., .] | join(\"x\")", 100),
        string("{(.): .} | tojson", 100),
        list(". + .", 100),
        list("[., .]", 100) + " | tojson",
        list("{a: ., b: .}", 100) + " | . == {}",
        ".l as $l | [$l[] | $l[] | $l[] | $l[0:]]".to_owned(),
        format!(".l as $l | {nested}"),
        // Quadratic time in one function.
        string(". + .", 17) + " | indices(.[1:])",
        list(". + .", 15) + " | contains(.[1:])",
        list(". + .", 15) + " | .[.[0:8000]]",
    ];
    let object = json!({"l": vec![0; 100]});
    let limit = Duration::from_mins(1);
    for expression in expressions {
        let compiled = PathExpression::new(&format!("select({expression} | false)"), limit).expect("valid");
        let removed = compiled.remove_from(&mut object.clone());
        assert_eq!(removed, Err(RemoveError::Exceeded(limit)), "{expression}");
    }
}

#[test]
fn json_of_a_string_has_a_limited_depth_and_short_numbers() {
    let doubled = |part: &str, times| format!("(\"{part}\" | {})", vec![". + ."; times].join("|"));
    for (expression, is_valid) in [
        (doubled("[", 18) + " | fromjson", false),
        (doubled("[", 13) + " + " + &doubled("]", 13) + " | fromjson", true),
        (doubled("1", 12) + " | tonumber", false),
        (r#""[1, \"]\\\\[\\\"\", {}]" | fromjson"#.to_owned(), true),
    ] {
        let object = json!({"a": 1});
        let expected = if is_valid { Ok(json!({})) } else { Err(RemoveError::Failed) };
        assert_eq!(removed(&format!("({expression}) as $x | .a"), &object), expected, "{expression}");
    }
}

#[test]
fn number_of_selected_paths_is_limited() {
    let object = json!({"l": vec![1; 200]});
    assert_eq!(removed(".l[]", &object), Ok(json!({"l": []})));
    let expected = Err(RemoveError::Exceeded(DEFAULT_TIME_LIMIT));
    assert_eq!(removed(".l as $l | $l[] as $x | .l[]", &object), expected);
}
