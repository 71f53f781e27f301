//! Random changes of the values of a chart, of the types that they have.

use serde_json::{Map, Value, json};

/// Returns a values file with some of the defaults changed.
pub(crate) fn changed(defaults: &Value, seed: u64) -> Value {
    let mut random = Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 0x1234_5678);
    change(defaults, &mut random).filter(Value::is_object).unwrap_or_else(|| json!({}))
}

/// A generator of random numbers (`SplitMix64`).
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (mixed ^ (mixed >> 31)) % end
    }
}

/// Returns the changed value; `None` if it stays.
fn change(value: &Value, random: &mut Random) -> Option<Value> {
    match value {
        Value::Object(map) if !map.is_empty() => {
            let mut changed = Map::new();
            for (key, value) in map {
                let inner = change(value, random);
                if let Some(value) = inner {
                    changed.insert(key.clone(), value);
                }
            }
            (!changed.is_empty()).then_some(Value::Object(changed))
        }
        _ if random.below(20) > 0 => None,
        Value::Bool(value) => Some(Value::Bool(!value)),
        Value::Number(_) => Some(json!(random.below(9_000) + 1)),
        Value::String(text) if text.is_empty() => Some(json!(format!("text-{}", random.below(100)))),
        Value::String(text) => Some(match random.below(3) {
            0 => json!(""),
            1 => json!(format!("{text}-x")),
            _ => Value::Null,
        }),
        Value::Array(items) => match items.first() {
            Some(first) if random.below(2) == 0 => Some(json!([first, first])),
            Some(_) => Some(json!([])),
            None => Some(json!(["one", "two"])),
        },
        Value::Object(_) => Some(json!({"one": "two", "number": 3})),
        Value::Null => Some(match random.below(3) {
            0 => json!("text"),
            1 => json!(true),
            _ => json!(7),
        }),
    }
}
