//! Assignments of the command line (`NAME=TEXT`), with what is in the files that they name.

use std::collections::HashSet;
use std::io::Read as _;

use tiphys_params::{Assignment, Operand, OperandOrigin, ParameterValue, Target, read_operand};

use crate::failure::{Failure, chain};
use crate::settings::Host;

/// Bytes that a value or a file of values may have: more than any program's environment takes.
const VALUE_BYTES_MAX: u64 = 16 << 20;

/// Reads an assignment and its value. `known` are the names that win over every other reading.
pub(crate) fn read(
    text: &str,
    known: &HashSet<&str>,
    host: &Host,
) -> Result<Assignment<ParameterValue>, Failure> {
    let Assignment { target, value } =
        Assignment::parse(text, known).map_err(|error| Failure::bad_input_from(&error))?;
    let value = match value {
        Some(operand) => Some(value_of(&target, &operand, host)?),
        None => None,
    };
    Ok(Assignment { target, value })
}

fn value_of(target: &Target, operand: &Operand, host: &Host) -> Result<ParameterValue, Failure> {
    let refused = |reason: String| Failure::bad_input(format!("{target}: {reason}"));
    let read = match &operand.origin {
        OperandOrigin::Inline(text) => read_operand(operand.form, text.as_bytes()),
        OperandOrigin::File(path) => {
            let bytes =
                read_bytes(host, path).map_err(|error| refused(format!("cannot read {path}: {error}")))?;
            read_operand(operand.form, &bytes)
        }
    };
    read.map_err(|error| refused(chain(&error)))
}

/// The bytes of a file, or of standard input for `-`.
pub(crate) fn read_bytes(host: &Host, path: &str) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    let result = if path == "-" {
        std::io::stdin().lock().take(VALUE_BYTES_MAX + 1).read_to_end(&mut bytes)
    } else {
        std::fs::File::open(host.absolute(path))
            .and_then(|file| file.take(VALUE_BYTES_MAX + 1).read_to_end(&mut bytes))
    };
    result.map_err(|error| error.to_string())?;
    if bytes.len() as u64 > VALUE_BYTES_MAX {
        return Err(format!("it has more than {VALUE_BYTES_MAX} bytes, the most that a value may have"));
    }
    Ok(bytes)
}
