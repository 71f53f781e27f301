//! Recorded templates beside Go's `text/template` with the functions of sprig.

use std::path::Path;

use serde_json::{Value, json};

use super::super::figures::{Sheet, Target, float};
use super::{Bench, parsed};
use crate::cargo::{output, program};
use crate::files::{read, write};
use crate::{Failure, e2e};

/// Functions of Argo CD, and those that one of the two programs refuses.
const OTHER_FUNCTIONS: [&str; 8] =
    ["normalize", "slugify", "toYaml", "fromYaml", "env", "gen", "derivePassword", "cryptAES"];

pub(super) fn templates(bench: &Bench, sheet: &mut Sheet<'_>) -> Result<(), Failure> {
    let templates = recorded(&bench.root)?;
    println!("{} templates", templates.len());
    let file = bench.starter.folder().join("templates.json");
    write(&file, Value::from(templates).to_string())?;
    let go = e2e::go_program(&bench.root, "templates", "./templates")?;
    let pairs = bench.starter.repeated(|_| {
        let ours: Vec<u64> =
            bench.cargo_bench(["tiphys-gotemplate", "templates"], &[file.display().to_string()])?;
        let theirs: Vec<u64> = parsed(&output(program(&go).arg(&file))?)?;
        Ok((ours, theirs))
    })?;
    for (ours, theirs) in pairs {
        let microseconds = |times: &[u64]| float(times.iter().sum()) / 1_000.0;
        sheet.record("all once, parsed and executed", "µs", microseconds(&ours));
        sheet.record("the same in Go", "µs", microseconds(&theirs));
        let ratio = microseconds(&ours) / microseconds(&theirs);
        sheet.record("the sum of these times, of Go's", "", ratio).target = Some(Target::AtMost(1.0));
        let slower = ours.iter().zip(&theirs).filter(|(ours, theirs)| ours > theirs).count();
        sheet.record("templates that are slower than in Go", "", float(slower as u64));
    }
    Ok(())
}

/// Returns the templates of both oracles that render, with their data.
fn recorded(root: &Path) -> Result<Vec<Value>, Failure> {
    let oracles = root.join("testdata/oracles");
    let lines = |name: &str| -> Result<Vec<Value>, Failure> {
        read(&oracles.join(name))?.lines().map(parsed).collect()
    };
    let data: Value = parsed(&read(&oracles.join("gotemplate.data.json"))?)?;
    let of_go = lines("gotemplate.jsonl")?
        .into_iter()
        .filter(|case| case["default"]["out"].is_string())
        .map(|case| json!({"template": case["t"], "missingKey": "default", "data": data, "stringMaps": []}));
    let sets: Value = parsed(&read(&oracles.join("gotemplate-argo.data.json"))?)?;
    let of_argo_cd = lines("gotemplate-argo.jsonl")?
        .into_iter()
        .filter(|case| case["output"]["out"].is_string())
        .map(|case| {
            let input = &case["input"];
            let set = &sets[input["data"].as_str().unwrap_or_default()];
            let options = input["options"].as_array().and_then(|options| options.last()?.as_str());
            let missing_key = options.and_then(|option| option.strip_prefix("missingkey="));
            json!({
                "template": input["template"],
                "missingKey": missing_key.unwrap_or("default"),
                "data": set["data"],
                "stringMaps": set["stringMaps"],
            })
        });
    let has_other = |case: &Value| {
        let template = case["template"].as_str().unwrap_or_default();
        OTHER_FUNCTIONS.iter().any(|function| template.contains(function))
    };
    Ok(of_go.chain(of_argo_cd).filter(|case| !has_other(case)).collect())
}
