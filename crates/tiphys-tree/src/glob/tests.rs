//! Globs against the recorded answers of the real programs, and what those do not show.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use serde_json::Value;
use tiphys_testkit::oracle;

use super::{GlobError, file_name, find};

/// The tree of a case below a temporary folder, and its base directory.
fn build(input: &Value) -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let base = dir.path().join("root").join(input["base"].as_str().unwrap_or("base"));
    fs::create_dir_all(&base).expect("the base directory");
    for entry in input["tree"].as_array().expect("a list of entries") {
        let place = base.join(entry["path"].as_str().expect("a path"));
        fs::create_dir_all(place.parent().expect("a parent")).expect("folders");
        match entry["type"].as_str() {
            Some("dir") => fs::create_dir_all(&place).expect("a folder"),
            Some("symlink") => symlink(entry["target"].as_str().expect("a target"), &place).expect("a link"),
            _ => fs::write(&place, "").expect("a file"),
        }
    }
    (dir, base)
}

/// A path relative to the base directory, climbing where it is outside.
fn relative(path: &Path, base: &Path) -> String {
    let common = path.components().zip(base.components()).take_while(|(a, b)| a == b).count();
    let up = base.components().skip(common).map(|_| "..".to_owned());
    let down = path.components().skip(common).map(|name| name.as_os_str().to_string_lossy().into_owned());
    let parts: Vec<String> = up.chain(down).collect();
    if parts.is_empty() { ".".to_owned() } else { parts.join("/") }
}

/// Our answer in the words of the original.
fn in_go_words(error: &GlobError, input: &Value, base: &Path) -> String {
    let text = match error {
        GlobError::Missing { path }
            if relative(path, base) == clean(input["pattern"].as_str().unwrap_or_default()) =>
        {
            "file does not exist".to_owned()
        }
        GlobError::Missing { path } => format!("stat {}: no such file or directory", path.display()),
        other => other.to_string(),
    };
    let root = base.parent().expect("a parent").to_str().expect("UTF-8").to_owned();
    text.replace(base.to_str().expect("UTF-8"), "$BASE").replace(&root, "$ROOT")
}

fn clean(pattern: &str) -> String {
    String::from_utf8(super::go_path::clean(pattern.as_bytes())).expect("UTF-8")
}

fn compare(case: &Value, base: &Path, answer: Result<Vec<PathBuf>, GlobError>) -> Result<(), String> {
    let output = &case["output"];
    let ours = match answer {
        Ok(found) => {
            let mut found: Vec<String> = found.iter().map(|path| relative(path, base)).collect();
            found.sort();
            serde_json::json!({"matches": found, "supported": !found.is_empty()})
        }
        Err(error) => {
            serde_json::json!({"error": in_go_words(&error, &case["input"], base), "supported": false})
        }
    };
    let keys = ["matches", "error", "supported"];
    if keys.iter().all(|key| ours.get(key) == output.get(key)) {
        return Ok(());
    }
    Err(format!("{}: ours {ours}, recorded {output}", case["input"]["pattern"]))
}

#[test]
fn file_names_are_found_as_go_finds_them() {
    oracle::check("glob-filename", |case| {
        let input = &case["input"];
        let (_dir, base) = build(input);
        Some(compare(case, &base, file_name(&base, input["pattern"].as_str().expect("a pattern"))))
    });
}

#[test]
fn globs_are_found_as_zglob_finds_them() {
    oracle::check("glob-find", |case| {
        let input = &case["input"];
        let (_dir, base) = build(input);
        let variable = |name: &str| input["env"][name].as_str().map(str::to_owned);
        Some(compare(case, &base, find(&base, input["pattern"].as_str().expect("a pattern"), &variable)))
    });
}

/// A folder with these files, and what `find` gives for a pattern there.
fn found(files: &[&str], pattern: &str) -> Vec<String> {
    let dir = tempfile::tempdir().expect("a temporary folder");
    for file in files {
        let place = dir.path().join(file);
        fs::create_dir_all(place.parent().expect("a parent")).expect("folders");
        fs::write(place, "").expect("a file");
    }
    let found = find(dir.path(), pattern, &|_| None).expect("the pattern holds");
    found.iter().map(|path| relative(path, dir.path())).collect()
}

#[test]
fn an_escaped_character_beyond_latin_stands_for_its_first_two_hexadecimal_digits() {
    // go-zglob writes 日 as `[\x65E5]`, which Go reads as one of `e`, `E`, `5`. With the star escaped too, the part in front is
    // literal, and the walk goes only where that literal leads.
    let files = ["e*/x/f", "E*/x/g", "日*/x/h"];
    assert_eq!(found(&files, "\\日*/x/*"), ["E*/x/g", "e*/x/f"]);
    assert_eq!(found(&files, "\\日\\*/x/*"), Vec::<String>::new());
}

#[test]
fn a_class_may_swallow_what_follows_it() {
    // `[a\]` is copied, so that its `]` is escaped and the class goes on to the end of the next one.
    assert_eq!(found(&["ab", "]b", "cb"], "[a\\]*b"), ["]b", "ab"]);
    assert_eq!(found(&["x-", "]-", "5-"], "[[:digit:]*-"), ["5-"]);
}

#[test]
fn a_class_that_go_refuses_is_refused_in_its_words() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let error = |pattern: &str| find(dir.path(), pattern, &|_| None).expect_err("malformed").to_string();
    for (pattern, reason) in [
        ("[b-a]*", "invalid character class range: `b-a`"),
        ("[[:foo:]*", "invalid character class range: `[:foo:]`"),
        ("[\\p{Foo}]*", "invalid character class range: `\\p{Foo}`"),
        ("[\\q]*", "invalid escape sequence: `\\q`"),
        ("[\\8]*", "invalid escape sequence: `\\8`"),
    ] {
        assert_eq!(error(pattern), format!("error parsing regexp: {reason}"));
    }
    assert!(
        error("*[a\\]").starts_with("error parsing regexp: missing closing ]: `[a\\]$`"),
        "{}",
        error("*[a\\]")
    );
}

#[test]
fn names_that_are_not_utf_8_match_a_byte_at_a_time() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let name = std::os::unix::ffi::OsStrExt::from_bytes(b"a\xff\xfe.yaml");
    let place = dir.path().join::<&std::ffi::OsStr>(name);
    fs::write(&place, "").expect("a file");
    assert_eq!(file_name(dir.path(), "a??.yaml").expect("found"), std::slice::from_ref(&place));
    assert_eq!(file_name(dir.path(), "a?.yaml").expect("found"), Vec::<PathBuf>::new());
    assert_eq!(find(dir.path(), "**/*.yaml", &|_| None).expect("found"), [place]);
}

#[test]
fn a_match_reads_a_pattern_only_as_far_as_it_gets() {
    for (pattern, name, expected) in [
        ("*.yaml", "a.yaml", Some(true)),
        ("*.yaml", "a/b.yaml", Some(false)),
        ("a*b*c", "axxbyyc", Some(true)),
        ("[^a-c]x", "dx", Some(true)),
        ("[c-a]", "b", Some(false)),
        ("\\*", "*", Some(true)),
        ("a[", "a", None),
        ("a[", "b", None),
        ("x*[", "a", Some(false)),
        ("[]a]", "]", None),
        ("[a-]", "a", None),
        ("a\\", "a", None),
        ("日?", "日本", Some(true)),
        ("", "", Some(true)),
    ] {
        assert_eq!(super::go_match(pattern, name).ok(), expected, "{pattern:?} {name:?}");
    }
}
