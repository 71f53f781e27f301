//! Error types whose texts print their source in every way that there is, and such that do not.

use super::*;
use crate::tidy::synthetic::Synthetic;

fn findings(source: &str) -> Vec<String> {
    Synthetic::new(&[("a.rs", source)]).findings(&CHECK)
}

#[test]
fn texts_that_print_other_fields_hold() {
    let source = "enum E {\n\
        #[error(\"cannot read {path}\")] A { path: Map<K, V>, #[source] source: io::Error },\n\
        #[error(\"{0} is missing\")] B(String, #[source] io::Error),\n\
        #[error(transparent)] C(#[from] F),\n\
        #[error(\"{message}\")] D { message: String },\n}";
    assert_eq!(findings(source), Vec::<String>::new());
}

#[test]
fn a_tuple_that_prints_its_source_is_found() {
    let source =
        "enum E {\n    /// Doc.\n    #[error(\"reading failed: {0}\")]\n    A(#[from] io::Error),\n}";
    assert_eq!(findings(source), ["a.rs:3: prints its source `0`"]);
}

#[test]
fn a_named_field_is_found_by_its_mark_or_by_its_name() {
    for (name, fields) in
        [("cause", "#[source] cause: io::Error"), ("source", "/// Doc.\n pub source: io::Error")]
    {
        let source = format!("enum E {{ #[error(\"failed: {{{name}:?}}\")] A {{ {fields} }} }}");
        assert_eq!(findings(&source), [format!("a.rs:1: prints its source `{name}`")]);
    }
}

#[test]
fn a_source_that_is_an_argument_behind_the_text_is_found() {
    assert_eq!(
        findings("enum E { #[error(\"failed: {}\", .source.kind())] A { source: io::Error } }"),
        ["a.rs:1: prints its source `source`"]
    );
}

#[test]
fn a_structure_is_found_as_well() {
    let source =
        "#[derive(Debug)]\n#[error(\"failed: {source}\")]\npub(crate) struct E { source: io::Error }";
    assert_eq!(findings(source), ["a.rs:2: prints its source `source`"]);
}
