//! What goes to stdout: data, and nothing else. A closed stdout ends quietly.

mod destination;
mod table;

use std::io::{self, Read, Write};

use tiphys_process::escape_text;

use crate::error::ServiceError;
use crate::terminal::one_line;

pub(crate) use tiphys_service::{json_list as list, json_text as json, yaml_documents as documents};

pub(crate) use destination::destination;
pub(crate) use table::Table;

/// Prints data, or text that is escaped already.
pub(crate) fn print(text: &str) -> Result<(), ServiceError> {
    print_from(text.as_bytes())
}

/// The same from a file.
pub(crate) fn print_from(mut data: impl Read) -> Result<(), ServiceError> {
    let mut out = io::stdout().lock();
    match io::copy(&mut data, &mut out).and_then(|_| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(ServiceError::rendering(format!("cannot write to standard output: {error}")))
        }
        _ => Ok(()),
    }
}

/// Tells a person something that is no data and no problem: one line on stderr, which no level of logging hides.
pub(crate) fn note(text: &str) {
    // Nobody is left to tell if stderr is closed.
    drop(writeln!(io::stderr().lock(), "{}", escape_text(text)));
}

/// One text a line, escaped.
pub(crate) fn lines(texts: impl IntoIterator<Item = String>) -> String {
    texts.into_iter().flat_map(|text| [one_line(&text), "\n".to_owned()]).collect()
}
