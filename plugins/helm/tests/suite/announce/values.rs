//! Announced values: selection, names, defaults.

use crate::announce::world::{CHART, World};

#[test]
fn every_scalar_is_announced_in_the_order_of_its_file() {
    let world = World::with_values(
        "zoo: 1\nimage:\n  tag: \"1.27\"\n  empty: \"\"\nlist: [x, 2]\nnested: [[1], [{ports: [80]}]]\non: 5\nflag: yes\nnothing:\nmap: {}\nitems: []\n",
    );
    let expected = [
        "zoo (number) 1",
        "image.tag 1.27",
        "image.empty",
        "list[0] x",
        "list[1] (number) 2",
        "nested[0][0] (number) 1",
        "nested[1][0].ports[0] (number) 80",
        "true (number) 5",
        "flag (boolean) true",
        "nothing (any)",
    ];
    assert_eq!(world.lines(), expected);
}

#[test]
fn numbers_are_plain() {
    let world = World::with_values(
        "a: 1000000\nb: 12345678901\nc: 0.00001\nd: 1.10\ne: 1e3\nf: 0777\ng: 0x1F\nh: 9007199254740993\ni: -0.5\nk: -0\nl: 1_000\n",
    );
    let defaults: Vec<_> =
        world.announced_values().into_iter().map(|one| one.string.unwrap_or_default()).collect();
    let expected = [
        "1000000",
        "12345678901",
        "0.00001",
        "1.1",
        "1000",
        "511",
        "31",
        "9007199254740992",
        "-0.5",
        "0",
        "1000",
    ];
    assert_eq!(defaults, expected);
}

#[test]
fn names_are_escaped_for_any_key() {
    let world = World::with_values(
        "labels: {app.kubernetes.io/name: web, \"a=b\": 1, \"x[0]\": 2, \"c,d\": 3, 'back\\slash': 4, \"\": unreachable, with blank: 5}\n",
    );
    let names: Vec<_> =
        world.announced_values().into_iter().map(|one| (one.name, one.title.unwrap_or_default())).collect();
    let expected = [
        (r"set.labels.app\.kubernetes\.io/name", "labels.app.kubernetes.io/name"),
        (r"set.labels.a\=b", "labels.a=b"),
        (r"set.labels.x\[0]", "labels.x[0]"),
        (r"set.labels.c\,d", "labels.c,d"),
        (r"set.labels.back\\slash", r"labels.back\slash"),
        ("set.labels.with blank", "labels.with blank"),
    ];
    let expected = expected.map(|(name, title)| (name.to_owned(), title.to_owned()));
    assert_eq!(names, expected);
}

#[test]
fn value_files_are_merged_as_helm_does() {
    let world = World::with_values("a: chart\nlist: [1, 2]\nmap: {k: 1, l: 2}\ngone: {k: 1}\n")
        .chart_file("one.yaml", "a: one\nb: one\nlist: [z]\nmap: {k: 3}\ngone: null\n")
        .file("shared/two.yaml", "a: two\nc: two\n---\nc: second document\n")
        .array("value-files", &["one.yaml", "/shared/*.yaml", "one.yaml", "missing.yaml"]);
    let expected =
        ["a two", "list[0] z", "map.k (number) 3", "map.l (number) 2", "b one", "c second document"];
    assert_eq!(world.lines(), expected);
}

#[test]
fn inline_values_override_those_of_files() {
    let world = World::with_values("replicas: 1\na: chart\n").chart_file("one.yaml", "a: one\n");
    let world = world.array("value-files", &["one.yaml"]).text("values", "replicas: 3\nmore: {x: true}\n");
    assert_eq!(world.lines(), ["replicas (number) 3", "a one", "more.x (boolean) true"]);
    let world = world.text("values-object", r#"{"replicas": 5}"#);
    assert_eq!(world.lines(), ["replicas (number) 5", "a one"]);
}

#[test]
fn set_values_are_not_defaults() {
    let world = World::with_values("replicas: 1\n").text("set.replicas", "3").text("set.more", "x");
    assert_eq!(world.lines(), ["replicas (number) 1"]);
}

#[test]
fn names_of_files_may_contain_the_application_name() {
    let world = World::with_values("a: chart\n").chart_file("my-app.yaml", "a: of my-app\n");
    assert_eq!(world.array("value-files", &["$ARGOCD_APP_NAME.yaml"]).lines(), ["a of my-app"]);
}

#[test]
fn value_files_with_a_url_are_not_fetched() {
    let world = World::with_values("a: chart\n").array("value-files", &["https://127.0.0.1:1/values.yaml"]);
    assert_eq!(world.lines(), ["a chart"]);
    let note = "\nValues of files with a URL are not listed, since they are not fetched.";
    let tooltip = |world: &World| {
        let all = world.announced();
        let found = all.iter().find(|one| one.name == "value-files").and_then(|one| one.tooltip.clone());
        found.unwrap_or_default()
    };
    assert!(tooltip(&world).ends_with(note), "{}", tooltip(&world));
    assert!(!tooltip(&World::with_values("a: chart\n").array("value-files", &["other.yaml"])).contains(note));
}

#[test]
fn chart_without_values_has_no_announcements() {
    let world = World::new(CHART).chart_file("Chart.yaml", "name: web\nversion: 0.1.0\n");
    let answer = world.announce();
    assert_eq!((answer.code, answer.stdout.as_str(), answer.stderr.as_str()), (Some(0), "[]\n", ""));
}

#[test]
fn null_parameters_equal_missing_ones() {
    let world = World::with_values("a: 1\n");
    let expected = world.announce().stdout;
    for text in ["null", "", "[]"] {
        let world = World::with_values("a: 1\n").variable("ARGOCD_APP_PARAMETERS_FILE", "");
        let answer = world.variable("ARGOCD_APP_PARAMETERS", text).announce();
        assert_eq!((answer.code, &answer.stdout), (Some(0), &expected), "{text:?}");
    }
}

#[test]
fn announcements_are_deterministic() {
    let world =
        World::with_values("b: {z: 1, a: {x: 1}}\na: [1]\n").chart_file("one.yaml", "c: {q: 1, p: 1}\n");
    let world = world.array("value-files", &["one.yaml"]);
    let first = world.announce().stdout;
    assert!(first.contains("set.c.q"), "{first}");
    assert!((0..5).all(|_| world.announce().stdout == first));
}

#[test]
fn announcements_have_the_types_of_the_protocol() {
    let json = World::with_values("a: 1\nb: [x]\nc:\n").announce().stdout;
    let list: Vec<serde_json::Value> = serde_json::from_str(&json).expect("JSON");
    let value = serde_json::json!({
        "name": "set.a", "title": "a", "itemType": "number", "collectionType": "string", "string": "1",
    });
    assert!(list.contains(&value), "{json}");
    let kind = |one: &serde_json::Value| one["collectionType"].as_str().map(str::to_owned);
    let kinds: Vec<_> =
        list.iter().map(|one| (one["name"].as_str() == Some("value-files"), kind(one))).collect();
    assert!(
        kinds
            .iter()
            .all(|(is_list, kind)| kind.as_deref() == Some(if *is_list { "array" } else { "string" }))
    );
}

#[test]
fn likely_value_files_are_suggested() {
    let world =
        World::with_values("a: 1\n").chart_file("env/values-prod.yaml", "").chart_file("other.yaml", "");
    let announced = world.announced();
    assert_eq!(announced[0].name, "value-files");
    let tooltip = announced[0].tooltip.clone().unwrap_or_default();
    assert!(tooltip.ends_with("\nThis chart has: env/values-prod.yaml, values.yaml"), "{tooltip}");
    // Any other path is permitted.
    assert!(announced[0].choices.is_empty());
}

#[test]
fn tooltip_of_value_files_starts_as_in_plugin_yaml() {
    let file = std::fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/plugin.yaml")).expect("the plugin's file");
    let file = tiphys_yaml::read_document(&file).expect("valid YAML").expect("a document");
    let text = file.at(["spec", "parameters", "static", "0", "tooltip"]).and_then(|text| text.as_str());
    let tooltip = World::with_values("a: 1\n").announced()[0].tooltip.clone().unwrap_or_default();
    assert_eq!(tooltip.split('\n').next(), text);
}

#[test]
fn two_thousand_values_are_announced() {
    let groups = (0..200).map(|group| {
        format!("group{group}: {{a: 1, b: x, c: true, d: 0.5, e: [1, 2], f: {{g: 1, h: 2, i: 3, k: 4}}}}\n")
    });
    assert_eq!(World::with_values(&groups.collect::<String>()).lines().len(), 2_000);
}

#[test]
fn file_above_the_limit_is_announced_without_comments() {
    let world = |max: &str| {
        World::with_values("# how many\nreplicas: 1\n# which one\nimage: web\n")
            .variable("TIPHYS_HELM_COMMENTS_MAX", max)
    };
    let tooltips = |world: &World| -> Vec<String> {
        world.announced_values().into_iter().map(|one| one.tooltip.unwrap_or_default()).collect()
    };
    assert_eq!(world("20").lines(), ["replicas (number) 1", "image web"]);
    assert_eq!(tooltips(&world("20")), ["how many", "which one"]);
    assert_eq!(world("4").lines(), ["image web", "replicas (number) 1"]);
    assert_eq!(tooltips(&world("4")), ["", ""]);
}
