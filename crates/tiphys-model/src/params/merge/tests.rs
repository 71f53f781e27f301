use super::merge_announcements;
use crate::params::{Announcement, CollectionType, ItemType};

fn named(name: &str) -> Announcement {
    Announcement::named(name)
}

#[test]
fn static_entries_precede_dynamic_ones() {
    let merged = merge_announcements(
        vec![named("values-files"), named("b")],
        vec![named("helm-parameters"), named("a")],
    );
    let names: Vec<&str> = merged.iter().map(|announcement| announcement.name.as_str()).collect();
    assert_eq!(names, ["values-files", "b", "helm-parameters", "a"]);
}

#[test]
fn set_dynamic_fields_win_and_first_position_is_kept() {
    let fixed = Announcement {
        title: Some("static title".to_owned()),
        tooltip: Some("static tooltip".to_owned()),
        required: Some(true),
        item_type: Some(ItemType::Number),
        string: Some("1".to_owned()),
        choices: vec!["1".to_owned()],
        ..named("a")
    };
    let dynamic = Announcement {
        title: Some("dynamic title".to_owned()),
        required: Some(false),
        collection_type: CollectionType::Map,
        map: Some([("k".to_owned(), "v".to_owned())].into()),
        ..named("a")
    };
    let expected = Announcement {
        title: Some("dynamic title".to_owned()),
        tooltip: Some("static tooltip".to_owned()),
        required: Some(false),
        item_type: Some(ItemType::Number),
        collection_type: CollectionType::Map,
        string: Some("1".to_owned()),
        array: None,
        map: Some([("k".to_owned(), "v".to_owned())].into()),
        choices: vec!["1".to_owned()],
        name: "a".to_owned(),
    };
    assert_eq!(
        merge_announcements(vec![fixed, named("b")], vec![named("c"), dynamic]),
        [expected, named("b"), named("c")]
    );
}

#[test]
fn later_default_replaces_and_maps_are_not_merged() {
    let fixed = Announcement {
        string: Some("x".to_owned()),
        map: Some([("a".to_owned(), "1".to_owned())].into()),
        array: Some(vec!["x".to_owned()]),
        ..named("a")
    };
    let dynamic = Announcement {
        string: Some(String::new()),
        map: Some([("b".to_owned(), "2".to_owned())].into()),
        array: Some(Vec::new()),
        ..named("a")
    };
    assert_eq!(merge_announcements(vec![fixed], vec![dynamic.clone()]), [dynamic]);
}

#[test]
fn duplicate_names_in_one_list_are_merged() {
    let first = Announcement { string: Some("1".to_owned()), title: Some("t".to_owned()), ..named("a") };
    let second = Announcement { string: Some("2".to_owned()), ..named("a") };
    let expected = Announcement { string: Some("2".to_owned()), title: Some("t".to_owned()), ..named("a") };
    assert_eq!(
        merge_announcements(vec![first.clone(), named("b"), second.clone()], Vec::new()),
        [expected.clone(), named("b")]
    );
    assert_eq!(merge_announcements(vec![named("b")], vec![first, second]), [named("b"), expected]);
}
