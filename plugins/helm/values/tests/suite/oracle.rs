//! Helm's recorded answers for `--set` and similar options (`testdata/oracles/helm-set.jsonl`).

use std::error::Error;

use serde_json::Value as Json;
use tiphys_helm_values::{
    Assignment, Chart, Flag, HelmVersion, Inputs, LIMITS, Map, Value, ValuesFile, coalesce, merged,
    read_values,
};
use tiphys_testkit::oracle::{self, Difference};
use tiphys_yaml::write_go_json;

/// Returns an answer in the oracle's form.
fn answer(case: &Json, version: HelmVersion) -> Json {
    let assignments: Vec<_> = case["args"].as_array().into_iter().flatten().map(assignment).collect();
    let base = case["base"].as_object().map(|base| Json::from(base.clone()).to_string());
    let files: Vec<_> =
        base.iter().map(|text| ValuesFile { name: "base.yaml", text: text.as_bytes() }).collect();
    let read_file = |path: &str| match case["files"][path].as_str() {
        Some(text) => Ok(text.to_owned()),
        None => Err(format!("open {path}: no such file or directory")),
    };
    let inputs = Inputs {
        version,
        values_files: &files,
        assignments: &assignments,
        read_file: &read_file,
        limits: LIMITS,
    };
    match merged(&inputs) {
        Err(error) => serde_json::json!({ "error": helm_text(&error) }),
        Ok(values) => {
            let mut answer = serde_json::json!({ "values": typed(&values) });
            if let Some(chart) = case.get("chart") {
                let defaults =
                    read_values(chart.to_string().as_bytes(), version).expect("the chart's values are valid");
                let chart = Chart { values: defaults, ..Chart::default() };
                answer["coalesced"] = typed(&coalesce(&chart, values, version).expect("no subcharts"));
            }
            answer
        }
    }
}

fn assignment(arg: &Json) -> Assignment<'_> {
    let flag = match arg["flag"].as_str().expect("a flag") {
        "set" => Flag::Set,
        "set-string" => Flag::SetString,
        "set-file" => Flag::SetFile,
        other => panic!("unknown flag {other}"),
    };
    Assignment { flag, text: arg["arg"].as_str().expect("an argument") }
}

/// The error as Helm prints it: with its causes.
fn helm_text(error: &dyn Error) -> String {
    match error.source() {
        Some(cause) => format!("{error}: {}", helm_text(cause)),
        None => error.to_string(),
    }
}

/// Converts a value with distinct integers and floats, as in the oracle (`1` and `1.0`).
fn typed(values: &Map) -> Json {
    Value::Map(values.clone()).to_json_value()
}

/// Compares values and strings: values distinguish integers from floats, strings `-0.0` from `0.0`.
fn check(case: &Json, version: HelmVersion, recorded: &Json) -> Result<(), Difference> {
    let ours = answer(case, version);
    if ours == *recorded && write_go_json(&ours) == write_go_json(recorded) {
        Ok(())
    } else {
        Err(Difference::new(ours, format!("{recorded} for {}", case["args"])))
    }
}

#[test]
fn values_and_errors_equal_those_of_helm_4() {
    oracle::check("helm-set.helm4", |case| Some(check(case, HelmVersion::V4, &case["helm4"])));
}

#[test]
fn values_and_errors_equal_those_of_helm_3() {
    oracle::check("helm-set.helm3", |case| {
        let recorded = case.get("helm3").unwrap_or(&case["helm4"]);
        Some(check(case, HelmVersion::V3, recorded))
    });
}
