//! Error messages of `announce`.

use std::os::unix::fs::symlink;

use crate::announce::world::{CHART, World};

#[test]
fn invalid_chart_is_reported_with_file_and_reason() {
    let sub = |world: World| world.chart_file("charts/db/templates/x.yaml", "");
    let cases: [(World, &str); 9] = [
        (
            World::with_values("- a\n"),
            "cannot load the chart: cannot load values.yaml: cannot unmarshal yaml document: error unmarshaling JSON: while decoding \
             JSON: json: cannot unmarshal array into Go value of type map[string]interface {}",
        ),
        (
            World::with_values("a: 1\n").chart_file("Chart.yaml", "name: web\n"),
            "cannot load the chart: validation: chart.metadata.version is required",
        ),
        (
            World::with_values("a: 1\n")
                .chart_file("Chart.yaml", "name: web\nversion: 1.0.0\ndependencies: [{name: [x]}]\n"),
            "error retrieving helm dependency repos: error unmarshalling the helm chart while getting helm dependency repos: error \
             unmarshaling JSON: Chart.yaml: line 3, column 23: dependencies[0].name: expected a string, found a list",
        ),
        (
            World::new(CHART).chart_file("values.yaml", "a: 1\n"),
            "error retrieving helm dependency repos: error reading helm chart from <path to cached source>/charts/web/Chart.yaml: open \
             <path to cached source>/charts/web/Chart.yaml: no such file or directory",
        ),
        (
            sub(World::with_values("a: 1\n")),
            "cannot load the chart: error unpacking subchart db in web: Chart.yaml file is missing",
        ),
        (
            World::with_values("a: 1\n").chart_file("charts/README.md", "words"),
            "cannot load the chart: error unpacking subchart README.md in web: Chart.yaml file is missing",
        ),
        (
            World::with_values("a: 1\n").chart_file("charts/db-1.tgz", "more than ten words"),
            "cannot load the chart: error unpacking subchart db-1.tgz in web: gzip: invalid header",
        ),
        (
            World::with_values("db: 5\n").chart_file("charts/db/Chart.yaml", "name: db\nversion: 1.0.0\n"),
            "the values do not match the chart: type mismatch on db: %!t(float64=5)",
        ),
        (
            World::with_values("a: 1\n").text("values", "- a\n"),
            "failed to parse values: parameter values: error unmarshaling JSON: while decoding JSON: json: cannot unmarshal array into Go \
             value of type map[string]interface {}",
        ),
    ];
    for (world, expected) in cases {
        assert_eq!(world.error(), expected);
    }
}

#[test]
fn unknown_parameter_is_rejected_by_announce() {
    let error = World::with_values("a: 1\n").text("valuefiles", "x").error();
    assert_eq!(error, "parameter valuefiles is unknown; did you mean value-files?");
}

#[test]
fn large_file_is_read_up_to_the_named_limit() {
    let large = || [b"a: 1\n#".to_vec(), vec![b'#'; 6 << 20]].concat();
    let world = || World::with_values("").chart_file("values.yaml", large());
    assert_eq!(world().lines().len(), 1);
    assert_eq!(
        world().variable("TIPHYS_HELM_CHARTS_BYTES_MAX", "5000000").limit_error(),
        "cannot load the chart: the values and schemas of the chart and its subcharts have more than 5000000 bytes; increase \
         TIPHYS_HELM_CHARTS_BYTES_MAX"
    );
    let world = || {
        let files =
            World::with_values("a: 1\n").chart_file("one.yaml", large()).chart_file("two.yaml", large());
        files.array("value-files", &["one.yaml", "two.yaml"])
    };
    assert_eq!(world().lines().len(), 1);
    let error = world().variable("TIPHYS_HELM_CHARTS_BYTES_MAX", "10000000").limit_error();
    let expected = "charts/web/two.yaml: with the value files before it, it has more than 10000000 bytes; increase \
                    TIPHYS_HELM_CHARTS_BYTES_MAX";
    assert!(error.ends_with(expected), "{error}");
}

#[test]
fn circular_link_in_charts_is_rejected() {
    let world = World::with_values("a: 1\n").file("charts/web/charts/.keep", "");
    symlink("..", world.root().join(CHART).join("charts/again")).expect("the link is created");
    assert_eq!(
        world.error(),
        "cannot load the chart: link <path to cached source>/charts/web/charts/again leads out of the repository, or to a directory \
         that contains it"
    );
}

#[test]
fn too_many_values_are_reported_with_the_variable() {
    let world = World::with_values("a: 1\nb: 2\nc: 3\n");
    assert_eq!(
        world.variable("TIPHYS_HELM_ANNOUNCED_MAX", "2").limit_error(),
        "the chart has more than 2 values; increase TIPHYS_HELM_ANNOUNCED_MAX"
    );
    assert_eq!(
        World::with_values("a: 1\nb: 2\n").variable("TIPHYS_HELM_ANNOUNCED_MAX", "2").lines().len(),
        2
    );
}

#[test]
fn charts_have_limits_and_errors_name_the_variables() {
    let world = |name: &str, max: &str| {
        World::with_values("a: 1\n")
            .chart_file("charts/db/Chart.yaml", "name: db\nversion: 1.0.0\n")
            .chart_file("charts/db/values.yaml", "size: 1\n")
            .variable(name, max)
    };
    assert_eq!(
        world("TIPHYS_HELM_CHARTS_MAX", "1").limit_error(),
        "cannot load the chart: error unpacking subchart db in web: there are more than 1 charts, including subcharts; increase \
         TIPHYS_HELM_CHARTS_MAX"
    );
    assert_eq!(world("TIPHYS_HELM_CHARTS_MAX", "2").lines().len(), 2);
    assert_eq!(
        world("TIPHYS_HELM_CHARTS_BYTES_MAX", "12").limit_error(),
        "cannot load the chart: the values and schemas of the chart and its subcharts have more than 12 bytes; increase \
         TIPHYS_HELM_CHARTS_BYTES_MAX"
    );
    assert_eq!(world("TIPHYS_HELM_CHARTS_BYTES_MAX", "13").lines().len(), 2);
}

/// Each alias includes all subcharts below it, as in helm.
#[test]
fn chart_counts_once_per_alias() {
    let list = |name: &str| {
        let aliases = ["a", "b", "c"].map(|alias| format!("{{name: {name}, version: 1.x, alias: {alias}}}"));
        format!("dependencies: [{}]", aliases.join(", "))
    };
    let world = |variable: &str, max: &str| {
        World::with_values("a: {}\n")
            .chart_file("Chart.yaml", format!("name: web\nversion: 0.1.0\n{}\n", list("db")))
            .chart_file("charts/db/Chart.yaml", format!("name: db\nversion: 1.0.0\n{}\n", list("disk")))
            .chart_file("charts/db/charts/disk/Chart.yaml", "name: disk\nversion: 1.0.0\n")
            .chart_file("charts/db/charts/disk/values.yaml", "speed: 7\n")
            .variable(variable, max)
    };
    assert_eq!(world("TIPHYS_HELM_CHARTS_MAX", "13").lines().len(), 9);
    assert_eq!(
        world("TIPHYS_HELM_CHARTS_MAX", "12").limit_error(),
        "cannot load the chart: there are more than 12 charts, including subcharts; increase TIPHYS_HELM_CHARTS_MAX"
    );
    // 6 bytes of the chart, and 9 for each of nine disks.
    assert_eq!(world("TIPHYS_HELM_CHARTS_BYTES_MAX", "87").lines().len(), 9);
    assert_eq!(
        world("TIPHYS_HELM_CHARTS_BYTES_MAX", "86").limit_error(),
        "cannot load the chart: the values and schemas of the chart and its subcharts have more than 86 bytes; increase \
         TIPHYS_HELM_CHARTS_BYTES_MAX"
    );
}

#[test]
fn multiplying_yaml_aliases_are_rejected() {
    let lines = (0..9).map(|level: usize| match level.checked_sub(1) {
        None => "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned(),
        Some(below) => format!("a{level}: &a{level} [{}]\n", vec![format!("*a{below}"); 10].join(", ")),
    });
    let values: String = lines.collect();
    let error = World::with_values(&values).limit_error();
    assert!(error.starts_with("cannot load the chart: cannot load values.yaml: "), "{error}");
}

#[test]
fn too_deeply_nested_values_are_reported() {
    let world = World::with_values(&format!("a: {}{}\n", "[".repeat(300), "]".repeat(300)));
    let error = world.limit_error();
    let expected = "nested deeper than 250 levels; helm may read it";
    assert!(error.ends_with(expected), "{error}");
}
