//! Parsing of assignments and their effect on a list of parameters.

use std::collections::{BTreeMap, HashSet};

use super::*;
use crate::params::{Announcement, CollectionType, ItemType, Parameter};

/// Known names in the syntax tests.
const KNOWN: [&str; 7] = ["replicas", "hosts", "limits", "a=b", "a[0]", "sign+", "sign:"];

fn parsed(text: &str) -> String {
    let known: HashSet<&str> = KNOWN.into_iter().collect();
    match Assignment::parse(text, &known) {
        Ok(Assignment { target, value: Some(Operand { form, origin }) }) => {
            format!("{} | {:?} | {form:?} {origin:?}", target.name, target.part)
        }
        Ok(assignment) => panic!("an assignment sets something: {assignment:?}"),
        Err(error) => format!("error: {error}"),
    }
}

#[test]
fn every_form_of_assignment_is_parsed() {
    let cases = [
        ("replicas=5", r#"replicas | Whole | Text Inline("5")"#),
        ("replicas=", r#"replicas | Whole | Text Inline("")"#),
        ("replicas:=5", r#"replicas | Whole | Json Inline("5")"#),
        ("replicas=@values/n.txt", r#"replicas | Whole | Text File("values/n.txt")"#),
        ("replicas:=@n.json", r#"replicas | Whole | Json File("n.json")"#),
        ("hosts+=a=b", r#"hosts | End | Text Inline("a=b")"#),
        ("hosts+:=[\"a\"]", r#"hosts | End | Json Inline("[\"a\"]")"#),
        ("hosts[0]=x", r#"hosts | Item("0") | Text Inline("x")"#),
        ("limits[cpu]=1", r#"limits | Item("cpu") | Text Inline("1")"#),
        ("limits[x=y]=1", r#"limits | Item("x=y") | Text Inline("1")"#),
        ("limits[x[0]]=1", r#"limits | Item("x[0]") | Text Inline("1")"#),
        ("limits[]=1", r#"limits | Item("") | Text Inline("1")"#),
        ("limits[a]=b[c]=d", r#"limits | Item("a") | Text Inline("b[c]=d")"#),
        // A known name wins.
        ("a=b=c", r#"a=b | Whole | Text Inline("c")"#),
        ("a[0]=c", r#"a[0] | Whole | Text Inline("c")"#),
        ("a[0][1]=c", r#"a[0] | Item("1") | Text Inline("c")"#),
        ("a[1]=c", r#"a | Item("1") | Text Inline("c")"#),
        ("sign+=c", r#"sign+ | Whole | Text Inline("c")"#),
        ("sign++=c", r#"sign+ | End | Text Inline("c")"#),
        ("sign:=c", r#"sign: | Whole | Text Inline("c")"#),
        ("sign::=1", r#"sign: | Whole | Json Inline("1")"#),
        // New names.
        ("new=a[b]=c", r#"new | Whole | Text Inline("a[b]=c")"#),
        ("new[a=b]=c", r#"new | Item("a=b") | Text Inline("c")"#),
        ("new[a=c", r#"new[a | Whole | Text Inline("c")"#),
        ("[a]=c", r#"[a] | Whole | Text Inline("c")"#),
        ("new name=c", r#"new name | Whole | Text Inline("c")"#),
        ("ü[ß]=日", r#"ü | Item("ß") | Text Inline("日")"#),
        (
            "replicas",
            r#"error: "replicas" is not an assignment; write NAME=VALUE, NAME:=JSON, NAME[KEY]=VALUE, NAME+=VALUE or NAME=@FILE"#,
        ),
        ("=5", r#"error: "=5" names no parameter"#),
        (":=5", r#"error: ":=5" names no parameter"#),
        ("+=5", r#"error: "+=5" names no parameter"#),
        (
            "limits[cpu]+=5",
            "error: limits[cpu] is one item; `+=` appends to a list, so write limits[cpu]=VALUE",
        ),
        ("new[a]+:=5", "error: new[a] is one item; `+=` appends to a list, so write new[a]=VALUE"),
        (
            "replicas=@",
            r#"error: "replicas=@" has no file name after `@`; write a string that begins with `@` as NAME:='"@…"'"#,
        ),
    ];
    for (text, expected) in cases {
        assert_eq!(parsed(text), expected, "{text}");
    }
}

#[test]
fn long_value_with_many_operators_is_parsed_quickly() {
    let known: HashSet<&str> = KNOWN.into_iter().collect();
    let text = format!("new={}", "[section]=value\n".repeat(1 << 16));
    let begun = std::time::Instant::now();
    let assignment = Assignment::parse(&text, &known).expect("an assignment");
    assert_eq!(assignment.target, Target::whole("new"));
    // It takes milliseconds; with quadratic cost it takes hours.
    assert!(begun.elapsed() < std::time::Duration::from_secs(10), "{:?}", begun.elapsed());
}

#[test]
fn unset_target_is_a_name_or_an_item() {
    let known: HashSet<&str> = KNOWN.into_iter().collect();
    let cases = [
        ("replicas", "replicas", Part::Whole),
        ("limits[cpu]", "limits", Part::Item("cpu".to_owned())),
        ("a[0]", "a[0]", Part::Whole),
        ("a[0][0]", "a[0]", Part::Item("0".to_owned())),
        ("a=b", "a=b", Part::Whole),
        ("other]", "other]", Part::Whole),
    ];
    for (text, name, part) in cases {
        assert_eq!(Target::parse(text, &known), Ok(Target { name: name.to_owned(), part }), "{text}");
    }
    assert_eq!(Target::parse("", &known), Err(SyntaxError::Name { text: String::new() }));
}

#[test]
fn values_in_every_form_are_strings() {
    let text = |text: &str| Ok(ParameterValue::String(text.to_owned()));
    let list =
        |items: &[&str]| Ok(ParameterValue::Array(items.iter().map(|item| (*item).to_owned()).collect()));
    let map = |entries: &[(&str, &str)]| {
        let entries = entries.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
        Ok(ParameterValue::Map(entries.collect()))
    };
    let cases = [
        (Form::Text, " yes\n", text(" yes\n")),
        (Form::Json, "5", text("5")),
        (Form::Json, "9007199254740993", text("9007199254740993")),
        (Form::Json, "1.10", text("1.10")),
        (Form::Json, "1e3", text("1e3")),
        (Form::Json, "-0", text("-0")),
        (Form::Json, "true", text("true")),
        (Form::Json, r#""a\u00fc\n\/""#, text("aü\n/")),
        (Form::Json, r#"["a",1,false]"#, list(&["a", "1", "false"])),
        (Form::Json, "[]", list(&[])),
        (Form::Json, r#"{"b":"1","a":1.50}"#, map(&[("a", "1.50"), ("b", "1")])),
        (Form::Json, r#"{"y":"1","no":"2"}"#, map(&[("no", "2"), ("y", "1")])),
    ];
    for (form, written, expected) in cases {
        assert_eq!(read_operand(form, written.as_bytes()), expected, "{written}");
    }
}

#[test]
fn json_that_is_no_parameter_value_is_rejected() {
    let cases = [
        ("null", "the value is null; remove a value with `params unset`"),
        ("[null]", "item 1 of the value is null; remove a value with `params unset`"),
        ("[[1]]", "item 1 of the value is a list; list and map items of a parameter must be strings"),
        (
            r#"{"a":{}}"#,
            "the key `a` of the value is an object; list and map items of a parameter must be strings",
        ),
        (r#"{"a":1,"a":2}"#, "the key `a` of the value is given twice"),
        (
            "a: b",
            "the value is not valid JSON (expected value at line 1 column 1); write a string as NAME=VALUE",
        ),
        (
            "",
            "the value is not valid JSON (EOF while parsing a value at line 1 column 0); write a string as NAME=VALUE",
        ),
        (
            "[1,]",
            "the value is not valid JSON (expected value at line 1 column 4); write a string as NAME=VALUE",
        ),
    ];
    for (written, expected) in cases {
        let error = read_operand(Form::Json, written.as_bytes()).expect_err(written);
        assert_eq!(error.to_string(), expected, "{written}");
    }
    assert_eq!(read_operand(Form::Text, b"\xff"), Err(OperandError::NotText));
}

#[test]
fn values_file_is_a_map_or_a_list_of_entries() {
    let text = |text: &str| ParameterValue::String(text.to_owned());
    let expected = vec![
        ("replicas".to_owned(), text("0123")),
        ("on".to_owned(), text("yes")),
        ("size".to_owned(), text("1e3")),
        ("hosts".to_owned(), ParameterValue::Array(vec!["a".to_owned(), "2".to_owned()])),
        ("limits".to_owned(), ParameterValue::Map([("y".to_owned(), "1.10".to_owned())].into())),
    ];
    let by_name = "# values\nreplicas: 0123\non: yes\nsize: 1e3\nhosts: [a, 2]\nlimits:\n  y: 1.10\n";
    assert_eq!(read_values(by_name.as_bytes()).expect(by_name), expected);
    let entries = "- name: replicas\n  string: 0123\n- {name: on, string: yes}\n- name: size\n  string: '1e3'\n- name: hosts\n  array: [a, 2]\n- name: limits\n  map: {y: 1.10}\n";
    assert_eq!(read_values(entries.as_bytes()).expect(entries), expected);
    assert_eq!(read_values(b"# nothing\n"), Ok(Vec::new()));
    assert_eq!(read_values(b"size: .nan\n"), Ok(vec![("size".to_owned(), text(".nan"))]));

    let refused = [
        ("a: 1\na: 2\n", "`a` is given twice"),
        ("a: ~\n", "`a` is null; remove a value with `params unset`"),
        ("a: {b: [1]}\n", "the key `b` of `a` is a list; list and map items of a parameter must be strings"),
        ("- string: x\n", "entry 1: has no `name`"),
        (
            "- {name: a, string: x}\n- {name: b}\n",
            "entry 2: needs exactly one of `string`, `array` and `map`",
        ),
        ("- {name: a, string: [x]}\n", "entry 1: `string` holds something else"),
        (
            "text\n",
            "expected parameters by name, or a list of entries with `name` and `string`, `array` or `map`; found a string",
        ),
    ];
    for (written, expected) in refused {
        assert_eq!(read_values(written.as_bytes()).expect_err(written).to_string(), expected, "{written}");
    }
}

/// Announcements for the tests of [`apply`].
fn announced() -> Vec<Announcement> {
    let list = |items: &[&str]| items.iter().map(|item| (*item).to_owned()).collect::<Vec<_>>();
    vec![
        Announcement { item_type: Some(ItemType::Number), ..Announcement::named("replicas") },
        Announcement { required: Some(true), ..Announcement::named("owner") },
        Announcement { choices: list(&["small", "large"]), ..Announcement::named("size") },
        Announcement { string: Some("light".to_owned()), ..Announcement::named("theme") },
        Announcement {
            collection_type: CollectionType::Array,
            array: Some(list(&["example.org"])),
            ..Announcement::named("hosts")
        },
        Announcement {
            collection_type: CollectionType::Map,
            item_type: Some(ItemType::Number),
            map: Some([("cpu".to_owned(), "1".to_owned())].into()),
            ..Announcement::named("limits")
        },
    ]
}

/// Initial parameters for the tests of [`apply`].
fn set() -> Vec<Parameter> {
    let text = |name: &str, value: &str| Parameter {
        name: name.to_owned(),
        string: Some(value.to_owned()),
        ..Parameter::default()
    };
    vec![text("replicas", "3"), text("owner", "ada"), text("old", "x")]
}

/// Applies `NAME…` (sets) and `-NAME…` (unsets), and returns the changes, the list and the warnings.
fn applied(
    parameters: &[Parameter],
    announcements: &[Announcement],
    names_are_free: bool,
    texts: &[&str],
) -> String {
    let known: HashSet<&str> = announcements
        .iter()
        .map(|announcement| announcement.name.as_str())
        .chain(parameters.iter().map(|parameter| parameter.name.as_str()))
        .collect();
    let assignments: Vec<Assignment<ParameterValue>> = texts
        .iter()
        .map(|text| {
            if let Some(text) = text.strip_prefix('-') {
                Assignment { target: Target::parse(text, &known).expect("a target"), value: None }
            } else {
                let Assignment { target, value } = Assignment::parse(text, &known).expect("an assignment");
                let Some(Operand { form, origin: OperandOrigin::Inline(text) }) = value else {
                    panic!("{text}: these tests have no files")
                };
                Assignment { target, value: Some(read_operand(form, text.as_bytes()).expect("a value")) }
            }
        })
        .collect();
    let (free_prefixes, read_names) = (&["free."], &["free.replicaz".to_owned()]);
    let edited = Edited { parameters, announcements, names_are_free, free_prefixes, read_names };
    match apply(edited, &assignments) {
        Ok(applied) => {
            let changes = applied.changes.iter().map(ToString::to_string);
            let list = crate::params::app_parameters(Some(&applied.parameters));
            let warnings = applied.warnings.iter().map(|warning| format!("warning: {warning}"));
            changes.chain([list]).chain(warnings).collect::<Vec<_>>().join("\n")
        }
        Err(error) => match error.remedy() {
            Some(remedy) => format!("error: {error}\nhint: {remedy}"),
            None => format!("error: {error}"),
        },
    }
}

#[test]
fn assignments_change_the_list_and_report_the_changes() {
    let rest = r#"{"name":"owner","string":"ada"},{"name":"old","string":"x"}"#;
    let before = format!(r#"{{"name":"replicas","string":"3"}},{rest}"#);
    let cases: [(&[&str], String); 15] = [
        (&["replicas=5"], format!("replicas: 3 → 5\n[{{\"name\":\"replicas\",\"string\":\"5\"}},{rest}]")),
        (
            &["replicas:=9007199254740993"],
            format!(
                "replicas: 3 → 9007199254740993\n[{{\"name\":\"replicas\",\"string\":\"9007199254740993\"}},{rest}]"
            ),
        ),
        (&["replicas=3"], format!("replicas: 3 → 3\n[{before}]")),
        (&["theme="], format!("theme: light (default) → \"\"\n[{before},{{\"name\":\"theme\",\"string\":\"\"}}]")),
        (&["theme=not set"], format!("theme: light (default) → \"not set\"\n[{before},{{\"name\":\"theme\",\"string\":\"not set\"}}]")),
        (&["-replicas"], format!("replicas: 3 → not set\n[{rest}]")),
        (&["-theme"], format!("theme: light (default) → light (default)\n[{before}]")),
        (
            &["hosts+=b.example", "hosts+:=[\"c\",\"d\"]"],
            format!(
                "hosts[1]: not set → b.example\nhosts[2]: not set → c\nhosts[3]: not set → d\n[{before},{{\"array\":[\"example.org\",\"b.example\",\"c\",\"d\"],\"name\":\"hosts\"}}]\nwarning: parameter `hosts`: the announced default is written with the change, since a list is set as a whole"
            ),
        ),
        (
            &["hosts[0]=b"],
            format!("hosts[0]: example.org (default) → b\n[{before},{{\"array\":[\"b\"],\"name\":\"hosts\"}}]\nwarning: parameter `hosts`: the announced default is written with the change, since a list is set as a whole"),
        ),
        (
            &["hosts:=[]", "hosts+=x", "-hosts[0]"],
            format!(
                "hosts: [\"example.org\"] (default) → []\nhosts[0]: not set → x\nhosts[0]: x → not set\n[{before},{{\"array\":[],\"name\":\"hosts\"}}]"
            ),
        ),
        (
            &["limits[memory]=2"],
            format!("limits[memory]: not set → 2\n[{before},{{\"map\":{{\"memory\":\"2\"}},\"name\":\"limits\"}}]"),
        ),
        (
            &["-limits[cpu]"],
            format!("limits[cpu]: 1 (default) → 1 (default)\n[{before}]"),
        ),
        (
            &["limits:={\"a b\":\"1\"}"],
            format!(
                "limits: {{\"cpu\":\"1\"}} (default) → {{\"a b\":\"1\"}}\n[{before},{{\"map\":{{\"a b\":\"1\"}},\"name\":\"limits\"}}]"
            ),
        ),
        (
            &["old=y"],
            format!(
                "old: x → y\n[{}]\nwarning: the plugin does not announce parameter `old`",
                before.replace("\"x\"", "\"y\"")
            ),
        ),
        (&["-old"], "old: x → not set\n[{\"name\":\"replicas\",\"string\":\"3\"},{\"name\":\"owner\",\"string\":\"ada\"}]".to_owned()),
    ];
    for (texts, expected) in cases {
        assert_eq!(applied(&set(), &announced(), false, texts), expected, "{texts:?}");
    }
}

#[test]
fn mismatching_assignment_is_rejected_with_a_hint() {
    let cases: [(&[&str], &str); 21] = [
        (
            &["replica=5"],
            "error: the plugin announces no parameter \"replica\"\nhint: did you mean replicas?",
        ),
        (&["zzz=5"], "error: the plugin announces no parameter \"zzz\""),
        (&["-zzz"], "error: parameter \"zzz\" is neither set nor announced"),
        (&["-ower"], "error: parameter \"ower\" is neither set nor announced\nhint: did you mean owner?"),
        (&["limits[]=1"], "error: parameter \"limits\" has no key \"\""),
        (
            &["replicas=3x"],
            "error: parameter `replicas`: the value has to be a decimal number, such as `3` or `-1.5e3`",
        ),
        (
            &["limits[cpu]=x"],
            "error: parameter `limits`: the value of the key `cpu` has to be a decimal number, such as `3` or `-1.5e3`",
        ),
        (&["size=medium"], "error: parameter `size`: the value has to be one of `small`, `large`"),
        (&["-owner"], "error: parameter `owner`: a value is required, and there is no default"),
        (
            &["hosts=a"],
            "error: parameter \"hosts\" is a list, not a string\nhint: write hosts+=VALUE, hosts[0]=VALUE or hosts:='[\"TEXT\"]'",
        ),
        (
            &["limits=a"],
            "error: parameter \"limits\" is a map, not a string\nhint: write limits[KEY]=VALUE or limits:='{\"KEY\":\"TEXT\"}'",
        ),
        (
            &["replicas:=[1]"],
            "error: parameter \"replicas\" is a string, not a list\nhint: write replicas=VALUE",
        ),
        (
            &["replicas+=1"],
            "error: parameter \"replicas\" is a string, not a list\nhint: write replicas=VALUE",
        ),
        (&["replicas[0]=1"], "error: parameter \"replicas\" is a string and has no items"),
        (
            &["hosts[1]=x"],
            "error: parameter \"hosts\" has no item [1]: its only item is [0]; hosts+=VALUE appends one",
        ),
        (
            &["hosts[x]=x"],
            "error: parameter \"hosts\" has no item [x]: its only item is [0]; hosts+=VALUE appends one",
        ),
        (
            &["hosts+:={}"],
            "error: parameter \"hosts\" is a list, not a map\nhint: write hosts+=VALUE, hosts[0]=VALUE or hosts:='[\"TEXT\"]'",
        ),
        (
            &["hosts[0]:=[1]"],
            "error: parameter \"hosts[0]\" is a string, not a list\nhint: write hosts[0]=VALUE",
        ),
        (&["-limits[cpus]"], "error: parameter \"limits\" has no key \"cpus\"\nhint: did you mean cpu?"),
        (&["replicas=1", "replicas=2"], "error: replicas is given twice"),
        (&["limits[cpu]=1", "limits:={}"], "error: limits is given twice"),
    ];
    for (texts, expected) in cases {
        assert_eq!(applied(&set(), &announced(), false, texts), expected, "{texts:?}");
    }
}

#[test]
fn unannounced_names_get_the_type_of_the_first_assignment() {
    let cases: [(&[&str], &str); 6] = [
        (&["a=1"], "a: not set → 1\n[{\"name\":\"a\",\"string\":\"1\"}]"),
        (&["a+=1"], "a[0]: not set → 1\n[{\"array\":[\"1\"],\"name\":\"a\"}]"),
        (&["a[k]=1"], "a[k]: not set → 1\n[{\"map\":{\"k\":\"1\"},\"name\":\"a\"}]"),
        (&["a:={}"], "a: not set → {}\n[{\"map\":{},\"name\":\"a\"}]"),
        (&["a[0]=1"], "error: parameter \"a\" has no item [0]: it is empty; a+=VALUE appends one"),
        (
            &["a[k]=1", "a+=1"],
            "error: parameter \"a\" is a map, not a list\nhint: write a[KEY]=VALUE or a:='{\"KEY\":\"TEXT\"}'",
        ),
    ];
    for (texts, expected) in cases {
        assert_eq!(applied(&[], &[], true, texts), expected, "{texts:?}");
    }
}

#[test]
fn unset_indexes_refer_to_the_original_list() {
    let letters = Parameter {
        name: "l".to_owned(),
        array: Some(["a", "b", "c", "d"].map(str::to_owned).to_vec()),
        ..Parameter::default()
    };
    let cases: [(&[&str], &str); 4] = [
        (
            &["-l[0]", "-l[1]"],
            "l[0]: a → not set\nl[1]: b → not set\n[{\"array\":[\"c\",\"d\"],\"name\":\"l\"}]",
        ),
        (
            &["-l[1]", "-l[0]"],
            "l[1]: b → not set\nl[0]: a → not set\n[{\"array\":[\"c\",\"d\"],\"name\":\"l\"}]",
        ),
        (
            &["-l[3]", "-l[0]", "-l[2]"],
            "l[3]: d → not set\nl[0]: a → not set\nl[2]: c → not set\n[{\"array\":[\"b\"],\"name\":\"l\"}]",
        ),
        (
            &["-l[0]", "-l[4]"],
            "error: parameter \"l\" has no item [4]: its items are [0] to [3]; l+=VALUE appends one",
        ),
    ];
    for (texts, expected) in cases {
        assert_eq!(applied(std::slice::from_ref(&letters), &[], true, texts), expected, "{texts:?}");
    }
}

#[test]
fn last_duplicate_is_changed_and_all_are_unset() {
    let twice = ["1", "2"].map(|value| Parameter {
        name: "a".to_owned(),
        string: Some(value.to_owned()),
        ..Parameter::default()
    });
    assert_eq!(
        applied(&twice, &[], true, &["a=3"]),
        "a: 2 → 3\n[{\"name\":\"a\",\"string\":\"1\"},{\"name\":\"a\",\"string\":\"3\"}]\nwarning: parameter `a` is set 2 times; the last entry was changed, which is the one that its variables have"
    );
    assert_eq!(applied(&twice, &[], true, &["-a"]), "a: 2 → not set\n[]");
}

#[test]
fn value_in_wrong_field_is_replaced() {
    let wrong = [Parameter {
        name: "hosts".to_owned(),
        string: Some("a".to_owned()),
        map: Some(BTreeMap::new()),
        ..Parameter::default()
    }];
    assert_eq!(
        applied(&wrong, &announced(), false, &["hosts+=b"]),
        "hosts[0]: not set → b\n[{\"array\":[\"b\"],\"name\":\"hosts\"}]"
    );
}

#[test]
fn free_prefix_permits_unannounced_names_except_typos() {
    let announcements = [Announcement::named("free.replicas"), Announcement::named("other")];
    let cases = [
        ("free.hosts=a", "free.hosts: not set → a\n[{\"name\":\"free.hosts\",\"string\":\"a\"}]"),
        (
            "free.replica=3",
            "error: the plugin announces no parameter \"free.replica\"\nhint: did you mean free.replicas?",
        ),
        (
            "free.replicaz=3",
            "free.replicaz: not set → 3\n[{\"name\":\"free.replicaz\",\"string\":\"3\"}]\n\
             warning: the plugin does not announce parameter `free.replicaz`; did you mean `free.replicas`?",
        ),
        ("free.replicas.x=3", "free.replicas.x: not set → 3"),
        (
            "-free.replica",
            "error: parameter \"free.replica\" is neither set nor announced\nhint: did you mean free.replicas?",
        ),
        ("unknown=3", "error: the plugin announces no parameter \"unknown\""),
    ];
    for (text, expected) in cases {
        let found = applied(&[], &announcements, false, &[text]);
        assert!(found.starts_with(expected), "{text}: {found}");
    }
}
