//! Errors of the system.

use std::io;

use super::go_words;

#[test]
fn system_errors_are_formatted_as_go_does() {
    assert_eq!(go_words(&io::Error::from_raw_os_error(2)), "no such file or directory");
    assert_eq!(go_words(&io::Error::from_raw_os_error(21)), "is a directory");
}
