//! Charts that would need endless time, memory or stack end with an error.

use std::sync::Arc;
use std::time::SystemTime;

use tiphys_chart::{
    Chart, ChartFile, KubeVersion, LIMITS, LoadLimits, Parts, Release, RenderError, RunOptions,
    TemplateCache, render,
};
use tiphys_go::gotemplate::Limits;
use tiphys_helm_values::{HelmVersion, Map, Value};

/// The default limits, with so few steps that tests are fast in debug builds.
const FEW_STEPS: Limits = Limits { steps: 500_000, ..LIMITS };

const STEPS: &str = "needs more than 500000 steps";
const DEPTH: &str = "is nested deeper than 5000 levels";
const BYTES: &str = "creates a string of more than 104857600 bytes";

/// Loads a chart of some templates.
fn chart(templates: &[(&str, &[u8])]) -> Chart {
    let metadata = ("Chart.yaml", &b"{apiVersion: v2, name: c, version: 0.1.0}"[..]);
    let files = templates.iter().chain([&metadata]);
    let files = files.map(|(path, bytes)| ChartFile { path: (*path).to_owned(), bytes: Arc::from(*bytes) });
    Chart::of_directory(files.collect(), HelmVersion::V4, LoadLimits::new(HelmVersion::V4)).expect("a chart")
}

fn rendered(chart: &Chart, values: Map, limits: Limits) -> Result<String, RenderError> {
    let release = Release {
        name: "release".to_owned(),
        namespace: "space".to_owned(),
        kube_version: KubeVersion::default(),
        api_versions: Vec::new(),
    };
    let options = RunOptions {
        rules: HelmVersion::V4,
        now: SystemTime::UNIX_EPOCH,
        random: 1,
        limits,
        cache: &TemplateCache::default(),
    };
    let parts = Parts { crds: true, tests: true, schema_validation: true };
    render(chart, values, &release, parts, options)
}

/// Renders one template.
fn of_template(template: &str, values: Map) -> Result<String, RenderError> {
    rendered(&chart(&[("templates/x.yaml", template.as_bytes())]), values, FEW_STEPS)
}

fn text(key: &str, text: impl Into<String>) -> Map {
    Map::from([(key.to_owned(), Value::Text(text.into()))])
}

/// Asserts that an error names a place, and contains a message.
fn assert_fails(result: Result<String, RenderError>, place: &str, message: &str) {
    let error = result.expect_err("an error").to_string();
    let shown: String = error.chars().take(300).collect();
    assert!(error.contains(place) && error.contains(message), "{shown}");
}

#[test]
fn recursion_without_end_is_an_error() {
    let cases = [
        ("{{ define \"t\" }}{{ template \"t\" . }}{{ end }}\n{{ template \"t\" . }}", ":1:", DEPTH),
        (
            "{{ define \"t\" }}{{ if true }}{{ template \"t\" . }}{{ end }}{{ end }}{{ template \"t\" }}",
            ":1:",
            DEPTH,
        ),
        (
            "{{ define \"t\" }}{{ include \"t\" . }}{{ end }}\n{{ include \"t\" . }}",
            ":2:",
            "nested reference name",
        ),
        (
            "{{ define \"a\" }}{{ include \"b\" . }}{{ end }}{{ define \"b\" }}{{ include \"a\" . }}{{ end }}\n{{ include \"a\" . }}",
            ":2:",
            "nested reference name",
        ),
        ("{{ include \"c/templates/x.yaml\" . }}", ":1:", "nested reference name"),
        ("\n{{ tpl .Values.t . }}", ":2:", DEPTH),
    ];
    for (template, line, message) in cases {
        let result = of_template(template, text("t", "{{ tpl .Values.t . }}"));
        assert_fails(result, &format!("c/templates/x.yaml{line}"), message);
    }
}

#[test]
fn long_loops_are_an_error() {
    let cases = [
        "{{ range 1000000000 }}{{ end }}",
        "{{ range until 1000000000 }}{{ end }}",
        "{{ range untilStep 0 1000000000 1 }}{{ end }}",
        "{{ seq 1000000000 }}",
        "{{ range 1000000000 }}{{ break }}{{ end }}{{ range until 1000000000 }}{{ break }}{{ end }}",
        "{{ range 10000 }}{{ range 10000 }}{{ range 10000 }}{{ end }}{{ end }}{{ end }}",
        "{{ $l := until 1000 }}{{ range $l }}{{ range $l }}{{ range $l }}{{ $x := . }}{{ end }}{{ end }}{{ end }}",
        "{{ define \"two\" }}{{ if gt . 0 }}{{ include \"two\" (sub . 1) }}{{ include \"two\" (sub . 1) }}{{ end }}{{ end }}{{ include \"two\" 100 }}",
        "{{ $l := list 1 }}{{ range 100 }}{{ $l = concat $l $l }}{{ end }}",
        "{{ $d := dict }}{{ range 1000000 }}{{ $_ := set $d (toString .) . }}{{ end }}",
        "{{ $s := \"ab\" }}{{ range 100 }}{{ $s = replace \"a\" \"aaaaaaaaaaaaaaaa\" $s }}{{ end }}",
    ];
    for template in cases {
        let result = of_template(&format!("\n\n{template}"), Map::new());
        assert_fails(result, "c/templates/x.yaml:3:", "");
    }
    assert_fails(of_template(cases[0], Map::new()), "c/templates/x.yaml:1:", STEPS);
}

#[test]
fn steps_count_for_all_files_together() {
    let template = b"{{ range 2000 }}{{ end }}".as_slice();
    let names: Vec<String> = (0..1000).map(|number| format!("templates/{number}.yaml")).collect();
    let templates: Vec<(&str, &[u8])> = names.iter().map(|name| (name.as_str(), template)).collect();
    assert_fails(rendered(&chart(&templates), Map::new(), FEW_STEPS), "c/templates/", STEPS);
}

#[test]
fn large_strings_are_an_error() {
    let cases = [
        "{{ repeat 1000000000 \"x\" }}",
        "{{ repeat 1000000 (repeat 1000000 \"x\") }}",
        "{{ printf \"%1000000d\" 1 | repeat 1000 }}",
        "{{ indent 1000000000 \"x\" }}",
        "{{ nindent 100000000000 \"x\" }}",
        "{{ range 100000 }}{{ repeat 10000 \"x\" }}{{ end }}",
        "{{ wrapWith 1 (repeat 100000 \"y\") (repeat 100000 \"x \") }}",
        "{{ regexReplaceAll \"\" (repeat 100000 \"x\") (repeat 100000 \"y\") }}",
        "{{ join (repeat 100000 \"x\") (until 100000) }}",
        "{{ randAlphaNum 1000000000 }}",
        "{{ substr 0 2000000000 (repeat 2000000000 \"x\") }}",
    ];
    for template in cases {
        assert_fails(of_template(template, Map::new()), "c/templates/x.yaml:1:", "");
    }
    assert_fails(of_template(cases[0], Map::new()), "c/templates/x.yaml:1:", BYTES);
}

#[test]
fn large_values_in_tpl_are_an_error() {
    let twenty_megabytes = "x".repeat(20 << 20);
    let doubled = "{{ $t := .Values.t }}{{ range 10 }}{{ $t = tpl (print $t $t) $ }}{{ end }}{{ $t | len }}";
    assert_fails(of_template(doubled, text("t", twenty_megabytes)), "c/templates/x.yaml:1:", "");
    let bomb = "{{ .Values.t }}{{ tpl (print .Values.t .Values.t) . }}";
    let nested = format!("{}{{{{ tpl .Values.t . }}}}", "x".repeat(1 << 20));
    assert_fails(of_template(bomb, text("t", nested)), "c/templates/x.yaml:1:", "");
}

#[test]
fn regular_expressions_take_linear_time() {
    let long = "a".repeat(5_000);
    for pattern in ["(a*)*b", "(a|aa)+$b", "(x+x+)+y", "((((a*)*)*)*)*b", "(.*)(.*)(.*)(.*)b"] {
        let template = format!("# {{{{ regexMatch {pattern:?} .Values.t }}}}");
        assert_eq!(
            of_template(&template, text("t", long.clone())).as_deref(),
            Ok("---\n# Source: c/templates/x.yaml\n# false\n"),
            "{pattern}"
        );
    }
    for pattern in ["a{1000}{1000}", "((a{100}){100}){100}", "(?i)(\\\\pL{500}){500}"] {
        let template = format!("{{{{ mustRegexMatch \"{pattern}\" \"a\" }}}}");
        assert_fails(of_template(&template, Map::new()), "c/templates/x.yaml:1:", "mustRegexMatch");
    }
}

#[test]
fn deep_nesting_in_templates_is_an_error() {
    let blocks = |count: usize| format!("{}{}", "{{ if true }}".repeat(count), "{{ end }}".repeat(count));
    let parentheses = |count: usize| format!("# {{{{ {}1{} }}}}", "(".repeat(count), ")".repeat(count));
    let empty = Ok("\n");
    assert_eq!(of_template(&blocks(2_000), Map::new()).as_deref(), empty);
    assert_eq!(of_template(&parentheses(1_000), Map::new()).map(|output| output.lines().count()), Ok(3));
    for template in
        [blocks(100_000), parentheses(100_000), "{{ with 1 }}".repeat(100_000), "{{ (".repeat(100_000)]
    {
        assert_fails(of_template(&template, Map::new()), "c/templates/x.yaml:1", "");
    }
    // Unmatched ends, and quotes without end.
    for template in ["{{ end }}".repeat(100_000), format!("{{{{ \"{}", "\\\"".repeat(1_000_000))] {
        assert_fails(of_template(&template, Map::new()), "c/templates/x.yaml:1", "");
    }
}

/// Each dictionary contains the one before twice, so the last one has 2^60 paths.
#[test]
fn values_with_many_paths_are_an_error() {
    let built = "{{ $s := dict }}{{ range 60 }}{{ $s = dict \"a\" $s \"b\" $s }}{{ end }}";
    for function in ["deepCopy $s", "toJson $s", "merge $s (deepCopy $s)", "printf \"%v\" $s"] {
        let result = of_template(&format!("{built}{{{{ $x := {function} }}}}"), Map::new());
        assert_fails(result, "c/templates/x.yaml:1:", "needs more than 500000 steps");
    }
    let list = "{{ $l := list 1 }}{{ range 60 }}{{ $l = concat $l $l }}{{ end }}";
    assert_fails(of_template(list, Map::new()), "c/templates/x.yaml:1:", STEPS);
}

#[test]
fn schema_that_refers_to_itself_is_left_to_helm() {
    for (schema, is_left) in [
        (r##"{"$ref": "#"}"##, true),
        (
            r##"{"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}}"##,
            true,
        ),
        (r##"{"allOf": [{"$ref": "#"}, {"$ref": "#"}]}"##, true),
        (r##"{"properties": {"a": {"$ref": "#"}}}"##, false),
        (r##"{"$ref": "#/$defs/a", "$defs": {"a": {"properties": {"b": {"$ref": "#/$defs/a"}}}}}"##, false),
    ] {
        let chart = chart(&[("values.schema.json", schema.as_bytes())]);
        let result = rendered(&chart, Map::new(), FEW_STEPS);
        assert_eq!(matches!(result, Err(RenderError::Unsupported(_))), is_left, "{schema}: {result:?}");
    }
}

#[test]
fn large_values_are_an_error() {
    let values = vec![b'#'; (64 << 20) + 1];
    let files = [("Chart.yaml", &b"{apiVersion: v2, name: c, version: 0.1.0}"[..]), ("values.yaml", &values)];
    let files = files.map(|(path, bytes)| ChartFile { path: path.to_owned(), bytes: Arc::from(bytes) });
    let error = Chart::of_directory(files.into(), HelmVersion::V4, LoadLimits::new(HelmVersion::V4))
        .expect_err("a limit");
    assert!(error.is_limit() && error.to_string().contains("more than 67108864 bytes"), "{error}");
}

#[test]
fn deep_values_end_with_an_error_or_are_written() {
    let nested = |levels: usize| format!("{}1{}", "{a: ".repeat(levels), "}".repeat(levels));
    let chart_of = |levels| {
        let files = [
            ("Chart.yaml", "{apiVersion: v2, name: c, version: 0.1.0}".to_owned()),
            ("values.yaml", format!("deep: {}", nested(levels))),
            (
                "templates/x.yaml",
                "# {{ toYaml .Values | sha256sum }} {{ .Values }} {{ deepCopy .Values | toJson }}".to_owned(),
            ),
        ];
        let files =
            files.map(|(path, text)| ChartFile { path: path.to_owned(), bytes: Arc::from(text.as_bytes()) });
        Chart::of_directory(files.into(), HelmVersion::V4, LoadLimits::new(HelmVersion::V4))
    };
    assert!(chart_of(10_000).is_err_and(|error| error.is_limit()));
    assert!(rendered(&chart_of(200).expect("a chart"), Map::new(), FEW_STEPS).is_ok());
    let built = "{{ $d := dict }}{{ range 10000 }}{{ $d = dict \"a\" $d }}{{ end }}{{ toJson $d }}";
    let deep = chart(&[("templates/x.yaml", built.as_bytes())]);
    assert_fails(rendered(&deep, Map::new(), LIMITS), "c/templates/x.yaml:1:", DEPTH);
    let cyclic = "{{ $d := dict }}{{ $_ := set $d \"a\" $d }}{{ toYaml $d }}";
    let cyclic = chart(&[("templates/x.yaml", cyclic.as_bytes())]);
    assert_fails(rendered(&cyclic, Map::new(), LIMITS), "c/templates/x.yaml:1:", DEPTH);
    let merged = "{{ $d := dict }}{{ $_ := set $d \"a\" $d }}{{ $e := dict }}{{ $_ := set $e \"a\" $e }}{{ merge $d $e | len }}{{ deepEqual $d $e }}{{ print $d }}";
    assert_fails(of_template(merged, Map::new()), "c/templates/x.yaml:1:", "");
}

#[test]
fn many_templates_are_rendered() {
    let names: Vec<String> = (0..10_000).map(|number| format!("templates/{number}.yaml")).collect();
    let templates: Vec<(&str, &[u8])> =
        names.iter().map(|name| (name.as_str(), b"kind: {{ .Template.Name | quote }}".as_slice())).collect();
    let output = rendered(&chart(&templates), Map::new(), LIMITS).expect("an output");
    assert_eq!(output.lines().filter(|line| *line == "---").count(), 10_000);
}

#[test]
fn foreign_references_of_schemas_are_not_followed() {
    let references = [
        "https://example.com/schema.json",
        "http://127.0.0.1:1/",
        "file:///etc/passwd",
        "other.json",
        "../other.json",
        "//example.com/x",
        "urn:example:x",
        "/absolute.json#/a",
    ];
    for reference in references {
        for key in ["$ref", "$dynamicRef", "$schema"] {
            let schema = format!("{{\"properties\": {{\"a\": {{\"{key}\": \"{reference}\"}}}}}}");
            let chart = chart(&[("values.schema.json", schema.as_bytes())]);
            let result = rendered(&chart, Map::new(), FEW_STEPS);
            assert!(matches!(result, Err(RenderError::Unsupported(_))), "{key} {reference}: {result:?}");
        }
    }
    // An identifier changes the base of references within the schema.
    let schema = br#"{"$id": "https://example.com/a.json", "properties": {"a": {"$ref": "b.json"}}}"#;
    let result = rendered(&chart(&[("values.schema.json", schema)]), Map::new(), FEW_STEPS);
    assert!(matches!(result, Err(RenderError::Unsupported(_))), "{result:?}");
}

#[test]
fn recursive_schemas_end() {
    let schemas = [
        r##"{"$ref": "#"}"##,
        r##"{"allOf": [{"$ref": "#"}]}"##,
        r##"{"$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}, "$ref": "#/$defs/a"}"##,
        r##"{"additionalProperties": {"$ref": "#"}}"##,
    ];
    for schema in schemas {
        let chart = chart(&[("values.schema.json", schema.as_bytes()), ("values.yaml", b"a: {b: {c: 1}}")]);
        // The result is that of the library; the test is that there is one.
        drop(rendered(&chart, Map::new(), FEW_STEPS));
    }
}

#[test]
fn invalid_utf8_is_kept_or_an_error() {
    let of_bytes = |bytes: &[u8]| rendered(&chart(&[("templates/x.yaml", bytes)]), Map::new(), FEW_STEPS);
    assert_fails(of_bytes(b"kind: \xff"), "c/templates/x.yaml", "YAML parse error");
    assert_fails(of_bytes(b"kind: {{ \"\\xff\" }}"), "c/templates/x.yaml", "YAML parse error");
    assert_fails(of_bytes(b"kind: {{ \xff }}"), "c/templates/x.yaml:1", "");
    assert_fails(of_bytes(b"kind: {{ .\xc3 }}"), "c/templates/x.yaml:1", "");
    let quoted = of_bytes(b"kind: {{ \"\\xff\" | b64enc }}\n# {{ \"\xff\" | len }}").expect("an output");
    assert!(quoted.contains("kind: /w==\n# 3\n"), "{quoted}");
    let invalid_values =
        [("values.yaml", &b"a: \xff"[..]), ("Chart.lock", b"\xff"), ("requirements.yaml", b"\xff")];
    for (path, bytes) in invalid_values {
        let files = [(path, bytes), ("Chart.yaml", b"{apiVersion: v2, name: c, version: 0.1.0}")];
        let files = files.map(|(path, bytes)| ChartFile { path: path.to_owned(), bytes: Arc::from(bytes) });
        let loaded = Chart::of_directory(files.into(), HelmVersion::V4, LoadLimits::new(HelmVersion::V4));
        assert!(loaded.is_err(), "{path}");
    }
}

#[test]
fn nested_charts_without_end_are_an_error() {
    // The files that a caller finds by following a link in `charts` to the chart itself.
    let mut files = Vec::new();
    for depth in 0..30 {
        let path = format!("{}Chart.yaml", "charts/c/".repeat(depth));
        let bytes = b"{apiVersion: v2, name: c, version: 0.1.0, dependencies: [{name: c, version: 0.1.0, repository: 'file://../..'}]}";
        files.push(ChartFile { path, bytes: Arc::from(&bytes[..]) });
    }
    let error =
        Chart::of_directory(files, HelmVersion::V4, LoadLimits::new(HelmVersion::V4)).expect_err("a limit");
    assert!(error.is_limit());
}

#[test]
fn charts_count_once_for_each_alias() {
    let entries = ["a", "b", "c", "d"].map(|alias| format!("{{name: c, version: 0.1.0, alias: {alias}}}"));
    let metadata =
        format!("{{apiVersion: v2, name: c, version: 0.1.0, dependencies: [{}]}}", entries.join(", "));
    // 1, 4, 16, … charts: 1365 of six levels.
    for (levels, expected) in
        [(5, ""), (6, "there are more than 1000 charts, including subcharts; use the helm program")]
    {
        let paths = (0..levels).map(|level| format!("{}Chart.yaml", "charts/c/".repeat(level)));
        let file = |path| ChartFile { path, bytes: Arc::from(metadata.as_bytes()) };
        // The innermost charts have no charts for their aliases, which Helm accepts of subcharts.
        let chart =
            Chart::of_directory(paths.map(file).collect(), HelmVersion::V4, LoadLimits::new(HelmVersion::V4));
        let error = rendered(&chart.expect("a chart"), Map::new(), FEW_STEPS).err();
        assert_eq!(error.map(|error| error.to_string()).unwrap_or_default(), expected);
    }
}

#[test]
fn depth_of_the_default_limits_fits_the_stack() {
    // The frames of an `include` within blocks, parentheses and arguments are the largest.
    let template = "{{ define \"t\" }}{{ with . }}{{ range list . }}{{ if true }}{{ $x := (printf \"%s\" (include (print \"t\" .i) .)) }}{{ end }}{{ end }}{{ end }}{{ end }}";
    let defines: String = (0..2_000)
        .map(|number| {
            template
                .replace("\"t\" }}{{ with", &format!("\"t{number}\" }}}}{{{{ with"))
                .replace("(print \"t\" .i)", &format!("\"t{}\"", number + 1))
        })
        .collect();
    let text = format!("{defines}\n{{{{ include \"t0\" (dict \"i\" 1) }}}}");
    assert_fails(of_template(&text, Map::new()), "", DEPTH);
    let tpl = "{{ with . }}{{ range list . }}{{ if true }}{{ (tpl (print $.Values.t) $) }}{{ end }}{{ end }}{{ end }}";
    assert_fails(of_template("{{ tpl .Values.t . }}", self::text("t", tpl)), "c/templates/x.yaml:1:", DEPTH);
}
