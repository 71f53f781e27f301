//! The type of a value of `--set` (`typedVal` of helm's `strvals`).

use crate::Value;
use crate::go_text::{is_word, whole_number};

/// Types a value as `--set` does: three words in any letter case, and integers. Floats stay strings, and so do numbers with a leading zero,
/// unless a sign precedes it.
pub fn typed_scalar(text: String) -> Value {
    if is_word(&text, "true") {
        return Value::Bool(true);
    }
    if is_word(&text, "false") {
        return Value::Bool(false);
    }
    if is_word(&text, "null") {
        return Value::Null;
    }
    if text == "0" {
        return Value::Integer(0);
    }
    match whole_number(&text) {
        Ok(number) if !text.starts_with('0') => Value::Integer(number),
        _ => Value::Text(text),
    }
}
