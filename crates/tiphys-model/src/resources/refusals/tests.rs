use tiphys_yaml::read_document;

use crate::resources::Application;

/// Returns the reasons with their positions.
fn refusals(document: &str) -> Vec<String> {
    let node = read_document(document.as_bytes()).unwrap().unwrap();
    let refused = Application::decode(&node).unwrap().findings.refused;
    let shown = |position: tiphys_yaml::Position| format!("{}:{}", position.line, position.column);
    refused
        .into_iter()
        .map(|one| format!("{} {}", one.position.map(shown).unwrap_or_default(), one.message))
        .collect()
}

#[test]
fn application_that_argo_cd_refuses_has_the_reasons() {
    let head = "apiVersion: argoproj.io/v1alpha1\nkind: Application\n";
    let cases: [(&str, &[&str]); 14] = [
        ("spec: {source: {repoURL: a, path: b}, destination: {name: c}}", &[]),
        ("spec: {source: {repoURL: a, chart: b, targetRevision: '1'}, destination: {}}", &[]),
        (
            "spec: {source: {repoURL: a, path: b}}",
            &["3:7 spec: there is no destination; add spec.destination"],
        ),
        (
            "spec: {source: {repoURL: a, path: b}, destination: null}",
            &["3:7 spec: there is no destination; add spec.destination"],
        ),
        (
            "spec: {source: {repoURL: a}, destination: {}}",
            &["3:16 spec.source: there is neither path nor chart; the root of a repository is path: ."],
        ),
        (
            "spec: {source: {repoURL: a, path: b, chart: c}, destination: {}}",
            &["3:16 spec.source: there are path and chart; a chart of a Helm repository has no path"],
        ),
        (
            "spec: {source: {repoURL: a, chart: c}, destination: {}}",
            &["3:16 spec.source: a chart needs a targetRevision"],
        ),
        ("spec: {source: {path: b}, destination: {}}", &["3:16 spec.source: there is no repoURL"]),
        // Only sources of a list are for others.
        ("spec: {sources: [{repoURL: a, path: b}, {repoURL: a, ref: values}], destination: {}}", &[]),
        (
            "spec: {sources: [{repoURL: a, path: b}, {repoURL: a}], destination: {}}",
            &["3:41 spec.sources[1]: there is neither path nor chart; the root of a repository is path: ."],
        ),
        (
            "spec: {source: {repoURL: a, ref: values}, destination: {}}",
            &["3:16 spec.source: there is neither path nor chart; the root of a repository is path: ."],
        ),
        (
            "spec: {source: {repoURL: a, path: b}, destination: {name: c, server: d}}",
            &["3:52 spec.destination: there are name and server; a destination has one of them"],
        ),
        (
            "spec: {source: {repoURL: a, path: b}, destination: {}, revisionHistoryLimit: many}",
            &["3:78 spec.revisionHistoryLimit: expected an integer, found a string"],
        ),
        ("spec: {sourceHydrator: {drySource: {}}, destination: {}}", &[]),
    ];
    for (spec, expected) in cases {
        assert_eq!(refusals(&format!("{head}{spec}")), expected, "{spec}");
    }
    let named = "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: W_x}\nspec: {source: {repoURL: a, path: b}, destination: {}}";
    let rule = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character";
    assert_eq!(refusals(named), [format!("3:18 metadata.name: \"W_x\" is not valid: {rule}")]);
    let other = "apiVersion: argoproj.io/v1\nkind: Application\nspec: {source: {repoURL: a, path: b}, destination: {}}";
    let expected = ["1:13 apiVersion: \"argoproj.io/v1\" is not known; write argoproj.io/v1alpha1"];
    assert_eq!(refusals(other), expected);
}

#[test]
fn unknown_field_has_a_suggestion() {
    let document = "apiVersion: argoproj.io/v1alpha1\nkind: Application\nspec:\n  destination: {}\n  source: {repoURL: a, path: b, helm: {valuesFiles: [c], zzz: 1}}";
    let node = read_document(document.as_bytes()).unwrap().unwrap();
    let unknown = Application::decode(&node).unwrap().findings.unknown;
    let messages: Vec<String> = unknown.iter().map(ToString::to_string).collect();
    let expected = [
        "spec.source.helm.valuesFiles is not known and ignored; did you mean valueFiles?",
        "spec.source.helm.zzz is not known and ignored",
    ];
    assert_eq!(messages, expected);
}
