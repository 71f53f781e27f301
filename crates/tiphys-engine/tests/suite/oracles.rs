//! Recorded results of Argo CD: `plugin-env-subst`, `source-override`, the repositories of `project-destinations`, and the client side of
//! `manifest-split`. Recorded results of kubectl: `jsonpath`.

use std::collections::BTreeMap;
use std::fs;

use serde_json::{Value, json};
use tiphys_engine::{
    BuildEnvironment, DEFAULT_LABEL_KEY, FieldPath, OverrideFile, SourceTypes, Tracking, TrackingMethod,
    normalize, override_file_names, override_source, plugin_env, printed,
};
use tiphys_model::project_rules::source_permitted;
use tiphys_model::resources::ApplicationSource;
use tiphys_testkit::oracle::{self, Difference};
use tiphys_testkit::workspace_root;
use tiphys_yaml::{Node, OutputDocument, read_json, split_output, write_go_json};

/// Compares a result with the recorded one. The words of errors are not compared.
fn compare(recorded: Option<&Value>, ours: Result<Value, String>) -> Result<(), Difference> {
    match (recorded, ours) {
        (None, Err(_)) => Ok(()),
        (None, Ok(ours)) => Err(Difference::new(ours, "a failure")),
        (Some(recorded), Ok(ours)) if *recorded == ours => Ok(()),
        (Some(recorded), Ok(ours)) => Err(Difference::new(ours, recorded)),
        (Some(recorded), Err(error)) => Err(Difference::new(format!("fails: {error}"), recorded)),
    }
}

fn strings(list: &Value) -> Vec<&str> {
    list.as_array().expect("a list").iter().map(|item| item.as_str().expect("a string")).collect()
}

#[test]
fn plugin_env_is_replaced_as_in_argo_cd() {
    oracle::check("plugin-env-subst", |case| {
        let ours = (|| {
            let build = BuildEnvironment::parse(strings(&case["input"]["build_env"]))
                .map_err(|error| error.to_string())?;
            let block = json!({"plugin": {"env": case["input"]["plugin_env"]}}).to_string();
            let block = read_json(block.as_bytes()).map_err(|error| error.to_string())?;
            let source = ApplicationSource::decode(&block, "").map_err(|error| error.to_string())?.value;
            let env = plugin_env(&source.plugin.unwrap_or_default().env, &build);
            Ok(env.iter().map(|variable| format!("{}={}", variable.name, variable.value)).collect())
        })();
        Some(compare(case["output"].get("env"), ours))
    });
}

/// Returns the override files of a case, in order of merging. As in Argo CD, the name is cleaned as a path within the directory.
fn override_files(case: &Value) -> Result<Vec<(String, Vec<u8>)>, String> {
    let application = case["input"]["app_name"].as_str().expect("a name");
    let mut files = Vec::new();
    for name in override_file_names(application).map_err(|error| error.to_string())? {
        let mut components: Vec<&str> = Vec::new();
        for component in name.split('/') {
            if component == ".." {
                components.pop();
            } else {
                components.push(component);
            }
        }
        // Directories and dangling links are objects in the case, and count as absent.
        if let Some(text) = case["input"]["files"][components.join("/")].as_str() {
            files.push((name, text.as_bytes().to_vec()));
        }
    }
    Ok(files)
}

fn overridden(case: &Value) -> Result<(ApplicationSource, Vec<String>), String> {
    let text = case["input"]["source_text"].as_str().expect("a source");
    let node = read_json(text.as_bytes()).map_err(|error| error.to_string())?;
    let source = ApplicationSource::decode(&node, "").map_err(|error| error.to_string())?.value;
    let files = override_files(case)?;
    let files: Vec<OverrideFile<'_>> = files.iter().map(|(name, text)| OverrideFile { name, text }).collect();
    let overridden = override_source(&source, &files).map_err(|error| error.to_string())?;
    Ok((overridden.source, overridden.warnings.into_iter().map(|warning| warning.message).collect()))
}

/// Returns a source as Argo CD writes it. It omits an empty list of parameters, which this project distinguishes from an absent one.
fn written(source: &ApplicationSource) -> Value {
    let mut value = serde_json::to_value(source).expect("a source can be written");
    if let Some(plugin) = value.get_mut("plugin").and_then(Value::as_object_mut)
        && plugin.get("parameters").is_some_and(|list| list.as_array().is_some_and(Vec::is_empty))
    {
        plugin.remove("parameters");
    }
    value
}

#[test]
fn override_files_merge_as_in_argo_cd_or_by_decision() {
    oracle::check("source-override", |case| {
        let recorded = case["output"].get("merged_text").map(|text| {
            let merged: Value = serde_json::from_str(text.as_str().expect("a string")).expect("JSON");
            json!({
                "merged": merged,
                "type": case["output"]["explicit_type"],
                "type_error": case["output"]["explicit_type_error"],
            })
        });
        let ours = overridden(case).map(|(source, _)| {
            let (kind, error) = match SourceTypes::default().named(&source) {
                Ok(kind) => (kind.map(|kind| kind.to_string()), None),
                Err(error) => (None, Some(error.to_string())),
            };
            json!({"merged": written(&source), "type": kind, "type_error": error})
        });
        Some(compare(recorded.as_ref(), ours))
    });
}

/// The prediction of Argo CD's result is correct exactly if a warning is produced if and only if the results differ.
#[test]
fn warning_appears_iff_argo_cd_merges_differently() {
    let mut warned = 0;
    for case in oracle::cases("source-override") {
        let (Some(text), Ok((source, warnings))) =
            (case["output"]["merged_text"].as_str(), overridden(&case))
        else {
            continue;
        };
        let recorded: Value = serde_json::from_str(text).expect("JSON");
        let differs = recorded != written(&source);
        let warns = warnings.iter().any(|message| message.contains("Argo CD keeps"));
        assert_eq!(warns, differs, "{}: {warnings:?}", case["id"]);
        warned += usize::from(warns);
    }
    assert!(warned > 5, "some cases of the oracle differ");
}

fn tracking(method: TrackingMethod) -> Tracking {
    Tracking {
        method,
        label_key: DEFAULT_LABEL_KEY.to_owned(),
        instance_name: "my-app".to_owned(),
        namespace: "my-ns".to_owned(),
        installation_id: String::new(),
    }
}

/// Returns the manifests that a plugin server sends for a case.
fn sent(case: &Value) -> Result<Vec<String>, String> {
    let input = &case["input"];
    if let Some(manifests) = input.get("server_manifests") {
        return Ok(strings(manifests).into_iter().map(str::to_owned).collect());
    }
    let stdout = match input.get("stdout_base64") {
        Some(text) => oracle::base64(text.as_str().expect("a string")),
        None => input["stdout"].as_str().expect("a string").as_bytes().to_vec(),
    };
    let documents = split_output(&stdout).map_err(|error| error.to_string())?;
    Ok(documents.into_iter().map(|document| document.text()).collect())
}

/// Parses the documents that a plugin server sent.
fn read_manifests<'a>(manifests: impl IntoIterator<Item = &'a str>) -> Result<Vec<Node>, String> {
    let mut documents = Vec::new();
    for manifest in manifests {
        let read = split_output(manifest.as_bytes()).map_err(|error| error.to_string())?;
        documents.extend(read.into_iter().map(|document| document.node));
    }
    Ok(documents)
}

fn rendered(case: &Value, method: TrackingMethod) -> Result<Value, String> {
    let sent = sent(case)?;
    let documents = read_manifests(sent.iter().map(String::as_str))?;
    let manifests = normalize(&documents, &tracking(method)).map_err(|error| error.to_string())?;
    Ok(manifests.into_iter().map(|manifest| write_go_json(&manifest.into_value())).collect())
}

fn check_client(field: &str, method: TrackingMethod) {
    oracle::check(&format!("manifest-split.{field}"), |case| {
        let ours = rendered(case, method);
        // Two keys become one: Argo CD's result is non-deterministic, so each of the recorded ones is correct.
        let alternatives = case["output_alternatives"][field].as_array();
        let recorded: Vec<&Value> =
            alternatives.map_or_else(|| vec![&case["output"][field]], |list| list.iter().collect());
        let results: Vec<_> =
            recorded.iter().map(|recorded| compare(recorded.get("manifests"), ours.clone())).collect();
        Some(results.iter().find(|result| result.is_ok()).unwrap_or(&results[0]).clone())
    });
}

#[test]
fn plugin_manifests_are_read_as_by_argo_cd_client() {
    check_client("client", TrackingMethod::None);
}

#[test]
fn plugin_manifests_are_tracked_as_by_argo_cd_client() {
    check_client("client_tracked", TrackingMethod::Annotation);
}

/// A plugin that runs in process returns documents instead of serialized text. Both must be equal.
#[test]
fn in_process_and_server_documents_are_equal() {
    for case in oracle::cases("manifest-split") {
        let Some(stdout) = case["input"]["stdout"].as_str() else { continue };
        let Ok(documents) = split_output(stdout.as_bytes()) else { continue };
        let texts: Vec<String> = documents.iter().map(OutputDocument::text).collect();
        let again = read_manifests(texts.iter().map(String::as_str)).expect("valid documents");
        let values = |nodes: Vec<Value>| nodes.iter().map(write_go_json).collect::<Vec<_>>();
        assert_eq!(
            values(documents.iter().map(|document| document.node.to_value()).collect()),
            values(again.iter().map(Node::to_value).collect()),
            "{}",
            case["id"]
        );
    }
}

#[test]
fn source_repos_are_permitted_as_in_argo_cd() {
    oracle::check("project-destinations.source", |case| {
        if case["check"] != "source" {
            return None;
        }
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let strings =
            |list: &Value| -> Vec<String> { list.as_array().into_iter().flatten().map(text).collect() };
        let patterns = strings(&case["project"]["sourceRepos"]);
        // The cases also record how Argo CD normalizes addresses; other tests cover that.
        let bare = |text: &String| text.strip_prefix('!').unwrap_or(text).to_owned();
        let mut normalized: BTreeMap<String, String> =
            patterns.iter().map(bare).zip(strings(&case["normalized_patterns"]).iter().map(bare)).collect();
        normalized.insert(text(&case["repo_url"]), text(&case["normalized_url"]));
        let normalize = |text: &str| normalized.get(text).cloned().unwrap_or_default();
        let ours = source_permitted(&patterns, &[case["repo_url"].as_str().unwrap_or_default()], &normalize);
        Some(compare(case.get("permitted"), Ok(Value::from(ours))))
    });
}

/// Returns a number as Go has it: an integer if it fits `i64`, else a float.
fn in_go(value: &Value) -> Value {
    match value.as_f64() {
        Some(float) if !value.is_i64() => float.into(),
        _ => value.clone(),
    }
}

#[test]
fn relaxed_paths_select_as_in_kubectl_or_by_decision() {
    let objects = fs::read(workspace_root().join("testdata/oracles/jsonpath-objects.json")).expect("a file");
    let objects: Value = serde_json::from_slice(&objects).expect("JSON");
    oracle::check("jsonpath", |case| {
        if case["mode"] != "relaxed" {
            return None;
        }
        let strict = &case["strict"];
        let sort = |mut results: Vec<Value>| {
            if strict["unordered"] == true {
                results.sort_by_key(Value::to_string);
            }
            results
        };
        let recorded = strict["results"].as_array();
        let recorded =
            recorded.map(|results| json!({"results": sort(results.clone()), "text": strict["text"]}));
        let object = &objects[case["object"].as_str().expect("a name")];
        let ours = FieldPath::parse(case["path"].as_str().expect("a path"))
            .map_err(|error| error.to_string())
            .and_then(|path| path.find(object).map_err(|error| error.to_string()))
            .map(|found| {
                let text = found.iter().map(|value| printed(value)).collect::<Vec<_>>().join(" ");
                let results = sort(found.into_iter().map(in_go).collect());
                json!({"results": results, "text": strict.get("text").map(|_| text)})
            });
        Some(compare(recorded.as_ref(), ours))
    });
}
