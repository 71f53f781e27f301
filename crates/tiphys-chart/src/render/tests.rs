use std::time::SystemTime;

use tiphys_helm_values::{HelmVersion, Map};

use super::{KubeVersion, LIMITS, Parts, Release, RunOptions, render};
use crate::{Chart, RenderError, TemplateCache, chart_of};

#[test]
fn kubernetes_version_keeps_its_numbers() {
    for (text, expected) in [
        ("1.30.2", Some(("v1.30.2", "1", "30"))),
        ("v1.28", Some(("v1.28", "1", "28"))),
        ("1.28.3.4", Some(("v1.28.3.4", "1", "28"))),
        ("1", None),
        ("1.030", None),
        ("1.30.2-gke", None),
        ("", None),
    ] {
        let found = KubeVersion::parse(text);
        let found = found.as_ref().map(|one| (&*one.version, &*one.major, &*one.minor));
        assert_eq!(found, expected, "{text}");
    }
}

/// Of helm's subcharts, which it loads in a random order, the last counts.
#[test]
fn templates_of_one_name_are_rendered_once() {
    let files = [
        ("Chart.yaml", "{apiVersion: v2, name: c, version: 0.1.0}"),
        ("charts/a/Chart.yaml", "{apiVersion: v2, name: twin, version: 1.0.0}"),
        ("charts/a/templates/x.yaml", "kind: First"),
        ("charts/b/Chart.yaml", "{apiVersion: v2, name: twin, version: 2.0.0}"),
        ("charts/b/templates/x.yaml", "kind: {{ .Chart.Version }}"),
    ];
    let rendered = rendered(&chart_of(&files, HelmVersion::V4).unwrap()).unwrap();
    assert_eq!(rendered, "---\n# Source: c/charts/twin/templates/x.yaml\nkind: 2.0.0\n");
}

#[test]
fn unsupported_function_is_named_with_its_own_place() {
    let files = [
        ("Chart.yaml", "{apiVersion: v2, name: c, version: 0.1.0}"),
        ("templates/_h.tpl", "{{ define \"own\" }}{{ genCA \"x\" 1 }}{{ end }}"),
        ("templates/x.yaml", "\n{{ include \"own\" . }}"),
    ];
    let error = rendered(&chart_of(&files, HelmVersion::V4).unwrap()).unwrap_err().to_string();
    let (place, rest) = error.split_once(": genCA: ").unwrap();
    assert_eq!(place, "c/templates/_h.tpl:1:21");
    assert!(rest.contains(", included at c/templates/x.yaml:2:3"), "{error}");
    let of_text = [files[0], ("templates/x.yaml", "{{ tpl \"{{ genCA \\\"x\\\" 1 }}\" . }}")];
    let error = rendered(&chart_of(&of_text, HelmVersion::V4).unwrap()).unwrap_err().to_string();
    assert!(error.starts_with("c/templates/x.yaml:1:3: genCA: "), "{error}");
}

fn rendered(chart: &Chart) -> Result<String, RenderError> {
    let release = Release {
        name: "release".to_owned(),
        namespace: "space".to_owned(),
        kube_version: KubeVersion::default(),
        api_versions: Vec::new(),
    };
    let (now, cache) = (SystemTime::UNIX_EPOCH, &TemplateCache::default());
    let options = RunOptions { rules: HelmVersion::V4, now, random: 1, limits: LIMITS, cache };
    let parts = Parts { crds: true, tests: true, schema_validation: true };
    render(chart, Map::new(), &release, parts, options)
}
