//! Standard output: data, and nothing else. A closed standard output is not an error.

mod destination;
mod notes;
mod pager;
mod replace_file;
mod table;

use std::io::{self, Read, Write};

use tiphys_process::escape_text;

use crate::error::ServiceError;
use crate::progress::stderr;
use crate::terminal::one_line;

pub(crate) use tiphys_service::{json_list as list, json_text as json, yaml_documents as documents};

pub(crate) use destination::destination;
pub(crate) use notes::{is_verbose, note, print_note_count, set_verbose};
pub(crate) use pager::page;
pub(crate) use replace_file::{PUBLIC_MODE, replace_file, write_private_file};
pub(crate) use table::Table;

/// Prints data, or text that is already escaped.
pub(crate) fn print(text: &str) -> Result<(), ServiceError> {
    print_from(text.as_bytes())
}

/// Prints data from a reader. A line of progress is erased first.
pub(crate) fn print_from(mut data: impl Read) -> Result<(), ServiceError> {
    drop(stderr());
    let mut out = io::stdout().lock();
    match io::copy(&mut data, &mut out).and_then(|_| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(ServiceError::rendering(format!("cannot write to standard output: {error}")))
        }
        _ => Ok(()),
    }
}

/// Prints information that is neither data nor an error: one line on standard error, independent of the log level.
pub(crate) fn status(text: &str) {
    // A closed standard error is ignored.
    drop(writeln!(stderr(), "{}", escape_text(text)));
}

/// One string per line, escaped.
pub(crate) fn lines(texts: impl IntoIterator<Item = String>) -> String {
    texts.into_iter().flat_map(|text| [one_line(&text), "\n".to_owned()]).collect()
}
