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
