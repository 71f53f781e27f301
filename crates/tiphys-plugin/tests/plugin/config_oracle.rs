//! Comparison with Argo CD's decoding of plugin files (`testdata/oracles/plugin-config.jsonl`).

use serde_json::Value;
use tiphys_plugin::config::{
    self, PluginFile,
    check::{Level, ProgramState},
};
use tiphys_testkit::oracle::{self, Difference};

/// Prefix of Argo CD's own messages. The others are those of Go's libraries.
const VALIDATION: &str = "invalid plugin configuration file. ";

fn text(input: &Value) -> Vec<u8> {
    match (input["yaml"].as_str(), input["yaml_base64"].as_str()) {
        (Some(text), _) => text.as_bytes().to_vec(),
        (None, Some(encoded)) => oracle::base64(encoded),
        (None, None) => panic!("a case has a text"),
    }
}

/// Reduces a recorded configuration to the metadata that tiphys stores.
fn kept(mut config: Value) -> Value {
    if let Some(metadata) = config["metadata"].as_object_mut() {
        metadata.retain(|key, _| matches!(key.as_str(), "name" | "labels" | "annotations"));
    }
    config
}

/// Our reading of a valid plugin file.
fn file(text: &[u8]) -> Value {
    kept(PluginFile::read(text).expect("a plugin file").to_json())
}

fn compare(case: &Value) -> Result<(), Difference> {
    let recorded = &case["output"];
    let text = text(&case["input"]);
    match (config::read(&text), recorded["error"].as_str()) {
        (Err(_), Some(error)) if !error.starts_with(VALIDATION) => Ok(()),
        (Err(ours), Some(error)) if ours.to_string() == error => Ok(()),
        (Err(ours), error) => {
            Err(Difference::new(format!("fails: {ours}"), error.unwrap_or("a configuration")))
        }
        (Ok(_), Some(error)) => Err(Difference::new(file(&text), error)),
        (Ok(ours), None) => {
            let file = file(&text);
            let seen = case["output_alternatives"]["config"]
                .as_array()
                .or(recorded["output_alternatives"]["config"].as_array());
            let equal = file == kept(recorded["config"].clone())
                || seen.is_some_and(|seen| seen.iter().any(|config| file == kept(config.clone())));
            if !equal {
                return Err(Difference::new(file, &recorded["config"]));
            }
            let socket = ours.socket_name();
            if recorded["socket"].as_str() != Some(&socket) {
                return Err(Difference::new(socket, &recorded["socket"]));
            }
            let configured = ours.discovery_configured();
            if recorded["discovery_configured"].as_bool() != Some(configured) {
                return Err(Difference::new(configured, &recorded["discovery_configured"]));
            }
            Ok(())
        }
    }
}

#[test]
fn plugin_files_are_read_like_argo_cd() {
    oracle::check("plugin-config", |case| match case["input"]["file"].as_str() {
        // No content; opening the file is tested elsewhere.
        Some("missing" | "directory") => None,
        _ => Some(compare(case)),
    });
}

#[test]
fn check_reports_errors_only_for_rejected_files() {
    for case in oracle::cases("plugin-config") {
        if case["input"]["file"].is_null() {
            let text = text(&case["input"]);
            let report = config::check::check(&text, "plugin.yaml", &|_| ProgramState::Found);
            match config::read(&text) {
                Ok(config) => assert_eq!(report.socket, Some(config.socket_name()), "{}", case["id"]),
                Err(error) => {
                    let errors = report.findings.iter().any(|finding| finding.rule.level() == Level::Error);
                    assert!(errors && report.socket.is_none(), "{}: {error}", case["id"]);
                }
            }
        }
    }
}
