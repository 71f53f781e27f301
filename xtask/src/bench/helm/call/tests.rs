use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::{Call, ChartPlace, arguments};

#[test]
fn recorded_arguments_are_what_they_were() {
    let texts =
        |recorded: &[u8]| arguments(recorded).iter().map(|one| one.display().to_string()).collect::<Vec<_>>();
    assert_eq!(
        texts(b"template\0.\0--set\0a=b c\nd\0--name-template\0\0"),
        ["template", ".", "--set", "a=b c\nd", "--name-template", ""]
    );
    assert_eq!(texts(b"version\0"), ["version"]);
}

#[test]
fn a_variable_that_is_given_again_has_its_last_value() {
    let call =
        Call::new(Path::new("/chart"), &["helm".as_ref()]).with("A", "1").with("B", "2").with("A", "3");
    assert_eq!(call.variables, [("B", OsString::from("2")), ("A", OsString::from("3"))]);
}

#[test]
fn a_chart_is_called_in_its_own_folder() {
    let chart = ChartPlace { root: PathBuf::from("/repository"), path: "umbrella" };
    assert_eq!(chart.folder(), Path::new("/repository/umbrella"));
}
