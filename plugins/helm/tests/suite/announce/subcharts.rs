//! Which subcharts a list of dependencies selects: announcements equal the values that templates of both versions of helm see.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::announce::round_trip::{SEEN, seen};
use crate::announce::world::{CHART, Helm, World};

/// A chart with subcharts, and the announced values.
struct Case {
    /// The tested rule.
    rule: &'static str,
    /// Lines of its `Chart.yaml` after name and version.
    list: &'static str,
    values: &'static str,
    /// Subcharts: directory below the chart's, metadata, values, more lines of `Chart.yaml`.
    subcharts: &'static [Subchart],
    /// Announced values, besides those of the chart itself.
    expected: &'static [&'static str],
}

/// Directory, name and version, values, more lines of `Chart.yaml`.
type Subchart = (&'static str, &'static str, &'static str, &'static str);

const DB: Subchart = ("charts/db", "name: db\nversion: 1.2.3", "size: 1", "");

const CASES: &[Case] = &[
    Case {
        rule: "a version in the range has its values below the alias only",
        list: "dependencies: [{name: db, version: ^1.1, alias: store}]",
        values: "{}",
        subcharts: &[DB],
        expected: &["store.size=1"],
    },
    Case {
        rule: "a version outside the range keeps its own name, despite the alias",
        list: "dependencies: [{name: db, version: ^2.0, alias: store}]",
        values: "{}",
        subcharts: &[DB],
        expected: &["db.size=1"],
    },
    Case {
        rule: "a chart that keeps its name is disabled by an entry of that name",
        list: "dependencies: [{name: db, version: ^2.0, condition: use}]",
        values: "use: false",
        subcharts: &[DB],
        expected: &[],
    },
    Case {
        rule: "but not by an entry with an alias",
        list: "dependencies: [{name: db, version: ^2.0, alias: store, condition: use}]",
        values: "use: false",
        subcharts: &[DB],
        expected: &["db.size=1"],
    },
    Case {
        rule: "each entry selects its own version",
        list: "dependencies: [{name: db, version: 2.x, alias: two}, {name: db, version: 1.x, alias: one}]",
        values: "{}",
        subcharts: &[DB, ("charts/newer", "name: db\nversion: 2.0.0", "size: 2\nuser: admin", "")],
        expected: &["one.size=1", "two.size=2", "two.user=admin"],
    },
    Case {
        rule: "a version without an entry exists beside a selected one, and its values win",
        list: "dependencies: [{name: db, version: 1.x}]",
        values: "{}",
        subcharts: &[DB, ("charts/newer", "name: db\nversion: 2.0.0", "size: 2\nuser: admin", "")],
        expected: &["db.size=2", "db.user=admin"],
    },
    Case {
        rule: "an alias and the chart's own name may both exist",
        list: "dependencies: [{name: db, version: 1.x}, {name: db, version: 1.2.3, alias: second}]",
        values: "second: {size: 5}",
        subcharts: &[DB],
        expected: &["db.size=1", "second.size=5"],
    },
    Case {
        rule: "a pre-release is not in a range without one",
        list: "dependencies: [{name: db, version: 1.x, alias: store}]",
        values: "{}",
        subcharts: &[("charts/db", "name: db\nversion: 1.2.3-rc.1", "size: 1", "")],
        expected: &["db.size=1"],
    },
    Case {
        rule: "but in a range with one",
        list: "dependencies: [{name: db, version: '>=1.0.0-0', alias: store}]",
        values: "{}",
        subcharts: &[("charts/db", "name: db\nversion: 1.2.3-rc.1", "size: 1", "")],
        expected: &["store.size=1"],
    },
    Case {
        rule: "build metadata and a leading v are ignored",
        list: "dependencies: [{name: db, version: 1.2.3, alias: store}]",
        values: "{}",
        subcharts: &[("charts/db", "name: db\nversion: v1.2.3+build.5", "size: 1", "")],
        expected: &["store.size=1"],
    },
    Case {
        rule: "an invalid range selects no chart",
        list: "dependencies: [{name: db, version: latest, alias: store}]",
        values: "{}",
        subcharts: &[DB],
        expected: &["db.size=1"],
    },
    Case {
        rule: "nor does an entry without a version",
        list: "dependencies: [{name: db, alias: store}]",
        values: "{}",
        subcharts: &[DB],
        expected: &["db.size=1"],
    },
    Case {
        rule: "a condition must be a boolean, otherwise the next one decides before tags",
        list: "dependencies: [{name: db, version: 1.x, alias: store, condition: 'a.word,a.none,a.last', tags: [back]}]",
        values: "{a: {word: x, last: false}, tags: {back: true}}",
        subcharts: &[DB],
        expected: &[],
    },
    Case {
        rule: "one true tag of several is enough",
        list: "dependencies: [{name: db, version: 1.x, tags: [back, front]}, {name: db, version: 1.x, alias: store, tags: [back]}]",
        values: "tags: {back: false, front: true}",
        subcharts: &[DB],
        expected: &["db.size=1"],
    },
    Case {
        rule: "a condition of an alias is evaluated below the alias",
        list: "dependencies: [{name: db, version: 1.x, alias: a, condition: a.used}, {name: db, version: 1.x, alias: b, condition: b.used}]",
        values: "{a: {used: false}, db: {used: false}}",
        subcharts: &[DB],
        expected: &["b.size=1"],
    },
    Case {
        rule: "the list of a subchart applies with its aliases and conditions",
        list: "dependencies: [{name: db, version: 1.x, alias: store}]",
        values: "store: {fast: false}",
        subcharts: &[
            (
                "charts/db",
                "name: db\nversion: 1.2.3",
                "size: 1",
                "dependencies: [{name: disk, version: 1.x, alias: d, condition: fast}, {name: disk, version: 1.x, alias: e}, \
                 {name: disk, version: 3.x, alias: f}]",
            ),
            ("charts/db/charts/disk", "name: disk\nversion: 1.0.0", "speed: 7", ""),
        ],
        expected: &["store.size=1", "store.e.speed=7"],
    },
    Case {
        rule: "the list of a subchart is ignored if the chart itself has none",
        list: "",
        values: "db: {fast: false}",
        subcharts: &[
            (
                "charts/db",
                "name: db\nversion: 1.2.3",
                "size: 1",
                "dependencies: [{name: disk, version: 1.x, alias: d, condition: db.fast, import-values: [{child: inner, parent: taken}]}]",
            ),
            ("charts/db/charts/disk", "name: disk\nversion: 1.0.0", "inner: {speed: 7}", ""),
        ],
        expected: &["db.size=1", "db.disk.inner.speed=7", "db.taken.speed=7"],
    },
    Case {
        rule: "values are imported from the alias",
        list: "dependencies: [{name: db, version: 1.x, alias: store, import-values: [out, {child: inner, parent: taken}]}]",
        values: "{}",
        subcharts: &[(
            "charts/db",
            "name: db\nversion: 1.2.3",
            "{exports: {out: {a: 1}}, inner: {b: 2}}",
            "",
        )],
        expected: &["a=1", "taken.b=2", "store.exports.out.a=1", "store.inner.b=2"],
    },
    Case {
        rule: "and from a chart with a version outside the range, if its name is the entry's",
        list: "dependencies: [{name: db, version: 2.x, import-values: [out]}]",
        values: "{}",
        subcharts: &[("charts/db", "name: db\nversion: 1.2.3", "exports: {out: {a: 1}}", "")],
        expected: &["a=1", "db.exports.out.a=1"],
    },
    Case {
        rule: "a chart beside it is built if another one is missing, and those in charts win",
        list: "dependencies: [{name: db, version: '>=1', repository: 'file://../db'}, {name: web, version: '>=1', repository: \
               'file://../other', alias: two}]",
        values: "{}",
        subcharts: &[
            DB,
            ("../db", "name: db\nversion: 1.5.0", "size: 5", ""),
            ("../other", "name: web\nversion: 1.0.0", "port: 80", ""),
        ],
        expected: &["db.size=1", "two.port=80"],
    },
    Case {
        rule: "missing dependencies of a subchart are not built",
        list: "dependencies: [{name: db, version: '>=1'}]",
        values: "{}",
        subcharts: &[
            (
                "charts/db",
                "name: db\nversion: 1.2.3",
                "size: 1",
                "dependencies: [{name: disk, version: '>=1', repository: 'file://../../../disk'}]",
            ),
            ("../disk", "name: disk\nversion: 1.0.0", "speed: 7", ""),
        ],
        expected: &["db.size=1"],
    },
];

fn world(case: &Case) -> World {
    let world = World::with_values(case.values)
        .chart_file("Chart.yaml", format!("apiVersion: v2\nname: top\nversion: 0.1.0\n{}\n", case.list))
        .chart_file("templates/seen.yaml", SEEN);
    case.subcharts.iter().fold(world, |world, (folder, chart, values, more)| {
        let folder = match folder.strip_prefix("../") {
            Some(beside) => format!("charts/{beside}"),
            None => format!("{CHART}/{folder}"),
        };
        world
            .file(&format!("{folder}/Chart.yaml"), &format!("apiVersion: v2\n{chart}\n{more}\n"))
            .file(&format!("{folder}/values.yaml"), values)
    })
}

/// Returns `path=value` of each single value, with dots between keys. Globals are omitted: they are announced at the top.
pub(crate) fn leaves(value: &Value) -> BTreeSet<String> {
    match value {
        Value::Object(map) => {
            let below = |(key, value): (&String, &Value)| {
                let below = leaves(value).into_iter();
                below
                    .map(|leaf| match leaf.strip_prefix('=') {
                        Some(_) => format!("{key}{leaf}"),
                        None => format!("{key}.{leaf}"),
                    })
                    .collect::<Vec<_>>()
            };
            map.iter().flat_map(below).collect()
        }
        Value::String(text) => [format!("={text}")].into(),
        other => [format!("={other}")].into(),
    }
}

#[test]
fn announced_subcharts_equal_those_of_helm() {
    for case in CASES {
        let world = world(case);
        let own: Value = tiphys_yaml::read_document(case.values.as_bytes())
            .ok()
            .flatten()
            .map(|values| values.to_value())
            .expect("values");
        let expected: BTreeSet<String> =
            case.expected.iter().map(|leaf| (*leaf).to_owned()).chain(leaves(&own)).collect();
        let announced: BTreeSet<String> = world
            .announced_values()
            .into_iter()
            .map(|one| format!("{}={}", one.title.unwrap_or_default(), one.string.unwrap_or_default()))
            .collect();
        assert_eq!(announced, expected, "{}", case.rule);
        for helm in Helm::ALL {
            assert_eq!(leaves(&seen(&world, helm)), expected, "{} with {helm:?}", case.rule);
        }
    }
}

#[test]
fn duplicate_dependency_names_have_the_error_of_helm() {
    let lists = [
        "[{name: db, version: 1.x}, {name: db, version: 2.x}]",
        "[{name: db, version: 1.x}, {name: other, version: 1.x, alias: db}]",
    ];
    for list in lists {
        let case = Case { rule: "", list: "", values: "{}", subcharts: &[DB], expected: &[] };
        let world = world(&case);
        let world = world.chart_file(
            "Chart.yaml",
            format!("apiVersion: v2\nname: top\nversion: 0.1.0\ndependencies: {list}\n"),
        );
        let reason = "validation: more than one dependency with name or alias \"db\"";
        assert_eq!(world.error(), format!("cannot load the chart: {reason}"));
        for helm in Helm::ALL {
            let output = world.run(helm, "generate").stderr;
            assert!(output.contains(reason), "{helm:?}: {output}");
        }
    }
}
