//! Any template is rendered within its limits or refused with a position in it, rendering it again gives the same, and a string without
//! braces renders as it is.

use std::collections::BTreeMap;
use std::time::SystemTime;

use serde_json::{Value as Json, json};
use tiphys_go::gotemplate::{Limits, MissingKey, Options, Template, Value, replace};

/// Limits that keep a run short.
const LIMITS: Limits = Limits { steps: 5_000, output_bytes: 64 << 10, depth: 50 };

fn data() -> Json {
    json!({
        "name": "a-b", "number": 1_234_567.5, "yes": true, "nothing": null, "list": ["b", 1, null, ["c"]],
        "map": {"a": {"b": "c"}, "n": 1}, "values": {"k": "v"},
    })
}

/// The first byte selects the option for missing keys, the rest is the template.
pub(crate) fn body(bytes: &[u8]) {
    let Some((first, template)) = bytes.split_first() else { return };
    let Ok(template) = std::str::from_utf8(template) else { return };
    let tagged = replace(template, &BTreeMap::from([("name".to_owned(), "{{name}}".to_owned())]));
    if !template.contains("{{") {
        assert_eq!(tagged.as_deref(), Ok(template));
    }
    let parsed = match Template::parse("base", template, LIMITS) {
        Ok(parsed) => parsed,
        Err(error) => {
            assert!((1..=template.split('\n').count()).contains(&error.line), "{error}");
            assert!(template.contains("{{"), "{error}");
            return;
        }
    };
    let missing_key = [MissingKey::Default, MissingKey::Zero, MissingKey::Error][usize::from(*first) % 3];
    let options = Options { missing_key, limits: LIMITS, ..Options::new(SystemTime::UNIX_EPOCH, 1) };
    let value = Value::from_json(&data(), &["values"]);
    let rendered = parsed.execute(&value, &options);
    assert_eq!(rendered, parsed.execute(&value, &options), "the same again");
    // Numbers are floats now, so they are compared as such.
    assert_eq!(value.to_json(), Value::from_json(&data(), &[]).to_json(), "the data is not changed");
    match rendered {
        Ok(output) => {
            assert!(output.bytes.len() <= LIMITS.output_bytes);
            if !template.contains("{{") {
                assert_eq!(output.bytes, template.as_bytes());
            }
        }
        Err(error) => {
            let line = template.split('\n').nth(error.line - 1).expect("the line exists");
            assert!(error.column <= line.len(), "{error}");
        }
    }
}
