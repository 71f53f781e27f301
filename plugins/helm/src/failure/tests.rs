//! Errors of the system as people see them.

use std::io;

use super::go_words;

#[test]
fn errors_of_the_system_are_in_the_words_of_go() {
    assert_eq!(go_words(&io::Error::from_raw_os_error(2)), "no such file or directory");
    assert_eq!(go_words(&io::Error::from_raw_os_error(21)), "is a directory");
}
