//! Assignments of parameters (`NAME=VALUE`), with the content of the files that they name.

use std::collections::HashSet;
use std::io::{self, Read as _};

use tiphys_model::params::{Assignment, Form, Operand, OperandOrigin, ParameterValue, Target, read_operand};

use crate::context::host::Host;
use crate::error::ServiceError;

/// Bytes of a value or of a file of values. The environment of a program is smaller.
const VALUE_BYTES_MAX: u64 = 16 << 20;

/// Parses an assignment and reads its value. `known` are names that take precedence over operators in them.
pub(crate) fn read(
    text: &str,
    known: &HashSet<&str>,
    host: &Host,
) -> Result<Assignment<ParameterValue>, ServiceError> {
    let Assignment { target, value } = parse(text, known)?;
    let value = match value {
        Some(operand) => {
            let bytes = operand_bytes(&target, &operand, host)?;
            Some(value_of(&target, operand.form, &bytes)?)
        }
        None => None,
    };
    Ok(Assignment { target, value })
}

/// Parses an assignment without reading its value.
pub(crate) fn parse(text: &str, known: &HashSet<&str>) -> Result<Assignment<Operand>, ServiceError> {
    Assignment::parse(text, known).map_err(ServiceError::invalid_input_from)
}

/// Returns the bytes of a value: those of the assignment, or of the file that it names.
pub(crate) fn operand_bytes(
    target: &Target,
    operand: &Operand,
    host: &Host,
) -> Result<Vec<u8>, ServiceError> {
    match &operand.origin {
        OperandOrigin::Inline(text) => Ok(text.clone().into_bytes()),
        OperandOrigin::File(path) => read_bytes(host, path)
            .map_err(|error| refused(target, &format!("cannot read {path}")).because(error)),
    }
}

/// Parses the bytes of a value.
pub(crate) fn value_of(target: &Target, form: Form, bytes: &[u8]) -> Result<ParameterValue, ServiceError> {
    read_operand(form, bytes).map_err(|error| ServiceError::invalid_input(target.to_string()).because(error))
}

/// Returns the error for the value of a target.
pub(crate) fn refused(target: &Target, reason: &str) -> ServiceError {
    ServiceError::invalid_input(format!("{target}: {reason}"))
}

/// Reads a file, or standard input for `-`.
pub(crate) fn read_bytes(host: &Host, path: &str) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    if path == "-" {
        (host.standard_input)().take(VALUE_BYTES_MAX + 1).read_to_end(&mut bytes)?;
    } else {
        std::fs::File::open(host.absolute(path))?.take(VALUE_BYTES_MAX + 1).read_to_end(&mut bytes)?;
    }
    if bytes.len() as u64 > VALUE_BYTES_MAX {
        let message = format!("it has more than {VALUE_BYTES_MAX} bytes, the most that a value may have");
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, message));
    }
    Ok(bytes)
}
