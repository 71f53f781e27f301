//! Properties of arbitrary parameters and announcements.

use std::collections::BTreeMap;

use proptest::collection::{btree_map, vec};
use proptest::option;
use proptest::prelude::*;
use tiphys_model::params::{
    Announcement, CollectionType, ItemType, Parameter, Parameters, announced_collisions, app_parameters,
    collisions, deduplicated, escape, merge_announcements, parameter_variables, suggest,
};

/// Any string, often one that is special in JSON or is escaped like another one.
fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<String>(),
        "[a-cA-C._-]{0,4}",
        proptest::sample::select(vec![
            "",
            "a-b",
            "a.b",
            "<&>\u{2028}",
            "ıſß\u{212a}",
            "\u{0}\u{8}\u{c}\u{7f}"
        ])
        .prop_map(str::to_owned),
    ]
}

fn parameter() -> impl Strategy<Value = Parameter> {
    (text(), option::of(text()), option::of(vec(text(), 0..4)), option::of(btree_map(text(), text(), 0..4)))
        .prop_map(|(name, string, array, map)| Parameter { name, string, array, map })
}

fn announcement() -> impl Strategy<Value = Announcement> {
    let item_types = vec![
        None,
        Some(ItemType::Number),
        Some(ItemType::Boolean),
        Some(ItemType::String("blob".to_owned())),
        ItemType::from_word("integer|string|null"),
    ];
    let collection_types =
        vec![CollectionType::Absent, CollectionType::String, CollectionType::Array, CollectionType::Map];
    (
        "[a-d]",
        option::of(text()),
        option::of(any::<bool>()),
        proptest::sample::select(item_types),
        proptest::sample::select(collection_types),
        option::of(text()),
        option::of(vec(text(), 0..3)),
        option::of(btree_map(text(), text(), 0..3)),
        vec(text(), 0..3),
    )
        .prop_map(|(name, title, required, item_type, collection_type, string, array, map, choices)| {
            Announcement {
                title: title.clone(),
                tooltip: title,
                required,
                item_type,
                collection_type,
                string,
                array,
                map,
                choices,
                ..Announcement::named(name)
            }
        })
}

proptest! {
    #[test]
    fn encoded_parameters_decode_to_equal_ones(list in option::of(vec(parameter(), 0..5))) {
        let encoded = app_parameters(list.as_deref());
        let node = tiphys_yaml::read_json(encoded.as_bytes()).expect("it is JSON");
        let decoded = Parameters::decode(&node, "parameters").expect("it decodes").list;
        prop_assert_eq!(&decoded, &list);
        let by_serde: Option<Vec<Parameter>> = serde_json::from_str(&encoded).expect("serde reads it");
        prop_assert_eq!(&by_serde, &list);
        // The two encoders differ in escapes only.
        let written = serde_json::to_string(&list).expect("it can be written");
        prop_assert_eq!(
            serde_json::from_str::<serde_json::Value>(&written).expect("JSON"),
            serde_json::from_str::<serde_json::Value>(&encoded).expect("JSON")
        );
    }

    #[test]
    fn variables_have_safe_names(list in vec(parameter(), 0..5)) {
        for variable in parameter_variables(&list) {
            prop_assert!(variable.name.starts_with("PARAM_"));
            prop_assert!(variable.name.bytes().all(|b| matches!(b, b'A'..=b'Z' | b'0'..=b'9' | b'_')), "{}", variable.name);
        }
    }

    #[test]
    fn escaping_keeps_the_number_of_characters_and_is_idempotent(name in text()) {
        let escaped = escape(&name);
        prop_assert_eq!(escaped.chars().count(), name.chars().count());
        prop_assert_eq!(escape(&escaped), escaped.clone());
    }

    #[test]
    fn deduplicated_variables_are_what_a_process_gets(list in vec(parameter(), 0..5), build in vec("PARAM_[A-C_]{0,2}", 0..3)) {
        let mut seen: BTreeMap<String, String> = BTreeMap::new();
        for variable in parameter_variables(&list) {
            seen.insert(variable.name, variable.value);
        }
        seen.retain(|name, _| !build.contains(name));
        let winners = deduplicated(&list, &build);
        prop_assert_eq!(winners.len(), seen.len());
        let winners: BTreeMap<String, String> = winners.into_iter().map(|v| (v.name, v.value)).collect();
        prop_assert_eq!(winners, seen);
    }

    #[test]
    fn every_hidden_value_is_in_exactly_one_collision(list in vec(parameter(), 0..5), build in vec("PARAM_[A-C_]{0,2}", 0..3)) {
        let hidden: usize = collisions(&list, &build).iter().map(|collision| collision.hidden.len()).sum();
        prop_assert_eq!(hidden, parameter_variables(&list).len() - deduplicated(&list, &build).len());
    }

    #[test]
    fn announced_collisions_are_those_of_every_pair(list in vec((announcement(), "[ab]([._-][012a]){0,2}"), 0..8)) {
        let list: Vec<Announcement> =
            list.into_iter().map(|(announcement, name)| Announcement { name, ..announcement }).collect();
        let mut expected = Vec::new();
        for second in 0..list.len() {
            for first in 0..second {
                let pair = [list[first].clone(), list[second].clone()];
                expected.extend(announced_collisions(&pair).into_iter().map(|both| (both.variable, first, second)));
            }
        }
        let found: Vec<_> =
            announced_collisions(&list).into_iter().map(|both| (both.variable, both.first, both.second)).collect();
        prop_assert_eq!(found, expected);
    }

    #[test]
    fn merging_is_idempotent(fixed in vec(announcement(), 0..6), dynamic in vec(announcement(), 0..6)) {
        let merged = merge_announcements(fixed, dynamic.clone());
        prop_assert_eq!(&merge_announcements(merged.clone(), Vec::new()), &merged);
        prop_assert_eq!(&merge_announcements(merged.clone(), merged.clone()), &merged);
        prop_assert_eq!(&merge_announcements(merged.clone(), merge_announcements(Vec::new(), dynamic)), &merged);
    }

    #[test]
    fn merging_keeps_the_order_of_first_places(fixed in vec(announcement(), 0..6), dynamic in vec(announcement(), 0..6)) {
        let mut expected: Vec<String> = Vec::new();
        for announcement in fixed.iter().chain(&dynamic) {
            if !expected.contains(&announcement.name) {
                expected.push(announcement.name.clone());
            }
        }
        let merged: Vec<String> = merge_announcements(fixed, dynamic).into_iter().map(|a| a.name).collect();
        prop_assert_eq!(merged, expected);
    }

    #[test]
    fn suggestions_are_known_names(name in text(), known in vec(text(), 0..6)) {
        for suggestion in suggest(&name, known.iter().map(String::as_str)) {
            prop_assert!(known.iter().any(|one| one == suggestion));
        }
    }
}
