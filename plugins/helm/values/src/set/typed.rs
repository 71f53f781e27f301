//! Which type a value of `--set` has (`typedVal` of helm's `strvals`).

use crate::Value;
use crate::go_text::{is_word, whole_number};

/// A value as `--set` types it: three words in any letter case, and whole numbers. Floats stay texts, and so do numbers with a zero
/// before them; a sign before the zero hides it.
pub(super) fn value(text: String) -> Value {
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
