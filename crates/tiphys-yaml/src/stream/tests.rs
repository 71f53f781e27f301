use serde_json::Value;
use tiphys_testkit::oracle::{self, Difference};

use super::*;

fn split(stdout: &[u8]) -> Result<Vec<String>, String> {
    split_output(stdout)
        .map(|documents| documents.into_iter().map(|document| document.text()).collect())
        .map_err(|error| error.to_string())
}

fn base64(text: &str) -> Vec<u8> {
    crate::scalar::base64::decode(text.as_bytes()).expect("valid base64")
}

#[test]
fn server_results_equal_those_of_argo_cd() {
    oracle::check("manifest-split.server", |case| {
        if case["group"] == "client-only" {
            return None;
        }
        let input = &case["input"];
        let stdout = match input["stdout"].as_str() {
            Some(text) => text.as_bytes().to_vec(),
            None => base64(input["stdout_base64"].as_str().expect("one of both fields")),
        };
        let ours = split(&stdout);
        let theirs = &case["output"]["server"];
        let accepted: Vec<&Value> = match case["output_alternatives"]["server"].as_array() {
            Some(alternatives) => alternatives.iter().collect(),
            None => vec![theirs],
        };
        let equal = accepted.iter().any(|answer| match (&ours, answer["manifests"].as_array()) {
            (Ok(documents), Some(manifests)) => {
                documents.len() == manifests.len()
                    && documents.iter().zip(manifests).all(|(ours, theirs)| *theirs == **ours)
            }
            (Err(_), None) => answer["error"].is_string(),
            _ => false,
        });
        Some(if equal { Ok(()) } else { Err(Difference::new(format!("{ours:?}"), theirs)) })
    });
}

/// The text of each document, or the error.
#[track_caller]
fn check(cases: &[(&str, Result<&[&str], &str>)]) {
    for (stdout, expected) in cases {
        let expected = expected.map(|split| split.iter().map(|text| (*text).to_owned()).collect());
        assert_eq!(split(stdout.as_bytes()), expected.map_err(str::to_owned), "{stdout:?}");
    }
}

/// One newline is removed from the output, and the last line gets one if it has none.
#[test]
fn final_block_scalar_keeps_newlines_as_in_argo_cd() {
    for style in ["|+", ">+"] {
        for (newlines, kept) in [(1, 1), (2, 1), (3, 2), (4, 3), (5, 4)] {
            let stdout = format!("kind: K\na: {style}\n  lit{}", "\n".repeat(newlines));
            let expected = format!("{{\"a\":\"lit{}\",\"kind\":\"K\"}}", "\\n".repeat(kept));
            assert_eq!(split(stdout.as_bytes()), Ok(vec![expected]), "{stdout:?}");
        }
    }
}

#[test]
fn valid_input_that_argo_cd_rejects_is_accepted() {
    check(&[
        (
            "a: 1\n--- {\"b\":2}\n--- |\n  x\n--- !x\ny\n",
            Ok(&["{\"a\":1}", "{\"b\":2}", "\"x\\n\"", "\"y\""]),
        ),
        ("%YAML 1.2\n---\na: 1\n", Ok(&["{\"a\":1}"])),
        ("...\n", Ok(&[])),
        ("{\"a\":1}\n{\"b\":2}\n---\nc: 3\n", Ok(&["{\"a\":1}", "{\"b\":2}", "{\"c\":3}"])),
        ("---\n{\"a\":\"\\ud83d\\ude00\\/\"}\n", Ok(&["{\"a\":\"😀/\"}"])),
        ("a: \"\n-----BEGIN X-----\n\"\n", Ok(&["{\"a\":\" -----BEGIN X----- \"}"])),
        ("a: [b?c]\n", Ok(&["{\"a\":[\"b?c\"]}"])),
    ]);
    let utf16: Vec<u8> = "\u{FEFF}a: 1\n---\nb: 2\n".encode_utf16().flat_map(u16::to_be_bytes).collect();
    assert_eq!(split(&utf16), Ok(vec!["{\"a\":1}".to_owned(), "{\"b\":2}".to_owned()]));
}

#[test]
fn input_that_argo_cd_drops_silently_is_rejected() {
    check(&[
        (
            "a: 1\n...\nb: 2\n",
            Err(
                "line 3, column 1: the document above should end here; check the indentation, or separate documents by a line of `---`",
            ),
        ),
        (
            "---\n{\"a\":1}\n{\"b\":2}\n",
            Err(
                "line 3, column 1: the document above should end here; check the indentation, or separate documents by a line of `---`",
            ),
        ),
    ]);
}

#[test]
fn separator_without_a_blank_is_rejected() {
    for stdout in ["---foo\n", "a: 1\n---\n# c\n\n---foo: 1\n", "----\n"] {
        let error = split(stdout.as_bytes()).expect_err(stdout);
        assert!(error.ends_with("`---` must be followed by a blank or a line break"), "{error}");
    }
}

#[test]
fn error_positions_count_from_start_of_output() {
    check(&[
        (
            "a: 1\n---\nb: 2\n---\n c: 3\nd: [\n",
            Err(
                "line 6, column 1: the document above should end here; check the indentation, or separate documents by a line of `---`",
            ),
        ),
        ("{\"a\":1}\n{\"b\":}\n{\"c\":3}", Err("line 2, column 6: expected a value, `}` found")),
        ("{\"a\":1}\n{\"b\":2}\nx", Err("line 3, column 1: expected a value, `x` found")),
        // Neither JSON nor YAML. The first key determines which error is reported.
        ("{\"a\":1} {b: 2", Err("line 2, column 1: expected `,` or `}` of the object that begins at 1:9")),
        ("{\"a\":1,\n\"b\":\u{7}}", Err("line 2, column 5: expected a value, U+0007 found")),
    ]);
    assert_eq!(split(b"a: 1\n---\nb: \xff").expect_err("invalid UTF-8"), "line 3, column 4: invalid UTF-8");
}

#[test]
fn documents_have_positions_in_the_output() {
    for (stdout, expected) in [
        ("{\"a\":1} {\"a\":2}\n\n{\"a\":3}", [(1, 1), (1, 9), (3, 1)]),
        ("---\na: 1\n---\n# c\n\na: 2\n--- {a: 3}\n", [(2, 1), (6, 1), (7, 5)]),
        ("{\"a\":1}\na: 2\n---\n\n  a: 3\n", [(1, 1), (2, 1), (5, 3)]),
    ] {
        let documents = split_output(stdout.as_bytes()).expect(stdout);
        let found: Vec<_> = documents
            .iter()
            .map(|document| (document.node.position.line, document.node.position.column))
            .collect();
        assert_eq!(found, expected, "{stdout}");
    }
}

#[test]
fn json_is_detected_only_near_the_beginning() {
    let pretty = "{ \"a\" : 1 }";
    let early = format!("{}{pretty}", " ".repeat(JSON_LOOK_AHEAD_BYTES - 1));
    let late = format!("{}{pretty}", " ".repeat(JSON_LOOK_AHEAD_BYTES));
    assert_eq!(split(early.as_bytes()), Ok(vec![pretty.to_owned()]));
    assert_eq!(split(late.as_bytes()), Ok(vec!["{\"a\":1}".to_owned()]));
}

#[test]
fn server_text_keeps_64_bit_integers() {
    let documents = split_output(b"a: 18446744073709551615\n").expect("valid");
    assert_eq!(documents[0].text(), "{\"a\":18446744073709551615}");
    assert_eq!(documents[0].node.to_value(), serde_json::json!({"a": 18_446_744_073_709_551_615_f64}));
}
