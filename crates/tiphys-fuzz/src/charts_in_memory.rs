//! Charts of any bytes are loaded within their limits or refused, no path leads out of them, and templates render in the same way whatever
//! other files are empty.

use std::io::Write as _;
use std::sync::Arc;
use std::time::SystemTime;

use flate2::Compression;
use flate2::write::GzEncoder;
use tiphys_chart::{
    Chart, ChartFile, KubeVersion, LoadLimits, Parts, Release, RenderError, RunOptions, TemplateCache, render,
};
use tiphys_go::gotemplate::Limits;
use tiphys_helm_values::{HelmVersion, Map};

use crate::archive::mend_checksums;

/// Limits of loading that inputs of a few KiB reach.
const LOAD_LIMITS: LoadLimits = LoadLimits {
    bytes: 256 << 10,
    file_bytes: None,
    entries: 100,
    depth: 4,
    charts: 20,
    values_bytes: 256 << 10,
    dependencies: 20,
    ignore_rules: 20,
};

/// Limits that keep a run short.
const LIMITS: Limits = Limits { steps: 5_000, output_bytes: 64 << 10, depth: 50 };

/// The template of [`template_body`].
const TEMPLATE: &str = "templates/t.yaml";

const VALUES: &[u8] = br#"
name: a-b
number: 1234567.5
flag: true
nothing: null
list: [b, 1, null, [c]]
map: {a: {b: c}, n: 1}
text: "{{ .Values.name }}"
global: {g: {h: 1}}
sub: {v: 2}
"#;

/// The bytes are the tar of a chart's archive. Checksums of headers are corrected.
pub(crate) fn archive_body(bytes: &[u8]) {
    let mut tar = bytes.to_vec();
    mend_checksums(&mut tar);
    let mut gzip = GzEncoder::new(Vec::new(), Compression::none());
    gzip.write_all(&tar).expect("memory takes everything");
    let gzip = gzip.finish().expect("memory takes everything");
    for version in [HelmVersion::V3, HelmVersion::V4] {
        let load = || Chart::of_archive(&gzip, version, LOAD_LIMITS);
        match (load(), load()) {
            (Ok(chart), Ok(again)) => {
                assert_eq!(format!("{chart:?}"), format!("{again:?}"), "the same again");
                let total = check(&chart, 1);
                assert!(total.bytes <= LOAD_LIMITS.bytes && total.charts <= LOAD_LIMITS.charts);
                assert_eq!(rendered(&chart, version), rendered(&again, version), "the same again");
            }
            (Err(error), Err(again)) => assert_eq!(error.to_string(), again.to_string(), "the same again"),
            (one, other) => panic!("{one:?}, and again {other:?}"),
        }
    }
}

struct Total {
    bytes: u64,
    charts: usize,
}

/// Checks a chart and its subcharts, and adds up what they contain.
fn check(chart: &Chart, depth: usize) -> Total {
    assert!(depth <= LOAD_LIMITS.depth);
    assert!(!chart.metadata.name.is_empty() && !chart.metadata.name.contains('/'));
    let mut total = Total { bytes: 0, charts: 1 };
    for file in chart.templates.iter().chain(&chart.files) {
        let is_plain = |part: &str| !part.is_empty() && part != "." && part != "..";
        assert!(file.path.split('/').all(is_plain), "{:?}", file.path);
        total.bytes += file.bytes.len() as u64;
    }
    assert!(chart.templates.iter().all(|file| file.path.starts_with("templates/")));
    assert!(chart.files.iter().all(|file| !file.path.starts_with("templates/") && file.path != "Chart.yaml"));
    for subchart in &chart.subcharts {
        let inner = check(subchart, depth + 1);
        total.bytes += inner.bytes;
        total.charts += inner.charts;
    }
    total
}

/// The bytes are a template of a chart.
pub(crate) fn template_body(bytes: &[u8]) {
    for rules in [HelmVersion::V3, HelmVersion::V4] {
        template_by(bytes, rules);
    }
}

fn template_by(bytes: &[u8], rules: HelmVersion) {
    let chart_of = |others: &[(&str, &[u8])]| {
        let own = [
            ("Chart.yaml", &b"{apiVersion: v2, name: c, version: 0.1.0, annotations: {a: b}}"[..]),
            ("values.yaml", VALUES),
            ("file.txt", b"one\ntwo\n"),
            ("templates/_h.tpl", b"{{ define \"h\" }}[{{ . }}]{{ end }}"),
            ("charts/sub/Chart.yaml", b"{apiVersion: v2, name: sub, version: 0.1.0}"),
            (TEMPLATE, bytes),
        ];
        let files = own.iter().chain(others);
        let files =
            files.map(|(path, bytes)| ChartFile { path: (*path).to_owned(), bytes: Arc::from(*bytes) });
        Chart::of_directory(files.collect(), rules, LoadLimits::new(rules)).expect("a chart")
    };
    let result = rendered(&chart_of(&[]), rules);
    let empty_files =
        [("templates/_z.tpl", &b""[..]), ("templates/a/empty.yaml", b" \n"), ("charts/sub/templates/z", b"")];
    let with_empty = rendered(&chart_of(&empty_files), rules);
    // Empty files take a few steps.
    let is_limit = |result: &Result<_, _>| matches!(result, Err(RenderError::Limit { .. }));
    if !is_limit(&result) && !is_limit(&with_empty) {
        assert_eq!(result, with_empty, "empty files change nothing");
    }
    match (result, str::from_utf8(bytes)) {
        (Ok(output), Ok(text)) => {
            assert!(output.ends_with('\n'));
            let is_plain = ["{{", "---", "<no value>", "\u{feff}"].iter().all(|part| !text.contains(part));
            // Hooks of unknown events are dropped.
            if is_plain && !text.contains("hook") {
                assert!(output.contains(text.trim()), "{text:?} gives {output:?}");
            }
        }
        (Ok(_), Err(_)) => {}
        (Err(error), _) => assert!(error.to_string().contains("c/templates/"), "{error}"),
    }
}

fn rendered(chart: &Chart, rules: HelmVersion) -> Result<String, RenderError> {
    let release = Release {
        name: "release".to_owned(),
        namespace: "space".to_owned(),
        kube_version: KubeVersion::default(),
        api_versions: Vec::new(),
    };
    let options = RunOptions {
        rules,
        now: SystemTime::UNIX_EPOCH,
        random: 1,
        limits: LIMITS,
        cache: &TemplateCache::default(),
    };
    let parts = Parts { crds: true, tests: true, schema_validation: true };
    render(chart, Map::new(), &release, parts, options)
}
