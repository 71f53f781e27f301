use serde_json::Value;
use tiphys_testkit::oracle;

use super::*;

fn texts(stdout: &[u8]) -> Result<Vec<String>, String> {
    split_output(stdout)
        .map(|documents| documents.into_iter().map(|document| document.text).collect())
        .map_err(|error| error.to_string())
}

fn base64(text: &str) -> Vec<u8> {
    crate::scalar::base64::decode(text.as_bytes()).expect("the oracle has base64 here")
}

#[test]
fn the_servers_answers_are_those_of_argo_cd() {
    oracle::check("manifest-split.server", |case| {
        if case["group"] == "client-only" {
            return None;
        }
        let input = &case["input"];
        let stdout = match input["stdout"].as_str() {
            Some(text) => text.as_bytes().to_vec(),
            None => base64(input["stdout_base64"].as_str().expect("one of the two is there")),
        };
        let ours = texts(&stdout);
        let theirs = &case["output"]["server"];
        let accepted: Vec<&Value> = match case["output_alternatives"]["server"].as_array() {
            Some(alternatives) => alternatives.iter().collect(),
            None => vec![theirs],
        };
        let equal = accepted.iter().any(|answer| match (&ours, answer["manifests"].as_array()) {
            (Ok(documents), Some(manifests)) => {
                documents.len() == manifests.len()
                    && documents.iter().zip(manifests).all(|(ours, theirs)| *theirs == **ours)
            }
            (Err(_), None) => answer["error"].is_string(),
            _ => false,
        });
        Some(if equal { Ok(()) } else { Err(format!("{ours:?} instead of {theirs}")) })
    });
}
