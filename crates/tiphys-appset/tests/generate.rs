//! Recorded answers of Argo CD for whole sets. The services that plugins ask are simple here: they answer with a list.

use std::time::UNIX_EPOCH;

use serde_json::{Map, Value, json};
use tiphys_api::ApplicationSet;
use tiphys_appset::{Answer, Answers, GenerateErrorReason, Question, generate};
use tiphys_glob::FilePattern;
use tiphys_gotemplate::Options;
use tiphys_testkit::oracle::{self, Difference};
use tiphys_yaml::{read_json, write_go_json};

/// Questions lead to questions once for each level of generators.
const ROUNDS_MAX: usize = 4;

/// What parsers of YAML and JSON say is not the same.
const PARSER: &str = "error converting YAML to JSON: ";

#[test]
fn sets_generate_recorded_applications() {
    oracle::check("appset-generate", |case| {
        let answer = answer(&case["input"])?;
        let output = &case["output"];
        let outputs = output["alternatives"].as_array().cloned().unwrap_or_else(|| vec![output.clone()]);
        // A program that does not panic may succeed, or report an error.
        let has_panicked = outputs.iter().any(|output| output.get("panic").is_some());
        let recorded: Vec<Value> = outputs.iter().map(recorded).collect();
        let is_recorded = recorded.iter().any(|recorded| is_equal(&answer, recorded));
        Some(if has_panicked || is_recorded { Ok(()) } else { Err(Difference::new(answer, &recorded[0])) })
    });
}

/// The error with its reason, or the applications in the order of their JSON.
fn recorded(output: &Value) -> Value {
    match output.get("error").or(output.get("decodeError")).or(output.get("panic")) {
        Some(error) => json!([output["reason"], without_parser(error.as_str().expect("a string"))]),
        None => sorted(output["applications"].as_array().expect("a list").clone()),
    }
}

/// Our errors may have more details at their end.
fn is_equal(answer: &Value, recorded: &Value) -> bool {
    match (answer[1].as_str(), recorded[1].as_str()) {
        (Some(ours), Some(recorded_error)) => answer[0] == recorded[0] && ours.starts_with(recorded_error),
        _ => answer == recorded,
    }
}

fn without_parser(error: &str) -> String {
    let error = error.split_once(PARSER).map_or(error, |(before, _)| before);
    error.replace("unexpected end of JSON input", "")
}

fn sorted(mut applications: Vec<Value>) -> Value {
    applications.sort_by_cached_key(write_go_json);
    Value::from(applications)
}

/// Returns what [`recorded`] should be; none if a service does not simply answer with a list.
fn answer(input: &Value) -> Option<Value> {
    let text = input["applicationSet"].to_string();
    let set = match ApplicationSet::decode(&read_json(text.as_bytes()).expect("JSON")) {
        Ok(set) => set.value,
        Err(error) => return Some(json!([null, error.to_string()])),
    };
    let options = Options::new(UNIX_EPOCH, 0);
    let mut answers = Answers::default();
    for _ in 0..ROUNDS_MAX {
        let generated = match generate(&set, &answers, options) {
            Ok(generated) => generated,
            Err(error) => return Some(json!([null, error.to_string()])),
        };
        for question in &generated.questions {
            answers.insert(question, asked(input, question)?);
        }
        if generated.questions.is_empty() {
            return Some(match generated.errors.first() {
                Some(error) => {
                    let reason = match error.reason {
                        GenerateErrorReason::Generator => "ApplicationGenerationFromParamsError",
                        GenerateErrorReason::Template => "RenderTemplateParamsError",
                    };
                    let message =
                        error.message.replace("line 1, column 10: expected a value, the text ends", "");
                    json!([reason, without_parser(&message)])
                }
                None => sorted(
                    generated.applications.into_iter().map(|generated| generated.application).collect(),
                ),
            });
        }
    }
    panic!("more than {ROUNDS_MAX} rounds of questions")
}

fn asked(input: &Value, question: &Question) -> Option<Answer> {
    match question.generator {
        "clusters" => Some(Ok(clusters(input))),
        "git" => Some(git(&input["git"], &question.request)),
        "plugin" => plugin(input, &question.request),
        other => panic!("no case asks {other}"),
    }
}

fn objects<'a>(input: &'a Value, kind: &str) -> impl Iterator<Item = &'a Value> {
    let objects = input["objects"].as_array().into_iter().flatten();
    let namespace = &input["controllerNamespace"];
    objects.filter(move |object| object["kind"] == kind && object["metadata"]["namespace"] == *namespace)
}

fn data(secret: &Value, key: &str) -> String {
    let encoded = secret["data"][key].as_str().unwrap_or_default();
    String::from_utf8(oracle::base64(encoded)).expect("UTF-8")
}

fn clusters(input: &Value) -> Vec<Map<String, Value>> {
    let is_cluster =
        |secret: &&Value| secret["metadata"]["labels"]["argocd.argoproj.io/secret-type"] == "cluster";
    let cluster = |secret: &Value| {
        let metadata = &secret["metadata"];
        let mut cluster = Map::new();
        for key in ["name", "server", "project"] {
            cluster.insert(key.to_owned(), Value::from(data(secret, key)));
        }
        for key in ["labels", "annotations"] {
            cluster.insert(key.to_owned(), metadata[key].clone());
        }
        cluster
    };
    objects(input, "Secret").filter(is_cluster).map(cluster).collect()
}

fn git(git: &Value, request: &Value) -> Answer {
    if let Some(error) = git["error"].as_str() {
        return Err(error.to_owned());
    }
    let files = git["files"].as_object().into_iter().flatten();
    let object = |value: Value| value.as_object().cloned().expect("an object");
    Ok(match request["files"].as_str() {
        None => {
            let visible = files.map(|(path, _)| path).filter(|path| !path.starts_with('.'));
            let parents = |path: &String| {
                let slashes: Vec<usize> = path.match_indices('/').map(|(at, _)| at).collect();
                slashes.into_iter().map(|at| path[..at].to_owned()).collect::<Vec<_>>()
            };
            let directories: std::collections::BTreeSet<String> = visible.flat_map(parents).collect();
            directories.into_iter().map(|path| object(json!({"path": path}))).collect()
        }
        Some(pattern) => {
            let pattern = if git["newFileGlobbing"] == true {
                FilePattern::with_double_star(pattern)
            } else {
                FilePattern::of_git(pattern)
            };
            let pattern = pattern.expect("a pattern");
            let matching = files.filter(|(path, _)| pattern.matches(path));
            matching.map(|(path, content)| object(json!({"path": path, "content": content}))).collect()
        }
    })
}

fn plugin(input: &Value, request: &Value) -> Option<Answer> {
    let name = request["configMap"].as_str()?;
    let config_map = objects(input, "ConfigMap").find(|object| object["metadata"]["name"] == name);
    let Some(config_map) = config_map else {
        return Some(Err(format!(
            "error getting plugin from generator: error fetching ConfigMap: configmaps {name:?} not found"
        )));
    };
    let has_service = config_map["data"] == json!({"baseUrl": "$BASE", "token": "$plugin.token"});
    let body = write_go_json(&request["body"]);
    let fits = |answer: &&Value| match answer.get("body") {
        None => true,
        Some(expected) => expected.as_str() == Some(&body),
    };
    let answer = input["pluginAnswers"].as_array().into_iter().flatten().find(fits)?;
    let is_simple = answer.get("path").is_none()
        && answer["status"] == 200
        && ["gzip", "delayMs"].iter().all(|key| answer.get(key).is_none());
    if !has_service || !is_simple {
        return None;
    }
    let response: Value = serde_json::from_str(answer["response"].as_str()?).ok()?;
    let list = response["output"]["parameters"].as_array()?;
    list.iter().map(|object| object.as_object().cloned()).collect::<Option<_>>().map(Ok)
}
