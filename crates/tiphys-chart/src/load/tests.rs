//! Charts in directories and archives. The real helm loads the same charts.

mod archives;

use tiphys_helm_values::HelmVersion::{self, V3, V4};

use crate::{Chart, LoadLimits, as_bytes, assert_as_helm, chain, chart_of, chart_within};

/// A file that makes a chart.
const CHART: &str = "apiVersion: v2\nname: c\nversion: 1.0.0\n";

/// As [`CHART`], in the first version of the format.
const CHART_V1: &str = "name: c\nversion: 1.0.0\n";

const SUBCHART: &str = "name: s\nversion: 1.0.0\n";

/// A case: the files of a directory, and what Helm 3 and 4 load.
struct Case {
    files: &'static [(&'static str, &'static str)],
    expected: [&'static str; 2],
}

const fn same(files: &'static [(&'static str, &'static str)], expected: &'static str) -> Case {
    Case { files, expected: [expected, expected] }
}

/// The loaded files: `templates | files`, subcharts in parentheses.
const CASES: &[Case] = &[
    same(
        &[
            ("Chart.yaml", CHART),
            ("values.yaml", "a: 1"),
            ("values.schema.json", "{}"),
            ("Chart.lock", "digest: x\ngenerated: '2024-01-02T03:04:05.678Z'\ndependencies: [{name: 1}]\n"),
            ("requirements.yaml", ""),
            ("requirements.lock", ""),
            (".helmignore", "ignored/\n"),
            ("ignored/a", ""),
            ("README.md", ""),
            ("a.txt", ""),
            ("a/z", ""),
            ("a-b/x", ""),
            ("crds/a.yaml", ""),
            ("templates/b.yaml", ""),
            ("templates/.hidden", ""),
            ("templates/a/c.txt", ""),
            ("templates/_h.tpl", ""),
            ("Templates/x", ""),
            ("docs/Chart.yaml", ""),
            ("charts.txt", ""),
        ],
        "_h.tpl a/c.txt b.yaml | .helmignore README.md Templates/x a/z a-b/x a.txt charts.txt crds/a.yaml docs/Chart.yaml",
    ),
    same(
        &[("Chart.yaml", CHART_V1), ("requirements.yaml", ""), ("requirements.lock", "")],
        " | requirements.lock requirements.yaml",
    ),
    same(&[("Chart.yaml", CHART), ("requirements.yaml", "apiVersion: v1")], " | requirements.yaml"),
    same(
        &[
            ("Chart.yaml", CHART),
            ("charts/s/Chart.yaml", SUBCHART),
            ("charts/s/.helmignore", "*"),
            ("charts/s/templates/.hidden", ""),
            ("charts/s/templates/a", ""),
            ("charts/s/a.prov", ""),
            ("charts/s.prov", ""),
            ("charts/.x/y", ""),
            ("charts/_x", ""),
        ],
        " | charts/s/a.prov charts/s.prov (.hidden a | .helmignore)",
    ),
    same(
        &[("Chart.yaml", CHART), ("charts/README.md", "")],
        "error unpacking subchart README.md in c: Chart.yaml file is missing",
    ),
    same(
        &[("Chart.yaml", CHART), ("charts/s/Chart.yaml", SUBCHART), ("charts/s/charts/t/x", "")],
        "error unpacking subchart s in c: error unpacking subchart t in s: Chart.yaml file is missing",
    ),
    same(
        &[("Chart.yaml", CHART), ("charts/s/requirements.yaml", "name: s")],
        "error unpacking subchart s in c: validation: chart.metadata.apiVersion is required",
    ),
    same(
        &[("Chart.yaml", CHART), ("charts/x.tgz/Chart.yaml", SUBCHART)],
        "error unpacking subchart tar in c: expected x.tgz, got x.tgz/Chart.yaml",
    ),
    same(
        &[("Chart.yaml", CHART), ("charts/x.tgz", "not an archive")],
        "error unpacking subchart x.tgz in c: gzip: invalid header",
    ),
    same(&[("Chart.yaml", CHART), ("charts/x.tgz", "")], "error unpacking subchart x.tgz in c: EOF"),
    same(&[("Chart.yaml", CHART), (".helmignore", "**")], "double-star (**) syntax is not supported"),
    same(&[("Chart.yaml", CHART), (".helmignore", "[")], "syntax error in pattern"),
    same(&[("Chart.yaml", CHART), (".helmignore", "!*.txt")], "Chart.yaml file is missing"),
    same(&[("Chart.yaml", CHART), ("\u{feff}.txt", "")], " | \u{feff}.txt"),
    same(&[("Chart.yaml", "\u{feff}name: c\nversion: 1.0.0\n"), ("values.yaml", "\u{feff}a: 1\n")], " | "),
    Case {
        files: &[("Chart.yaml", CHART), ("values.yaml", "a: 1\n---\n- b\n")],
        expected: [
            " | ",
            "cannot load values.yaml: cannot unmarshal yaml document: error unmarshaling JSON: while decoding JSON: json: \
             cannot unmarshal array into Go value of type map[string]interface {}",
        ],
    },
    Case {
        files: &[("Chart.yaml", CHART), ("values.yaml", "a: 1\n--- b\n")],
        expected: [
            " | ",
            "cannot load values.yaml: error reading yaml document: invalid Yaml document separator: b",
        ],
    },
    Case {
        files: &[("Chart.yaml", "apiVersion: v4\nname: c\nversion: 1.0.0\n")],
        expected: [" | ", "unsupported chart version"],
    },
    Case {
        files: &[("Chart.yaml", "apiVersion: v3\nname: c\nversion: 1.0.0\n")],
        expected: [" | ", "invalid chart apiVersion"],
    },
    Case {
        files: &[("Chart.yaml", "- a")],
        expected: [
            "cannot load Chart.yaml: error unmarshaling JSON: while decoding JSON: json: cannot unmarshal array into Go \
             value of type chart.Metadata",
            "cannot load Chart.yaml: error unmarshaling JSON: while decoding JSON: json: cannot unmarshal array into Go \
             value of type loader.chartBase",
        ],
    },
    Case {
        files: &[("Chart.yaml", CHART), ("Chart.lock", "[]")],
        expected: [
            "cannot load Chart.lock: error unmarshaling JSON: while decoding JSON: json: cannot unmarshal array into Go \
             value of type chart.Lock",
            "cannot load Chart.lock: error unmarshaling JSON: while decoding JSON: json: cannot unmarshal array into Go \
             value of type v2.Lock",
        ],
    },
    same(
        &[("Chart.yaml", CHART), ("requirements.lock", "dependencies: [{enabled: 1}]")],
        "cannot load requirements.lock: error unmarshaling JSON: while decoding JSON: json: cannot unmarshal number into \
         Go struct field Dependency.dependencies.enabled of type bool",
    ),
    same(
        &[("Chart.yaml", CHART), ("Chart.lock", "generated: 1")],
        "cannot load Chart.lock: error unmarshaling JSON: while decoding JSON: Time.UnmarshalJSON: input is not a JSON \
         string",
    ),
];

/// Prints the files of a chart as [`CASES`] do.
fn printed(chart: &Chart) -> String {
    let list = |files: &[crate::ChartFile]| {
        let names = files.iter().map(|file| file.path.strip_prefix("templates/").unwrap_or(&file.path));
        names.collect::<Vec<_>>().join(" ")
    };
    let own = format!("{} | {}", list(&chart.templates), list(&chart.files));
    chart.subcharts.iter().fold(own, |text, subchart| format!("{text} ({})", printed(subchart)))
}

#[test]
fn directories_are_loaded_as_in_helm() {
    for case in CASES {
        for (version, expected) in [V3, V4].into_iter().zip(case.expected) {
            let loaded = chart_of(case.files, version).as_ref().map_or_else(String::clone, printed);
            assert_eq!(loaded, expected, "{version:?} {:?}", case.files);
        }
    }
}

#[test]
fn real_helm_loads_the_same_directories() {
    for case in CASES {
        assert_as_helm(&as_bytes(case.files));
    }
}

#[test]
fn values_and_schema_are_read() {
    let files = [
        ("Chart.yaml", CHART),
        ("values.yaml", "\u{feff}a: {x: 1, z: 2}\n---\na: {x: 3}\n"),
        ("values.schema.json", "\u{feff}{}"),
        ("values.yml", "b: 1"),
    ];
    for (version, expected) in [(V3, r#"{"a":{"x":1,"z":2}}"#), (V4, r#"{"a":{"x":3,"z":2}}"#)] {
        let chart = chart_of(&files, version).unwrap();
        assert_eq!(tiphys_helm_values::Value::Map(chart.values).to_json(), expected);
        assert_eq!(chart.schema.as_deref(), Some(&b"{}"[..]));
    }
    assert_eq!(chart_of(&[("values.yaml", "")], V3).unwrap_err(), "Chart.yaml file is missing");
    assert_eq!(chart_of(&[("values.yaml", "")], V4).unwrap_err(), "Chart.yaml file is missing");
}

#[test]
fn invalid_yaml_is_rejected_in_helms_words() {
    let problem = "error converting YAML to JSON: yaml: line 1: expected a value";
    for (file, version, prefix) in [
        ("Chart.yaml", V4, ""),
        ("requirements.yaml", V4, ""),
        ("Chart.lock", V3, ""),
        ("requirements.lock", V4, ""),
        ("values.yaml", V3, ""),
        ("values.yaml", V4, "cannot unmarshal yaml document: "),
    ] {
        let error =
            chart_of(&[("Chart.yaml", CHART), (file, "a: [")][usize::from(file == "Chart.yaml")..], version);
        assert_eq!(error.unwrap_err(), format!("cannot load {file}: {prefix}{problem}"));
    }
}

#[test]
fn byte_order_marks_are_removed_from_all_files() {
    let files = [("Chart.yaml", CHART), ("templates/a", "\u{feff}a\u{feff}"), ("b", "\u{feff}\u{feff}")];
    let chart = chart_of(&files, V4).unwrap();
    assert_eq!(&*chart.templates[0].bytes, "a\u{feff}".as_bytes());
    assert_eq!(&*chart.files[0].bytes, "\u{feff}".as_bytes());
}

#[test]
fn subcharts_are_sorted_by_file_name() {
    let files = [
        ("Chart.yaml", CHART),
        ("charts/b/Chart.yaml", "name: x\nversion: 1.0.0\n"),
        ("charts/a-1/Chart.yaml", "name: z\nversion: 1.0.0\n"),
        ("charts/a/Chart.yaml", "name: w\nversion: 1.0.0\n"),
    ];
    let chart = chart_of(&files, V4).unwrap();
    let names: Vec<_> = chart.subcharts.iter().map(|chart| chart.metadata.name.as_str()).collect();
    assert_eq!(names, ["w", "z", "x"]);
}

/// Returns the limits of a version with one changed.
fn limits(version: HelmVersion, change: impl FnOnce(&mut LoadLimits)) -> LoadLimits {
    let mut limits = LoadLimits::new(version);
    change(&mut limits);
    limits
}

#[test]
fn limits_are_enforced() {
    let files = [
        ("Chart.yaml", CHART),
        (".helmignore", "ignored\nx\n"),
        ("ignored", "0123456789012345678901234567890123456789"),
        ("charts/s/Chart.yaml", SUBCHART),
        ("charts/s/charts/t/Chart.yaml", "name: t\nversion: 1.0.0\ndependencies: [{name: a}, {name: b}]"),
    ];
    let bytes: usize =
        files.iter().filter(|(path, _)| *path != "ignored").map(|(_, content)| content.len()).sum();
    let bytes = u64::try_from(bytes).unwrap();
    let dependencies = "error unpacking subchart s in c: error unpacking subchart t in s: cannot load Chart.yaml: line 3, \
                        column 15: dependencies: expected a list of at most 1 dependencies \
                        (TIPHYS_HELM_DEPENDENCIES_MAX allows more), found a list";
    let too_large = format!(
        "error reading charts/s/charts/t/Chart.yaml: chart exceeds maximum decompressed size of {} bytes",
        bytes - 1
    );
    let cases: [(LoadLimits, &str); 14] = [
        (limits(V4, |limits| limits.bytes = bytes), ""),
        (limits(V4, |limits| limits.bytes = bytes - 1), &too_large),
        (limits(V4, |limits| limits.file_bytes = Some(61)), ""),
        (
            limits(V4, |limits| limits.file_bytes = Some(35)),
            "chart file \"Chart.yaml\" is larger than the maximum file size 35",
        ),
        (limits(V4, |limits| limits.entries = 4), ""),
        (
            limits(V4, |limits| limits.entries = 3),
            "the chart has more than 3 files, including archives; remove some or add them to .helmignore",
        ),
        (limits(V4, |limits| limits.depth = 3), ""),
        (
            limits(V4, |limits| limits.depth = 2),
            "error unpacking subchart s in c: error unpacking subchart t in s: charts are nested more than 2 deep; look \
             for a link in a charts directory",
        ),
        (limits(V4, |limits| limits.charts = 3), ""),
        (
            limits(V4, |limits| limits.charts = 2),
            "error unpacking subchart s in c: error unpacking subchart t in s: there are more than 2 charts, including \
             subcharts",
        ),
        (limits(V4, |limits| limits.dependencies = 2), ""),
        (limits(V4, |limits| limits.dependencies = 1), dependencies),
        (limits(V4, |limits| limits.ignore_rules = 2), ""),
        (limits(V4, |limits| limits.ignore_rules = 1), ".helmignore has more than 1 rules; remove some"),
    ];
    for (limits, expected) in cases {
        let error = chart_within(&as_bytes(&files), V4, limits).err();
        assert_eq!(error.as_ref().map(chain).unwrap_or_default(), expected);
        // Helm 3 has a limit of one file.
        let is_limit = error.is_none_or(|error| error.is_limit() != expected.starts_with("chart file"));
        assert!(is_limit, "{expected}");
    }
}
