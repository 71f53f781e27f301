//! Argo CD's own functions: `normalize`, `slugify`, `tpl`, and YAML.

use super::{Body, Call, Function, Outcome, Type, fail, yaml};
use crate::gotemplate::unicode::{characters, map, to_lower};
use crate::gotemplate::value::Value;

/// Bytes of a DNS name.
const NAME_BYTES_MAX: usize = 253;

/// The default length of a slug in bytes.
const SLUG_BYTES_MAX: i64 = 50;

pub(super) const FUNCTIONS: &[Function] = &[
    Function::new("normalize", &[Type::String], |call| Ok(normalize(&call.string(0)).into())),
    Function::new("slugify", &[], slugify).and(Type::Any),
    Function::of("tpl", &[Type::String, Type::Any], Body::Tpl).changing(),
    Function::new("toYaml", &[Type::Any], yaml::to_yaml),
    Function::new("fromYaml", &[Type::String], yaml::from_yaml),
    Function::new("fromYamlArray", &[Type::String], yaml::from_yaml_array),
];

/// Returns a string as a DNS name: in lower case, with hyphens instead of other characters, and of at most 253 bytes.
pub fn normalize(string: &[u8]) -> String {
    let lower = map(string, to_lower);
    let mut name: String = characters(&lower)
        .map(|(_, c, _)| if matches!(c, '-' | '.' | 'a'..='z' | '0'..='9') { c } else { '-' })
        .collect();
    name.truncate(NAME_BYTES_MAX);
    name.trim_matches(['-', '.']).to_owned()
}

/// Returns a string in lower case as a slug: letters, digits and `_` of ASCII, and hyphens instead of all others. A slug of more than
/// `length` bytes ends at a word; 0 means no limit.
pub fn slug(name: &str, length: usize) -> String {
    let mut slug = String::new();
    for c in name.chars().map(|c| if c.is_ascii_alphanumeric() || c == '_' { c } else { '-' }) {
        if c != '-' || !slug.ends_with('-') {
            slug.push(c);
        }
    }
    let slug = slug.trim_matches(['-', '_']);
    if length == 0 || slug.len() <= length {
        return slug.to_owned();
    }
    let end = slug.as_bytes()[..=length].iter().rposition(|byte| *byte == b'-').unwrap_or(length);
    slug[..end].to_owned()
}

/// `slugify [LENGTH [SMART]] STRING`; a smart slug ends at a word.
fn slugify(call: &mut Call<'_>) -> Outcome {
    let values = call.values(0);
    let (mut length, mut is_smart, mut name) = (SLUG_BYTES_MAX, true, String::new());
    let mismatch = |value: &Value, expected: &str| {
        let found = if matches!(value, Value::Nil) { "nil" } else { value.type_name() };
        fail(format!("interface conversion: interface {{}} is {found}, not {expected}"))
    };
    for (index, value) in values.iter().enumerate() {
        match (index, value) {
            (index, Value::String(string)) if index + 1 == values.len() => name = normalize(string),
            (index, value) if index + 1 == values.len() => return mismatch(value, "string"),
            (0, Value::Int(value)) => length = *value,
            (0, value) => return mismatch(value, "int"),
            (1, Value::Bool(value)) => is_smart = *value,
            (1, value) => return mismatch(value, "bool"),
            _ => {}
        }
    }
    if !is_smart && i64::try_from(name.len()).is_ok_and(|bytes| bytes >= length) {
        match usize::try_from(length) {
            Ok(length) => name.truncate(length),
            Err(_) => return fail(format!("runtime error: slice bounds out of range [:{length}]")),
        }
    }
    let length = if is_smart { usize::try_from(length).unwrap_or(0) } else { 0 };
    Ok(slug(&name, length).into())
}
