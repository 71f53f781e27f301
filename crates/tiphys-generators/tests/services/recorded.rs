//! Recorded sets with plugins, asked over HTTP: Applications, errors and requests.

use std::collections::BTreeMap;
use std::time::UNIX_EPOCH;

use serde_json::{Map, Value, json};
use tiphys_engine::appset::{Answer, Answers, GenerateErrorReason, GenerateOptions, Question, generate};
use tiphys_generators::{PluginForm, PluginLimits, PluginQuestion, PluginServices};
use tiphys_model::resources::ApplicationSet;
use tiphys_testkit::canned_server::CannedServer;
use tiphys_testkit::chart_server::Request;
use tiphys_testkit::oracle::{self, Difference};
use tiphys_testkit::recorded_sets::{
    canned, clusters, data, git, has_panicked, is_equal, objects, ours, outputs, recorded,
};
use tiphys_yaml::read_json;

use crate::world::World;

#[tokio::test]
async fn sets_with_plugins_generate_recorded_applications() {
    let mut answers = BTreeMap::new();
    for case in oracle::cases("appset-generate") {
        if let Some((server, applications)) = generated(&case["input"]).await {
            let requests: Vec<Value> = server.requests().iter().map(shown).collect();
            let answer = json!([applications, requests]).to_string();
            let answer = answer.replace(&server.url(), "$BASE").replace(&server.host(), "$HOST");
            answers.insert(case["id"].to_string(), serde_json::from_str::<Value>(&answer).expect("JSON"));
        }
    }
    oracle::check("appset-generate.plugin", |case| {
        let answer = answers.remove(&case["id"].to_string())?;
        let answer = json!([answer[0], distinct(&answer[1])]);
        let outputs = outputs(case);
        let theirs = |output: &Value| json!([recorded(output), distinct(&output["requests"])]);
        let is_recorded = |theirs: Value| is_equal(&answer[0], &theirs[0]) && answer[1] == theirs[1];
        Some(if has_panicked(&outputs) || outputs.iter().map(theirs).any(is_recorded) {
            Ok(())
        } else {
            Err(Difference::new(&answer, theirs(&outputs[0])))
        })
    });
}

/// Generates a set, and returns the server that was asked and what [`recorded`] should be. None if no plugin is asked.
async fn generated(input: &Value) -> Option<(CannedServer, Value)> {
    let canned_answers = input["pluginAnswers"].clone();
    let server = CannedServer::start(None, move |request| canned(&canned_answers, request));
    let input = input.to_string().replace("$BASE", &server.url()).replace("$HOST", &server.host());
    let input: Value = serde_json::from_str(&input).expect("JSON");
    let services = services(&input);
    let set = read_json(input["applicationSet"].to_string().as_bytes()).expect("JSON");
    let set = ApplicationSet::decode(&set).ok()?.value;
    let (mut answers, mut has_plugin) = (Answers::default(), false);
    loop {
        let generated = generate(&set, &answers, GenerateOptions::at(UNIX_EPOCH)).ok()?;
        if generated.questions.is_empty() {
            let applications =
                generated.applications.into_iter().map(|generated| generated.application.value());
            let error = generated.errors.first().map(|error| (reason(error.reason), error.message.as_str()));
            return has_plugin.then(|| (server, ours(applications.collect(), error)));
        }
        for question in &generated.questions {
            let answer = match question.generator {
                "clusters" => Ok(clusters(&input)),
                "git" => git(&input["git"], &question.request),
                _ => {
                    has_plugin = true;
                    ask(&services, &input, question).await
                }
            };
            answers.insert(question, answer);
        }
    }
}

fn reason(reason: GenerateErrorReason) -> &'static str {
    match reason {
        GenerateErrorReason::Generator => "ApplicationGenerationFromParamsError",
        GenerateErrorReason::Template => "RenderTemplateParamsError",
    }
}

/// Returns the requests without repetitions, and without the headers that differ on purpose.
fn distinct(requests: &Value) -> Value {
    let mut found: Vec<Value> = Vec::new();
    for request in requests.as_array().into_iter().flatten() {
        let mut request = request.clone();
        if let Some(headers) = request["headers"].as_object_mut() {
            headers.remove("User-Agent");
        }
        if let Some(request) = request.as_object_mut() {
            request.remove("proto");
        }
        if !found.contains(&request) {
            found.push(request);
        }
    }
    Value::from(found)
}

/// Returns a request as it is recorded: with Go's letter case of headers.
fn shown(request: &Request) -> Value {
    let canonical = |name: &str| {
        let mut is_first = true;
        let letter = |letter: char| {
            let shown = if is_first { letter.to_ascii_uppercase() } else { letter.to_ascii_lowercase() };
            is_first = letter == '-';
            shown
        };
        name.chars().map(letter).collect::<String>()
    };
    let header = |(name, value): &(String, String)| (canonical(name), Value::from(value.as_str()));
    let headers: Map<String, Value> = request.headers.iter().map(header).collect();
    json!({"method": request.method, "path": request.path, "headers": headers, "body": request.body})
}

fn services(input: &Value) -> PluginServices {
    let strings = |object: &Value, value: &dyn Fn(&str) -> String| {
        let keys = object["data"].as_object().into_iter().flatten().map(|(key, _)| key);
        keys.map(|key| (key.clone(), value(key))).collect::<Vec<_>>()
    };
    let name = |object: &Value| object["metadata"]["name"].as_str().expect("a name").to_owned();
    let mut world = World::in_namespace(input["controllerNamespace"].as_str().expect("a namespace"));
    for object in objects(input, "ConfigMap") {
        let value = |key: &str| object["data"][key].as_str().expect("a string").to_owned();
        world = world.config_map(&name(object), &borrowed(&strings(object, &value)));
    }
    for secret in objects(input, "Secret") {
        world = world.secret(&name(secret), &borrowed(&strings(secret, &|key| data(secret, key))));
    }
    world.services(PluginLimits::default(), &[])
}

fn borrowed(pairs: &[(String, String)]) -> Vec<(&str, &str)> {
    pairs.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect()
}

async fn ask(services: &PluginServices, input: &Value, question: &Question) -> Answer {
    let form = match question.request["contract"].as_str() {
        Some("shipped") => PluginForm::Shipped,
        _ => PluginForm::Proposal,
    };
    let question = PluginQuestion {
        application_set: input["applicationSet"]["metadata"]["name"].as_str().expect("a name"),
        config_map: question.request["configMap"].as_str().expect("a name"),
        form,
        parameters: &question.parameters,
    };
    services.ask(&question).await
}
