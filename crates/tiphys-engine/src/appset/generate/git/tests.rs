use std::time::UNIX_EPOCH;

use serde_json::{Value, json};
use tiphys_model::resources::ApplicationSet;
use tiphys_yaml::read_json;

use crate::appset::{Answers, GenerateOptions, Generated, TemplateProject, generate};

/// Generates a set whose repository has the file `a/f.yaml`.
fn generated(generator: &Value, project: &str, template_project: TemplateProject) -> Generated {
    let set = json!({"metadata": {"name": "set"}, "spec": {
        "goTemplate": true,
        "goTemplateOptions": ["missingkey=error"],
        "generators": [{"git": generator}],
        "template": {"metadata": {"name": "x"}, "spec": {"project": project}},
    }});
    let document = read_json(set.to_string().as_bytes()).expect("JSON");
    let set = ApplicationSet::decode(&document).expect("a set").value;
    let options = GenerateOptions { template_project, ..GenerateOptions::at(UNIX_EPOCH) };
    let mut answers = Answers::default();
    loop {
        let generated = generate(&set, &answers, options).expect("valid options");
        let Some(question) = generated.questions.first() else {
            return generated;
        };
        let entry = match question.request.get("files") {
            Some(_) => json!({"path": "a/f.yaml", "content": "x: [-0.0, -0, 0]"}),
            None => json!({"path": "a"}),
        };
        answers.insert(question, Ok(entry.as_object().cloned().into_iter().collect()));
    }
}

#[test]
fn errors_have_the_words_of_argo_cd() {
    const VALUES: &str =
        r#"template: base:1:3: executing "base" at <.none>: map has no entry for key "none""#;
    let git = |key: &str, path: &str| json!({"repoURL": "https://r", "revision": "HEAD", key: [{"path": path}], "values": {"v": "{{ .none }}"}});
    let empty = json!({"repoURL": "https://r", "revision": "HEAD"});
    let missing =
        |name: &str| format!("error getting project {name}: appprojects.argoproj.io {name:?} not found");
    for (generator, project, template_project, expected) in [
        (&empty, "p", TemplateProject::Assumed, "ApplicationSet is empty".to_owned()),
        (&empty, "p", TemplateProject::Missing, missing("p")),
        (&git("directories", "*"), "p", TemplateProject::Missing, missing("p")),
        (&git("files", "*"), "", TemplateProject::Missing, missing("")),
        (
            &git("directories", "*"),
            "{{ .p }}",
            TemplateProject::Missing,
            format!(
                "error generating params from git: error generating params from apps: failed to append templated values: failed to replace templated string: failed to replace templated string with rendered values: failed to execute go template {{{{ .none }}}}: {VALUES}"
            ),
        ),
        (
            &git("files", "*"),
            "p",
            TemplateProject::Assumed,
            format!(
                "error generating params from git: unable to process file 'a/f.yaml' from repository 'https://r': failed to append templated values: failed to replace templated string: failed to replace templated string with rendered values: failed to execute go template {{{{ .none }}}}: {VALUES}"
            ),
        ),
    ] {
        let generated = generated(generator, project, template_project);
        let error = generated.errors.first().map(|error| &error.message);
        assert_eq!(error, Some(&expected), "{generator}");
    }
}

#[test]
fn negative_zero_of_a_file_keeps_its_sign() {
    let generator = json!({"repoURL": "https://r", "revision": "HEAD", "files": [{"path": "*"}],
        "values": {"v": "{{ .x }}"}});
    let generated = generated(&generator, "p", TemplateProject::Assumed);
    // As in go-yaml, `-0` is an integer.
    assert_eq!(generated.applications[0].parameters.values["values"]["v"], "[-0 0 0]");
}
