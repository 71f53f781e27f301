//! Comparison with Argo CD's recorded parameters and environments (`testdata/oracles/params-env.jsonl`).

use serde_json::Value;
use tiphys_model::params::{Parameters, app_parameters, parameter_variables};
use tiphys_testkit::oracle::{self, Difference};

fn read(case: &Value) -> Result<Parameters, String> {
    let text = case["input"]["parameters_text"].as_str().expect("the text of the parameters");
    let node = tiphys_yaml::read_json(text.as_bytes()).map_err(|error| error.to_string())?;
    Parameters::decode(&node, "parameters").map_err(|error| error.to_string())
}

/// Compares a field of the result. A case must fail here if and only if it fails in Argo CD.
fn compare(case: &Value, field: &str, answer: impl FnOnce(&Parameters) -> Value) -> Result<(), Difference> {
    let recorded = &case["output"];
    match (read(case), recorded["error"].as_str()) {
        (Err(_), Some(_)) => Ok(()),
        (Err(error), None) => Err(Difference::new(format!("fails: {error}"), &recorded[field])),
        (Ok(_), Some(error)) => Err(Difference::new("parameters", error)),
        (Ok(parameters), None) => {
            let ours = answer(&parameters);
            let alternatives = recorded["output_alternatives"][field].as_array();
            if ours == recorded[field] || alternatives.is_some_and(|seen| seen.contains(&ours)) {
                Ok(())
            } else {
                Err(Difference::new(ours, &recorded[field]))
            }
        }
    }
}

#[test]
fn app_parameters_equal_argo_cd_byte_for_byte() {
    oracle::check("params-env.app_parameters", |case| {
        Some(compare(case, "argocd_app_parameters", |read| app_parameters(read.list.as_deref()).into()))
    });
}

#[test]
fn variables_equal_argo_cd_in_order() {
    oracle::check("params-env.env", |case| {
        Some(compare(case, "env", |read| {
            let variables = parameter_variables(read.list.as_deref().unwrap_or_default());
            variables
                .into_iter()
                .map(|variable| Value::from(format!("{}={}", variable.name, variable.value)))
                .collect()
        }))
    });
}

#[test]
fn serde_and_positioned_decoder_agree() {
    for case in oracle::cases("params-env") {
        let text = case["input"]["parameters_text"].as_str().expect("the text of the parameters");
        // serde_json rejects lone surrogates, which Go replaces.
        if text.contains("\\udc00") || text.contains("\\ud800") {
            continue;
        }
        let by_serde = serde_json::from_str::<Option<Vec<tiphys_model::params::Parameter>>>(text);
        match read(&case) {
            Ok(parameters) => {
                assert_eq!(by_serde.expect("serde reads it"), parameters.list, "{}", case["id"]);
            }
            Err(error) => assert!(by_serde.is_err(), "{}: serde takes it: {error}", case["id"]),
        }
    }
}
