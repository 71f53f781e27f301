use tiphys_go::gotemplate::Limits;
use tiphys_model::resources::ApplicationSet;
use tiphys_yaml::read_document;

use super::check_set;

/// `line:column rule: message` of each finding of a set with these lines below `spec`.
fn findings(spec: &str) -> Vec<String> {
    let text = format!("metadata: {{name: s}}\nspec:\n{spec}");
    let node = read_document(text.as_bytes()).expect("YAML").expect("a document");
    let decoded = ApplicationSet::decode(&node).expect("a set");
    let jq = |expression: &str| -> Result<crate::appset::JqRemoval, String> {
        if expression.starts_with('.') {
            Ok(std::sync::Arc::new(|_| Ok(())))
        } else {
            Err("unexpected token".to_owned())
        }
    };
    let shown = |finding: &super::SetFinding| {
        format!("{} {}: {}", finding.position, finding.rule.name(), finding.message)
    };
    check_set(&decoded, Limits::DEFAULT, &jq).iter().map(shown).collect()
}

const NAMED: &str = "  template: {metadata: {name: '{{name}}'}, spec: {}}\n";

#[test]
fn mistakes_of_generators_are_found() {
    for (generators, expected) in [
        ("[{list: {elements: [{name: a}]}}]", vec![]),
        ("[]", vec!["3:15 generator: spec.generators: has no generator"]),
        ("[{}]", vec!["3:16 generator: spec.generators[0]: has no generator"]),
        (
            "[{lst: {}}]",
            vec![
                "3:17 unknown-field: spec.generators[0].lst is not known and ignored; did you mean list?",
                "3:17 generator: spec.generators[0].lst is not a generator here; did you mean list?",
            ],
        ),
        (
            "[{list: {elements: []}, clusters: {}}]",
            vec!["3:16 no-effect: spec.generators[0]: has several generators; write an entry for each"],
        ),
        (
            "[{list: {elements: [{name: a, count: 1}]}}]",
            vec![
                "3:52 refused: spec.generators[0].list.elements[0].count: is not a string, which needs goTemplate: true",
            ],
        ),
        (
            "[{git: {repoURL: u, revision: HEAD}}]",
            vec!["3:22 refused: spec.generators[0].git: names neither directories nor files"],
        ),
        (
            "[{oci: {repoURL: u, revision: ^1}}, {oci: {directories: [{path: a}], files: [{path: b}]}}]",
            vec![
                "3:22 refused: spec.generators[0].oci: names neither directories nor files",
                "3:91 no-effect: spec.generators[1].oci.files: has no effect beside directories",
            ],
        ),
        (
            "[{matrix: {generators: [{clusters: {}}]}}]",
            vec!["3:38 generator: spec.generators[0].matrix.generators: a matrix has exactly two generators"],
        ),
        (
            "[{merge: {mergeKeys: [], generators: [{clusters: {}}, {clusters: {}, list: {elements: []}}]}}]",
            vec![
                "3:36 generator: spec.generators[0].merge.mergeKeys: a merge needs keys",
                "3:69 generator: spec.generators[0].merge.generators[1]: has several generators, of which none runs",
            ],
        ),
        (
            "[{clusters: {}, selector: {matchLabels: {env: '{{x}}'}}}]",
            vec![
                "3:41 no-effect: spec.generators[0].selector: selectors are read before templates, so a template in them never matches",
            ],
        ),
        ("[{clusters: {values: {v: '{{a'}}}]", vec![]),
    ] {
        assert_eq!(findings(&format!("  generators: {generators}\n{NAMED}")), expected, "{generators}");
    }
}

#[test]
fn mistakes_of_templates_and_settings_are_found() {
    let list = "  generators: [{list: {elements: [{name: a}, {name: b}]}}]\n";
    for (rest, expected) in [
        (
            "  template: {metadata: {name: '{{ .name }}'}, spec: {}}\n",
            vec![
                "4:31 no-effect: spec.template.metadata.name: {{.name}} is never replaced without goTemplate: true",
            ],
        ),
        (
            "  goTemplate: true\n  template: {metadata: {name: '{{ .name | nope }}'}, spec: {}}\n",
            vec![
                "5:31 template: spec.template.metadata.name: template: base:1: function \"nope\" not defined",
            ],
        ),
        (
            "  template: {metadata: {name: a}, spec: {}}\n",
            vec![
                "4:31 name: spec.template.metadata.name: is the same for all Applications, so none is created",
            ],
        ),
        (
            "  template: {metadata: {}, spec: {}}\n",
            vec!["4:24 name: spec.template.metadata.name: is missing, so no Application has a name"],
        ),
        (
            "  goTemplate: true\n  goTemplateOptions: [missingkey=never]\n  template: {metadata: {name: '{{.name}}'}, spec: {}}\n  templatePatch: '{{ if }}'\n",
            vec![
                "5:22 refused: spec.goTemplateOptions: unrecognized option: missingkey=never; use missingkey=default, missingkey=invalid, missingkey=zero or missingkey=error",
                "7:18 template: spec.templatePatch: template: base:1: missing value for if",
            ],
        ),
        (
            "  syncPolicy: {applicationsSync: never}\n  ignoreApplicationDifferences: [{jqPathExpressions: [.a, '|']}]\n  template: {metadata: {name: '{{name}}'}, spec: {}}\n",
            vec![
                "4:34 refused: spec.syncPolicy.applicationsSync: \"never\" is not a policy; use create-only, create-update, create-delete or sync",
                "5:59 refused: spec.ignoreApplicationDifferences[0].jqPathExpressions[1]: unexpected token",
            ],
        ),
        (
            "  template: {metadata: {name: '{{name}}', name: '{{name}}'}, spec: {}, more: 1}\n",
            vec![
                "4:43 repeated-key: spec.template.metadata.name is given twice; the last one counts",
                "4:72 unknown-field: spec.template.more is not known and ignored",
            ],
        ),
    ] {
        assert_eq!(findings(&format!("{list}{rest}")), expected, "{rest}");
    }
}

#[test]
fn literal_name_is_an_error_only_of_several_elements() {
    let template = "  template: {metadata: {name: a}, spec: {project: '{{name}}'}}\n";
    for (generators, is_error) in [
        ("[{list: {elements: [{name: a}]}}]", false),
        ("[{list: {elements: [{name: a}, {name: b}]}}]", true),
        ("[{list: {elements: [{name: a}]}}, {list: {elements: [{name: b}]}}]", true),
        ("[{list: {elements: [{name: a}, {name: b}]}, selector: {matchLabels: {name: a}}}]", false),
        ("[{clusters: {}}]", false),
        ("[{plugin: {configMapRef: {name: p}}}]", false),
    ] {
        let found = findings(&format!("  generators: {generators}\n{template}"));
        assert_eq!(!found.is_empty(), is_error, "{generators}: {found:?}");
    }
}
