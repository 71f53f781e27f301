use serde_json::{Value, json};
use tiphys_model::params::Parameter;
use tiphys_model::resources::{ApplicationSource, GoFields};

use super::{mentioned, references};

fn names(sources: &Value) -> Result<Vec<String>, String> {
    let sources: Vec<ApplicationSource> = sources
        .as_array()
        .expect("a list")
        .iter()
        .map(|source| ApplicationSource::of_json(source).expect("a source"))
        .collect();
    let found = references(&sources).map_err(|error| error.to_string())?;
    Ok(found.into_keys().map(str::to_owned).collect())
}

#[test]
fn references_need_several_sources_and_valid_unique_names() {
    let cases = [
        (json!([]), Ok(vec![])),
        (json!([{"ref": "only"}]), Ok(vec![])),
        (json!([{"ref": "b"}, {"path": "x"}, {"ref": "A-1_x", "path": "y"}]), Ok(vec!["A-1_x", "b"])),
        (
            json!([{"ref": "a.b"}, {}]),
            Err("sources.ref a.b cannot contain any special characters except '_' and '-'"),
        ),
        (
            json!([{"ref": "../x"}, {}]),
            Err("sources.ref ../x cannot contain any special characters except '_' and '-'"),
        ),
        (
            json!([{"ref": "a"}, {"ref": "a"}]),
            Err("invalid sources: multiple sources had the same `ref` key; `a` is given twice"),
        ),
    ];
    for (sources, expected) in cases {
        let expected = expected
            .map(|names: Vec<&str>| names.into_iter().map(str::to_owned).collect())
            .map_err(str::to_owned);
        assert_eq!(names(&sources), expected, "{sources}");
    }
}

#[test]
fn dollar_names_are_mentioned_once_in_order() {
    let parameters: Vec<Parameter> = serde_json::from_value(json!([
        {"name": "value-files", "array": ["a.yaml", "$v/x.yaml", "x/$no/y", "$v/z.yaml", "$w"]},
        {"name": "set-file.a", "string": "$u/f"},
        {"name": "m", "map": {"k": "$t/f", "l": "text $no"}},
        {"name": "$no", "string": ""},
    ]))
    .expect("valid parameters");
    assert_eq!(mentioned(&parameters), ["v", "w", "u", "t"]);
}
