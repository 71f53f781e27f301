//! Variables of the environment that a caller passes on.

use std::ffi::OsString;

/// Returns the last value of a variable; none if it is missing or not UTF-8.
pub(crate) fn variable(environment: &[(OsString, OsString)], name: &str) -> Option<String> {
    let found = environment.iter().rfind(|(found, _)| found == name);
    found.and_then(|(_, value)| value.to_str()).map(str::to_owned)
}
