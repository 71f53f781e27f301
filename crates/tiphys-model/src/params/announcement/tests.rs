use super::{
    Announcement, AnnouncementEntry, Announcements, CollectionType, Default, ItemType, JsonType,
    RawAnnouncement, Types, decode_announcement_entries, decode_announcements, decode_dynamic_output,
};

fn decode(text: &str) -> Announcements {
    decode_dynamic_output(text.as_bytes()).unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn error(text: &str) -> String {
    decode_dynamic_output(text.as_bytes()).expect_err(text).to_string()
}

#[test]
fn example_of_proposal_is_decoded() {
    let text = r#"[{"name": "helm-parameters", "collectionType": "map", "title": "Helm Parameters", "tooltip": "Parameters to override",
        "map": {"image.tag": "0.1"}}, {"name": "replicas", "required": true, "itemType": "number", "choices": ["1", "3"]}]"#;
    let expected = [
        Announcement {
            title: Some("Helm Parameters".to_owned()),
            tooltip: Some("Parameters to override".to_owned()),
            collection_type: CollectionType::Map,
            map: Some([("image.tag".to_owned(), "0.1".to_owned())].into()),
            ..Announcement::named("helm-parameters")
        },
        Announcement {
            required: Some(true),
            item_type: Some(ItemType::Number),
            choices: vec!["1".to_owned(), "3".to_owned()],
            ..Announcement::named("replicas")
        },
    ];
    let read = decode(text);
    assert_eq!(read.list, expected);
    assert_eq!(read.warnings, []);
}

#[test]
fn announcement_without_name_is_rejected() {
    for text in [
        r#"[{"name":"a"}, {"title":"t"}]"#,
        r#"[{"name":"a"}, {"name":""}]"#,
        r#"[{"name":"a"}, {"name":null}]"#,
    ] {
        assert_eq!(
            error(text),
            "announcement 2 (line 1, column 16): has no name; every announcement needs a non-empty `name`",
            "{text}"
        );
    }
}

#[test]
fn unknown_collection_type_is_rejected() {
    assert_eq!(
        error(r#"[{"name":"a","collectionType":"set"}]"#),
        "announcement 1 `a` (line 1, column 2): unknown collectionType `set`; use `string`, `array` or `map`, or leave it out for a string"
    );
    for (word, expected) in [
        ("", CollectionType::Absent),
        ("string", CollectionType::String),
        ("array", CollectionType::Array),
        ("map", CollectionType::Map),
    ] {
        assert_eq!(
            decode(&format!(r#"[{{"name":"a","collectionType":"{word}"}}]"#)).list[0].collection_type,
            expected
        );
    }
}

#[test]
fn wrong_type_is_rejected_with_name_and_position() {
    let cases = [
        (
            r#"[{"map":{"replicas":3},"name":"a"}]"#,
            "announcement 1 `a` (line 1, column 21): map.replicas: expected a string, found a number; put it in quotes",
        ),
        (
            r#"[{"name":"a","string":5}]"#,
            "announcement 1 `a` (line 1, column 23): string: expected a string, found a number; put it in quotes",
        ),
        (
            r#"[{"name":"a","array":["x",true]}]"#,
            "announcement 1 `a` (line 1, column 27): array[1]: expected a string, found a boolean; put it in quotes",
        ),
        (
            r#"[{"name":"a","map":["x"]}]"#,
            "announcement 1 `a` (line 1, column 20): map: expected an object of strings, found a list",
        ),
        (
            r#"[{"name":"a","array":"x"}]"#,
            "announcement 1 `a` (line 1, column 22): array: expected a list of strings, found a string",
        ),
        (
            r#"[{"name":"a","required":"true"}]"#,
            "announcement 1 `a` (line 1, column 25): required: expected a boolean, found a string",
        ),
        (
            r#"[{"name":5}]"#,
            "announcement 1 (line 1, column 10): name: expected a string, found a number; put it in quotes",
        ),
    ];
    for (text, expected) in cases {
        assert_eq!(error(text), expected, "{text}");
    }
}

#[test]
fn null_and_non_object_entries_are_rejected() {
    assert_eq!(
        error("[null]"),
        "announcement 1 (line 1, column 2): is null; an announcement is an object with a `name`"
    );
    assert_eq!(
        error(r#"[{"name":"a"},"b"]"#),
        "announcement 2 (line 1, column 15): is a string; an announcement is an object with a `name`"
    );
}

#[test]
fn dynamic_output_must_be_a_json_list_or_null() {
    assert_eq!(decode("null"), Announcements::default());
    assert_eq!(decode(" []\n"), Announcements::default());
    let empty =
        "the command printed nothing; it has to print a JSON list of announcements (`[]` or `null` for none)";
    assert_eq!(error(""), empty);
    assert_eq!(error(" \n"), empty);
    assert_eq!(
        error(r#"{"name":"a"}"#),
        "the command has to print a JSON list of announcements, found an object (line 1, column 1)"
    );
    assert_eq!(error("- name: a"), "the command's output is not JSON");
    assert_eq!(error(r#"[{"name":"a"}] x"#), "the command's output is not JSON");
}

#[test]
fn ignored_fields_are_reported_as_warnings() {
    let cases = [
        (r#"[{"name":"a","default":"x"}]"#, "announcement `a`: the key `default` is unknown and ignored"),
        (
            r#"[{"name":"a","title":"x","Title":"y"}]"#,
            "announcement `a`: the key `Title` is given twice; the last one counts",
        ),
        (
            r#"[{"name":"a","choices":"x"}]"#,
            "announcement `a`: `choices` is ignored: expected a list of strings, found a string",
        ),
        (
            r#"[{"name":"a","choices":["x",1]}]"#,
            "announcement `a`: `choices` is ignored: expected a string, found a number; put it in quotes",
        ),
    ];
    for (text, expected) in cases {
        let read = decode(text);
        let messages: Vec<&str> = read.warnings.iter().map(|warning| warning.message.as_str()).collect();
        assert_eq!(messages, [expected], "{text}");
        assert_eq!((read.list[0].name.as_str(), read.list[0].choices.len()), ("a", 0), "{text}");
    }
}

#[test]
fn default_is_in_field_of_collection_type_or_string() {
    let fields = r#""string":"s","array":["x"],"map":{"k":"v"}"#;
    let default = |collection_type: &str| {
        let read = decode(&format!(r#"[{{"name":"a","collectionType":"{collection_type}",{fields}}}]"#))
            .list
            .remove(0);
        format!("{:?}", read.default_value().expect("a default"))
    };
    assert_eq!(default(""), format!("{:?}", Default::String("s")));
    assert_eq!(default("string"), format!("{:?}", Default::String("s")));
    assert_eq!(default("array"), format!("{:?}", Default::Array(&["x".to_owned()])));
    assert_eq!(default("map"), format!("{:?}", Default::Map(&[("k".to_owned(), "v".to_owned())].into())));
    assert_eq!(decode(r#"[{"name":"a","map":{"k":"v"}}]"#).list[0].default_value(), None);
}

#[test]
fn empty_default_differs_from_missing_default() {
    assert_eq!(decode(r#"[{"name":"a","string":""}]"#).list[0].default_value(), Some(Default::String("")));
    assert_eq!(decode(r#"[{"name":"a","string":null}]"#).list[0].default_value(), None);
    let array = decode(r#"[{"name":"a","collectionType":"array","array":[]}]"#).list.remove(0);
    assert_eq!(array.default_value(), Some(Default::Array(&[])));
}

#[test]
fn unknown_item_type_is_a_string_and_keeps_its_word() {
    let read = decode(
        r#"[{"name":"a","itemType":"blob"}, {"name":"b","itemType":""}, {"name":"c","itemType":"boolean"},
            {"name":"d","itemType":"string|integer"}, {"name":"e","itemType":"integer"}, {"name":"f","itemType":"int|string"}]"#,
    );
    let types: Vec<Option<ItemType>> =
        read.list.into_iter().map(|announcement| announcement.item_type).collect();
    let text = |word: &str| Some(ItemType::String(word.to_owned()));
    let several = Types::of([JsonType::Integer, JsonType::String]).map(ItemType::OneOf);
    let expected =
        [text("blob"), None, Some(ItemType::Boolean), several, text("integer"), text("int|string")];
    assert_eq!(types, expected);
}

#[test]
fn json_has_argo_cd_field_order_and_omits_empty_fields() {
    let cases = [
        (
            r#"[{"choices":["s"],"map":{"k":"v"},"array":["x"],"string":"s","collectionType":"map","itemType":"number","required":true,"tooltip":"tip","title":"T","name":"a"}]"#,
            r#"[{"name":"a","title":"T","tooltip":"tip","required":true,"itemType":"number","collectionType":"map","string":"s","array":["x"],"map":{"k":"v"},"choices":["s"]}]"#,
        ),
        (
            r#"[{"name":"a","title":"","tooltip":"","required":false,"itemType":"","collectionType":"","string":"","array":[],"map":{},"choices":[]}]"#,
            r#"[{"name":"a"}]"#,
        ),
    ];
    for (text, expected) in cases {
        assert_eq!(serde_json::to_string(&decode(text).list).expect("it can be written"), expected, "{text}");
    }
}

#[test]
fn yaml_and_json_announcements_decode_alike() {
    let yaml = "- name: a\n  collectionType: array\n  array: [x, 'yes']\n";
    let node = tiphys_yaml::read_document(yaml.as_bytes()).expect("YAML").expect("a document");
    let by_yaml = decode_announcements(&node, "static").expect("it decodes");
    assert_eq!(by_yaml, decode(r#"[{"name":"a","collectionType":"array","array":["x","yes"]}]"#));
    let node = tiphys_yaml::read_document(b"name: a").expect("YAML").expect("a document");
    assert_eq!(
        decode_announcements(&node, "static").expect_err("not a list").to_string(),
        "list of announcements (line 1, column 1): static: expected a list, found an object"
    );
}

#[test]
fn later_list_is_decoded_over_earlier_list() {
    let nodes =
        [r#"{"name":"a","title":"t"}"#, "null", r#"{"name":"b","array":["x"]}"#, r#"{"map":{"k":"v"}}"#]
            .map(|text| tiphys_yaml::read_json(text.as_bytes()).expect("JSON"));
    let overlaid = |nodes: &[&tiphys_yaml::Node]| {
        AnnouncementEntry::overlaid(nodes, 0, "static").expect("types are valid").announcement
    };
    let expected = RawAnnouncement {
        name: Some("b".to_owned()),
        array: Some(vec!["x".to_owned()]),
        map: Some([("k".to_owned(), "v".to_owned())].into()),
        ..RawAnnouncement::default()
    };
    assert_eq!(overlaid(&[&nodes[0], &nodes[1], &nodes[2], &nodes[3]]), Some(expected));
    assert_eq!(overlaid(&[&nodes[0], &nodes[1]]), None);
}

#[test]
fn entries_are_decoded_without_validation() {
    let node = tiphys_yaml::read_json(br#"[null, {"title":"t"}, {"name":"a","collectionType":"set"}]"#)
        .expect("JSON");
    let entries = decode_announcement_entries(&node, "").expect("types are valid");
    let words: Vec<Option<Option<String>>> = entries
        .iter()
        .map(|entry| entry.announcement.as_ref().map(|raw| raw.collection_type.clone()))
        .collect();
    assert_eq!(words, [None, Some(None), Some(Some("set".to_owned()))]);
    assert!(entries.iter().all(|entry| entry.check().is_err()));
}
