//! What goes to stdout: data, and nothing else. A closed stdout ends quietly.

mod destination;
mod table;

use std::io::{self, Read, Write};

use serde_json::Value;
use tiphys_process::{escape_json, escape_text};

use crate::failure::Failure;
use crate::terminal::one_line;

pub(crate) use destination::destination;
pub(crate) use table::Table;

/// Prints data, or text that is escaped already.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    print_from(text.as_bytes())
}

/// The same from a file.
pub(crate) fn print_from(mut data: impl Read) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    match io::copy(&mut data, &mut out).and_then(|_| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Failure::rendering(format!("cannot write to standard output: {error}")))
        }
        _ => Ok(()),
    }
}

/// Tells a person something that is no data and no problem: one line on stderr, which no level of logging hides.
pub(crate) fn note(text: &str) {
    // Nobody is left to tell if stderr is closed.
    drop(writeln!(io::stderr().lock(), "{}", escape_text(text)));
}

/// A value as indented JSON with a final newline, escaped.
pub(crate) fn json(value: &Value) -> String {
    let mut text = escape_json(&serde_json::to_string_pretty(value).unwrap_or_default());
    text.push('\n');
    text
}

/// Objects as documents separated by `---`.
pub(crate) fn documents<'a>(objects: impl IntoIterator<Item = &'a Value>) -> String {
    objects.into_iter().map(tiphys_yaml::write_yaml).collect::<Vec<_>>().join("---\n")
}

/// Objects as a `List`.
pub(crate) fn list(objects: &[Value]) -> Value {
    serde_json::json!({"apiVersion": "v1", "kind": "List", "items": objects})
}

/// One text a line, escaped.
pub(crate) fn lines(texts: impl IntoIterator<Item = String>) -> String {
    texts.into_iter().flat_map(|text| [one_line(&text), "\n".to_owned()]).collect()
}
