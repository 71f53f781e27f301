//! Recorded results of Go and of Argo CD: `gotemplate`, `gotemplate-argo`, `fasttemplate`.

use std::collections::BTreeMap;
use std::time::SystemTime;

use serde_json::{Value as Json, json};
use tiphys_go::gotemplate::{Limits, MissingKey, Options, Template, Value, flatten, replace};
use tiphys_testkit::oracle::{self, Difference};
use tiphys_testkit::workspace_root;

/// Messages that newer versions change: those of the recorded ones, and those of the versions in Argo CD.
const REWORDED: &[(&str, &str)] = &[
    (
        "calling eq: incompatible types for comparison",
        "calling eq: incompatible types for comparison: float64 and int",
    ),
    (
        "<lt .n 200>: error calling lt: incompatible types for comparison",
        "<lt .n 200>: error calling lt: incompatible types for comparison: float64 and int",
    ),
    (
        "<lt \"a\" 1>: error calling lt: incompatible types for comparison",
        "<lt \"a\" 1>: error calling lt: incompatible types for comparison: string and int",
    ),
    ("non-function of type string", "non-function .s of type string"),
    ("Invalid Semantic Version", "invalid semantic version"),
    ("unexpected \")\" in command", "unexpected right paren"),
    // The function `slice` of sprig replaces that of Go, which these cases were recorded with.
    (
        "error calling slice: index out of range: 5",
        "error calling slice: list should be type of slice or array but string",
    ),
];

/// Prefix of the message of a YAML reader.
const YAML: &str = "error converting YAML to JSON: ";

fn string(value: &Json) -> &str {
    value.as_str().unwrap_or_else(|| panic!("a string: {value}"))
}

/// Reads the data of an oracle's templates.
fn data(oracle: &str) -> Json {
    let path = workspace_root().join(format!("testdata/oracles/{oracle}.data.json"));
    serde_json::from_slice(&std::fs::read(path).expect("the data")).expect("JSON")
}

/// Renders a template as Argo CD does; the error is the message.
fn render(template: &str, options: &[String], data: &Value) -> Result<String, String> {
    let mut all = Options::new(SystemTime::UNIX_EPOCH, 1);
    all.missing_key = MissingKey::parse(options).map_err(|error| error.to_string())?;
    let parsed = Template::parse("base", template, Limits::DEFAULT).map_err(|error| error.to_string())?;
    let output = parsed.execute(data, &all).map_err(|error| error.to_string())?;
    Ok(output.string())
}

fn compare(ours: &Result<String, String>, recorded: &Result<String, String>) -> Result<(), Difference> {
    if ours == recorded {
        return Ok(());
    }
    let shown = |result: &Result<String, String>| match result {
        Ok(output) => format!("prints {output}"),
        Err(message) => format!("fails: {message}"),
    };
    Err(Difference::new(shown(ours), shown(recorded)))
}

fn recorded(output: &Json, out: &str, error: &str) -> Result<String, String> {
    match output.get(error) {
        Some(message) => Err(string(message).to_owned()),
        None => Ok(string(&output[out]).to_owned()),
    }
}

#[test]
fn templates_render_as_in_go() {
    let data = Value::from_json(&data("gotemplate"), &[]);
    oracle::check("gotemplate", |case| {
        let template = string(&case["t"]);
        for (option, field) in [("missingkey=default", "default"), ("missingkey=error", "error")] {
            let output = case.get(field).unwrap_or(&case["default"]);
            let recorded = recorded(output, "out", "err").map_err(|mut message| {
                for (old, new) in REWORDED {
                    if !message.contains(new) {
                        message = message.replace(old, new);
                    }
                }
                message
            });
            if let Err(difference) = compare(&render(template, &[option.to_owned()], &data), &recorded) {
                return Some(Err(difference));
            }
        }
        Some(Ok(()))
    });
}

#[test]
fn templates_render_as_in_argo_cd() {
    let data = data("gotemplate-argo");
    oracle::check("gotemplate-argo", |case| {
        let input = &case["input"];
        let template = string(&input["template"]);
        let set = &data[string(&input["data"])];
        let maps: Vec<&str> = set["stringMaps"].as_array().into_iter().flatten().map(string).collect();
        let options: Vec<String> = input["options"]
            .as_array()
            .into_iter()
            .flatten()
            .map(|option| string(option).to_owned())
            .collect();
        let ours = render(template, &options, &Value::from_json(&set["data"], &maps));
        // Without a recorded answer, any error is right.
        if case["output"].get("panic").is_some() {
            return Some(compare(
                &ours,
                &ours.as_ref().map_or_else(|error| Err(error.clone()), |_| Err("an error".to_owned())),
            ));
        }
        let ours = ours.map_err(|error| {
            // The message of the YAML reader names the position and is our own.
            let recorded = case["output"]["error"].as_str().unwrap_or_default();
            if let (Some((ours, _)), Some((recorded, _))) =
                (error.split_once(YAML), recorded.split_once(YAML))
                && recorded.ends_with(ours)
            {
                return case["output"]["error"].as_str().unwrap_or_default().to_owned();
            }
            let step = if error.contains(" executing ") { "execute go template" } else { "parse template" };
            format!("failed to {step} {template}: {error}")
        });
        Some(compare(&ours, &recorded(&case["output"], "out", "error")))
    });
}

#[test]
fn tags_are_replaced_as_in_argo_cd() {
    oracle::check("fasttemplate", |case| {
        let (input, output) = (&case["input"], &case["output"]);
        let values: BTreeMap<String, String> = if input["flatten"] == true {
            let flat = flatten(input["data"].as_object().expect("an object"));
            if json!(flat) != output["flat"] {
                return Some(Err(Difference::new(json!(flat), &output["flat"])));
            }
            flat
        } else {
            let entries = input["data"].as_object().into_iter().flatten();
            entries.filter_map(|(key, value)| Some((key.clone(), value.as_str()?.to_owned()))).collect()
        };
        let ours = replace(string(&input["template"]), &values).map_err(|error| error.to_string());
        Some(compare(&ours, &recorded(output, "out", "error")))
    });
}
