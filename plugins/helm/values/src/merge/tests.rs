use super::{Assignment, Flag, Inputs, MergeError, ValuesFile, merged};
use crate::{HelmVersion, LIMITS, Value};

fn run(files: &[(&str, &str)], assignments: &[(Flag, &str)]) -> Result<String, MergeError> {
    let files: Vec<_> = files.iter().map(|(name, text)| ValuesFile { name, text: text.as_bytes() }).collect();
    let assignments: Vec<_> = assignments.iter().map(|&(flag, text)| Assignment { flag, text }).collect();
    let inputs = Inputs {
        version: HelmVersion::V4,
        values_files: &files,
        assignments: &assignments,
        read_file: &|path| Ok(format!("content of {path}")),
        limits: LIMITS,
    };
    Ok(Value::Map(merged(&inputs)?).to_json())
}

#[test]
fn files_precede_assignments_sorted_by_kind() {
    let files = [("a.yaml", "{a: 1, b: 1, o: {x: 1}}"), ("b.yaml", "{b: 2, o: {z: null}}")];
    let assignments =
        [(Flag::SetFile, "e=file"), (Flag::SetString, "d=1,e=2"), (Flag::Set, "c=1,d=1,c=2,o.j=0")];
    assert_eq!(
        run(&files, &assignments).expect("the inputs are valid"),
        r#"{"a":1,"b":2,"c":2,"d":"1","e":"content of file","o":{"j":0,"x":1,"z":null}}"#
    );
}

#[test]
fn invalid_values_file_is_named() {
    let error = run(&[("good.yaml", "a: 1"), ("bad.yaml", "[]")], &[]).expect_err("a list is rejected");
    assert_eq!(error.to_string(), "failed to parse bad.yaml");
}

#[test]
fn flags_are_displayed_as_on_the_command_line() {
    let flags = Flag::ALL.map(|flag| flag.to_string());
    assert_eq!(flags, ["--set", "--set-string", "--set-file"]);
}
