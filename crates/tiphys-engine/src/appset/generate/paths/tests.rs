use std::time::UNIX_EPOCH;

use serde_json::{Value, json};
use tiphys_model::resources::ApplicationSet;
use tiphys_yaml::read_json;

use crate::appset::{Answers, GenerateOptions, Generated, TemplateProject, generate};

/// Generates a set with a generator of the kind, whose repository has the file `a/f.yaml`.
fn generated(kind: &str, generator: &Value, project: &str, template_project: TemplateProject) -> Generated {
    let set = json!({"metadata": {"name": "set"}, "spec": {
        "goTemplate": true,
        "goTemplateOptions": ["missingkey=error"],
        "generators": [{kind: generator}],
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
        let known_project = if project.contains("{{") { "" } else { project };
        assert_eq!((question.generator, &question.request["project"]), (kind, &json!(known_project)));
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
    let settings = |key: &str, path: &str| json!({"repoURL": "https://r", "revision": "HEAD", key: [{"path": path}], "values": {"v": "{{ .none }}"}});
    let empty = json!({"repoURL": "https://r", "revision": "HEAD"});
    let missing =
        |name: &str| format!("error getting project {name}: appprojects.argoproj.io {name:?} not found");
    let replaced = format!(
        "failed to append templated values: failed to replace templated string: failed to replace templated string with rendered values: failed to execute go template {{{{ .none }}}}: {VALUES}"
    );
    let of_directories = |kind: &str| {
        format!("error generating params from {kind}: error generating params from apps: {replaced}")
    };
    let of_files = |kind: &str| {
        format!(
            "error generating params from {kind}: unable to process file 'a/f.yaml' from repository 'https://r': {replaced}"
        )
    };
    let nothing = || "ApplicationSet is empty".to_owned();
    let (directories, files) = (settings("directories", "*"), settings("files", "*"));
    let (assumed, absent) = (TemplateProject::Assumed, TemplateProject::Missing);
    for (kind, generator, project, template_project, expected) in [
        ("git", &empty, "p", assumed, nothing()),
        ("git", &empty, "p", absent, missing("p")),
        ("git", &directories, "p", absent, missing("p")),
        ("git", &files, "", absent, missing("")),
        ("git", &directories, "{{ .p }}", absent, of_directories("git")),
        ("git", &files, "p", assumed, of_files("git")),
        // Only signatures of git need the project.
        ("oci", &empty, "p", absent, nothing()),
        ("oci", &directories, "p", absent, of_directories("oci")),
        ("oci", &directories, "{{ .p }}", absent, of_directories("oci")),
        ("oci", &files, "p", absent, of_files("oci")),
    ] {
        let generated = generated(kind, generator, project, template_project);
        let error = generated.errors.first().map(|error| &error.message);
        assert_eq!(error, Some(&expected), "{kind} {generator}");
    }
}

#[test]
fn artefact_has_the_parameters_of_a_repository() {
    let directories = json!([{"path": "*"}, {"path": "b", "exclude": true}]);
    let files = json!([{"path": "**"}]);
    for fields in [
        json!({"directories": directories}),
        json!({"files": files}),
        json!({"directories": directories, "files": files, "pathParamPrefix": "x"}),
    ] {
        let mut generator = json!({"repoURL": "oci://r/a", "revision": "^1", "values": {"v": "{{ . }}"}});
        generator.as_object_mut().expect("an object").extend(fields.as_object().cloned().expect("an object"));
        let [git, oci] = ["git", "oci"].map(|kind| {
            let generated = generated(kind, &generator, "p", TemplateProject::Assumed);
            let parameters = generated.applications.into_iter().map(|application| application.parameters);
            parameters.collect::<Vec<_>>()
        });
        assert!(git.len() == 1 && git == oci, "{generator}: {git:?} {oci:?}");
    }
}

#[test]
fn negative_zero_of_a_file_keeps_its_sign() {
    let generator = json!({"repoURL": "https://r", "revision": "HEAD", "files": [{"path": "*"}],
        "values": {"v": "{{ .x }}"}});
    let generated = generated("git", &generator, "p", TemplateProject::Assumed);
    // As in go-yaml, `-0` is an integer.
    assert_eq!(generated.applications[0].parameters.values["values"]["v"], "[-0 0 0]");
}
