//! Assignments of parameters (`NAME=VALUE`), with the content of the files that they name.

use std::collections::HashSet;
use std::io::Read as _;

use tiphys_params::{Assignment, Operand, OperandOrigin, ParameterValue, Target, read_operand};

use crate::error::{ServiceError, chain};
use crate::host::Host;

/// Bytes of a value or of a file of values. The environment of a program is smaller.
const VALUE_BYTES_MAX: u64 = 16 << 20;

/// Parses an assignment and reads its value. `known` are names that take precedence over operators in them.
pub(crate) fn read(
    text: &str,
    known: &HashSet<&str>,
    host: &Host,
) -> Result<Assignment<ParameterValue>, ServiceError> {
    let Assignment { target, value } =
        Assignment::parse(text, known).map_err(|error| ServiceError::invalid_input_from(&error))?;
    let value = match value {
        Some(operand) => Some(value_of(&target, &operand, host)?),
        None => None,
    };
    Ok(Assignment { target, value })
}

fn value_of(target: &Target, operand: &Operand, host: &Host) -> Result<ParameterValue, ServiceError> {
    let refused = |reason: String| ServiceError::invalid_input(format!("{target}: {reason}"));
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

/// Reads a file, or standard input for `-`.
pub(crate) fn read_bytes(host: &Host, path: &str) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    let result = if path == "-" {
        (host.standard_input)().take(VALUE_BYTES_MAX + 1).read_to_end(&mut bytes)
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
