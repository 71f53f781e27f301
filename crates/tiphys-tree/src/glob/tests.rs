//! Globs compared with recorded answers of the real programs, and further cases.

use std::cell::Cell;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use serde_json::Value;
use tiphys_testkit::oracle::{self, Difference};

use super::search::Search;
use super::{FindCache, Folder, GlobError, Listing, Place, file_name, find, has_file_name, has_found};
use crate::entries::tests::{any_entries, in_memory_and_on_disk};
use crate::{Entries, RepoPath};

/// More than any tree here has.
const ENTRIES_MAX: u64 = 10_000;

/// A recorded case: its tree on disk, the same in memory, and its base directory.
struct Case {
    dir: tempfile::TempDir,
    entries: Entries,
    base: PathBuf,
}

impl Case {
    fn new(input: &Value) -> Self {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let base = PathBuf::from(input["base"].as_str().unwrap_or("base"));
        let base_path = RepoPath::new(base.to_str().expect("UTF-8")).expect("a path inside");
        let disk = dir.path().join("root");
        let mut entries = Entries::new(1_000);
        fs::create_dir_all(disk.join(&base)).expect("the base directory");
        entries.directory(&base_path).expect("the base directory");
        for entry in input["tree"].as_array().expect("a list of entries") {
            let path = entry["path"].as_str().expect("a path");
            let (place, path) = (disk.join(&base).join(path), base_path.join(path).expect("a path inside"));
            fs::create_dir_all(place.parent().expect("a parent")).expect("folders");
            match entry["type"].as_str() {
                Some("dir") => {
                    fs::create_dir_all(&place).expect("a folder");
                    entries.directory(&path).expect("a folder");
                }
                Some("symlink") => {
                    let target = entry["target"].as_str().expect("a target");
                    symlink(target, &place).expect("a link");
                    entries.link(&path, target).expect("a link");
                }
                _ => {
                    fs::write(&place, "").expect("a file");
                    entries.file(&path).expect("a file");
                }
            }
        }
        Self { dir, entries, base }
    }

    /// Compares the answers for the tree on disk and in memory with what was recorded.
    fn compare(
        &self,
        case: &Value,
        ask: impl Fn(&Place<'_>) -> Result<Vec<PathBuf>, GlobError>,
    ) -> Result<(), Difference> {
        let seen_at = self.dir.path().join("root");
        let folder = Folder::new(&seen_at, ENTRIES_MAX);
        let sides: [(&str, &dyn Listing); 2] = [("on disk", &folder), ("in memory", &self.entries)];
        for (side, tree) in sides {
            let answer = ask(&Place { tree, seen_at: &seen_at, base: &self.base });
            compare(case, &self.base, answer).map_err(|ours| {
                Difference::new(
                    format!("{side}: {ours}"),
                    format!("{} for {}", case["output"], case["input"]["pattern"]),
                )
            })?;
        }
        Ok(())
    }
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
    match error {
        GlobError::Missing { path }
            if relative(path, base) == clean(input["pattern"].as_str().unwrap_or_default()) =>
        {
            "file does not exist".to_owned()
        }
        GlobError::Missing { path } => {
            let place = path
                .strip_prefix(base)
                .map_or_else(|_| Path::new("$ROOT").join(path), |inside| Path::new("$BASE").join(inside));
            format!("stat {}: no such file or directory", place.display())
        }
        other => other.to_string(),
    }
}

fn clean(pattern: &str) -> String {
    String::from_utf8(tiphys_go::path::clean(pattern.as_bytes())).expect("UTF-8")
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
    Err(ours.to_string())
}

#[test]
fn file_names_match_like_in_go() {
    oracle::check("glob-filename", |case| {
        let input = &case["input"];
        let pattern = input["pattern"].as_str().expect("a pattern");
        Some(Case::new(input).compare(case, |place| file_name(place, pattern)))
    });
}

#[test]
fn globs_match_like_in_zglob() {
    oracle::check("glob-find", |case| {
        let input = &case["input"];
        let pattern = input["pattern"].as_str().expect("a pattern");
        let variable = |name: &str| input["env"][name].as_str().map(str::to_owned);
        Some(Case::new(input).compare(case, |place| find(place, pattern, &variable)))
    });
}

/// The root of a tree that seems to be where plugin servers have theirs.
fn at_root(tree: &dyn Listing) -> Place<'_> {
    Place { tree, seen_at: Path::new("/tmp/_cmp_server/tree"), base: Path::new("") }
}

/// A tree of these files.
fn tree(files: &[&str]) -> Entries {
    let mut entries = Entries::new(1_000);
    for file in files {
        entries.file(RepoPath::new(file).expect("a path inside")).expect("no clash");
    }
    entries
}

/// Returns the result of `find` for a pattern in a tree of these files.
fn found(files: &[&str], pattern: &str) -> Vec<PathBuf> {
    find(&at_root(&tree(files)), pattern, &|_| None).expect("the pattern holds")
}

fn paths(texts: &[&str]) -> Vec<PathBuf> {
    texts.iter().map(PathBuf::from).collect()
}

#[test]
fn escaped_non_latin_character_matches_like_zglob() {
    // go-zglob writes 日 as `[\x65E5]`, which Go reads as one of `e`, `E`, `5`. With the star escaped too, the part in front is
    // literal, and the walk goes only where that literal leads.
    let files = ["e*/x/f", "E*/x/g", "日*/x/h"];
    assert_eq!(found(&files, "\\日*/x/*"), paths(&["E*/x/g", "e*/x/f"]));
    assert_eq!(found(&files, "\\日\\*/x/*"), paths(&[]));
}

#[test]
fn class_may_swallow_the_next_one() {
    // `[a\]` is copied, so that its `]` is escaped and the class goes on to the end of the next one.
    assert_eq!(found(&["ab", "]b", "cb"], "[a\\]*b"), paths(&["]b", "ab"]));
    assert_eq!(found(&["x-", "]-", "5-"], "[[:digit:]*-"), paths(&["5-"]));
    assert_eq!(found(&["[a", ":b", "c"], "[[:]*"), paths(&[":b", "[a"]));
}

#[test]
fn class_errors_have_the_words_of_go() {
    let empty = tree(&[]);
    let error =
        |pattern: &str| find(&at_root(&empty), pattern, &|_| None).expect_err("malformed").to_string();
    for (pattern, reason) in [
        ("[b-a]*", "invalid character class range: `b-a`"),
        ("[[:foo:]*", "invalid character class range: `[:foo:]`"),
        ("[\\p{Foo}]*", "invalid character class range: `\\p{Foo}`"),
        ("[\\q]*", "invalid escape sequence: `\\q`"),
        ("[\\8]*", "invalid escape sequence: `\\8`"),
        ("[\\x41-*]*", "invalid character class range: `\\x41-*`"),
        ("[a-\\pL]*", "invalid escape sequence: `\\p`"),
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
fn non_utf8_names_match_byte_by_byte() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let name = std::os::unix::ffi::OsStrExt::from_bytes(b"a\xff\xfe.yaml");
    let name: &std::ffi::OsStr = name;
    fs::write(dir.path().join(name), "").expect("a file");
    let folder = Folder::new(dir.path(), ENTRIES_MAX);
    let place = at_root(&folder);
    assert_eq!(file_name(&place, "a??.yaml").expect("found"), [PathBuf::from(name)]);
    assert_eq!(file_name(&place, "a?.yaml").expect("found"), paths(&[]));
    assert_eq!(find(&place, "**/*.yaml", &|_| None).expect("found"), [PathBuf::from(name)]);
}

#[test]
fn pattern_may_go_up_within_the_tree_only() {
    let tree = tree(&["app/a.yaml", "shared/b.yaml", "c.yaml"]);
    let place = Place { base: Path::new("app"), ..at_root(&tree) };
    for (pattern, by_name, by_find) in [
        ("../shared/*.yaml", &["shared/b.yaml"][..], &["shared/b.yaml"][..]),
        ("../*.yaml", &["c.yaml"], &["c.yaml"]),
        // Out and back in again by a name that anything could have.
        ("../../*/app/*.yaml", &["app/a.yaml"], &["app/a.yaml"]),
        ("../../**/a.yaml", &[], &["app/a.yaml"]),
        ("../../../../*/*/*/c.yaml", &["c.yaml"], &[]),
        ("../../../*", &[], &[]),
        ("/../*.yaml", &["c.yaml"], &["c.yaml"]),
    ] {
        assert_eq!(file_name(&place, pattern).expect("it holds"), paths(by_name), "{pattern}");
        assert_eq!(find(&place, pattern, &|_| None).expect("it holds"), paths(by_find), "{pattern}");
    }
}

/// A folder `d` of so many links to itself.
fn links_to_their_own_folder(count: u32) -> Entries {
    let mut entries = Entries::new(10_000);
    for number in 0..count {
        let path = RepoPath::new(&format!("d/{number:04}")).expect("a path inside");
        entries.link(&path, "../d").expect("a link");
    }
    entries
}

#[test]
fn loops_of_links_are_limited() {
    let entries = links_to_their_own_folder(1500);
    let place = at_root(&entries);
    let never = || false;
    let pattern = "*/*/*/*/*/*/*/*/x.yaml";
    let refused = has_file_name(&place, pattern, &never).expect_err("too many").to_string();
    assert!(refused.starts_with("more than 2000000 names would have to be looked at"), "{refused}");
    let asked = Cell::new(0_u32);
    let stop = || asked.replace(asked.get() + 1) >= 100;
    assert!(matches!(has_file_name(&place, pattern, &stop), Err(GlobError::Stopped)));
    // A hit is seen before the looks are spent.
    assert!(has_file_name(&place, "*/*/*/*/*/*/0*", &never).expect("found"));
    assert!(
        !has_found(&place, "**/x.yaml", &|_| None, &FindCache::default(), &never)
            .expect("links are not followed")
    );
    assert!(matches!(
        has_found(&place, "**/*", &|_| None, &FindCache::default(), &|| true),
        Err(GlobError::Stopped)
    ));
}

#[test]
fn search_limit_depends_on_the_entry_limit() {
    for (entries_max, looks_max) in [(0, 2_000_000), (1_000_000, 2_000_000), (1_500_000, 3_000_000)] {
        let search = Search::new(entries_max, &|| false);
        assert!((0..looks_max).all(|_| search.name().is_ok()), "{entries_max}");
        assert!(matches!(search.name(), Err(GlobError::TooManyLooks { max, .. }) if max == looks_max));
    }
    assert!(Search::new(u64::MAX, &|| false).name().is_ok());
}

#[test]
fn syntax_error_counts_if_there_is_a_name_to_match() {
    for (files, pattern, expected) in [
        (&["d/x"][..], "*/[", Err("syntax error in pattern")),
        (&["x"], "*/[", Ok(())),
        (&["a"], "x*[", Ok(())),
    ] {
        let answer = file_name(&at_root(&tree(files)), pattern).map(drop);
        assert_eq!(answer.map_err(|error| error.to_string()), expected.map_err(str::to_owned), "{pattern}");
    }
}

/// A pattern of both languages among names that trees have.
fn any_pattern() -> impl Strategy<Value = String> {
    let segment = prop::sample::select(vec![
        "a", "b", ".c", "*", "**", "?", "[ab]", "[^a]*", "{a,b}", "{a,.c}*", "..", ".", "\\a", "!(a)", "$V",
        "[",
    ]);
    prop::collection::vec(segment, 1..6).prop_map(|segments| segments.join("/"))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn entries_in_memory_give_the_same_answers_as_files(
        list in any_entries(),
        patterns in prop::collection::vec(any_pattern(), 8),
        base in prop::sample::select(vec!["", "a", "a/b", ".c", "none"]),
    ) {
        let (entries, links, dir) = in_memory_and_on_disk(&list);
        // On disk such a link shows what is beside the tree, which is why no tree has one.
        prop_assume!(links.check().is_ok());
        let root = dir.path().join("root");
        let folder = Folder::new(&root, ENTRIES_MAX);
        let variable = |name: &str| (name == "V").then(|| "b".to_owned());
        for pattern in patterns {
            let ask = |tree: &dyn Listing| {
                let place = Place { base: Path::new(base), ..at_root(tree) };
                let shown = |answer: Result<_, GlobError>| answer.map_err(|error| (error.to_string(), source(&error)));
                let (by_name, by_find) = (file_name(&place, &pattern), find(&place, &pattern, &variable));
                for (all, any) in [
                    (&by_name, has_file_name(&place, &pattern, &|| false)),
                    (&by_find, has_found(&place, &pattern, &variable, &FindCache::default(), &|| false)),
                ] {
                    assert_eq!(any.ok(), all.as_ref().ok().map(|hits| !hits.is_empty()), "{pattern}");
                }
                (shown(by_name), shown(by_find))
            };
            prop_assert_eq!(ask(&entries), ask(&folder), "{} in {}", pattern, base);
        }
    }
}

fn source(error: &GlobError) -> Option<String> {
    std::error::Error::source(error).map(ToString::to_string)
}
