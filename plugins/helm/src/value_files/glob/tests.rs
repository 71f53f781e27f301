//! Patterns and their matches in a small tree.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use super::{Bounds, find};

fn tree(folder: &Path) {
    let files = [
        "a.yaml",
        "b.yaml",
        "env/.hid.yaml",
        "env/10.yaml",
        "env/9.yaml",
        "env/B.yaml",
        "env/a.yaml",
        "env/b.yaml",
        "env/c.yaml",
        "env/sub/d.yaml",
        "env/z.yml",
        "x*y/e.yaml",
        "ü.yaml",
    ];
    for file in files {
        let path = folder.join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "").unwrap();
    }
    symlink("env/sub", folder.join("link")).unwrap();
}

const BOUNDS: Bounds = Bounds { looks_max: 10_000, matches_max: 100 };

/// Returns the matches of a pattern, or its error.
fn matches(pattern: &str) -> String {
    matches_within(pattern, BOUNDS)
}

fn matches_within(pattern: &str, bounds: Bounds) -> String {
    let folder = tempfile::tempdir().unwrap();
    tree(folder.path());
    let found = match find(folder.path(), folder.path(), pattern, bounds) {
        Ok(found) => found,
        Err(error) => return error.to_string(),
    };
    let names =
        found.iter().map(|path| path.strip_prefix(folder.path()).unwrap().to_str().unwrap().to_owned());
    names.collect::<Vec<_>>().join(" ")
}

#[test]
fn patterns_match_as_in_argo_cd() {
    let cases = [
        ("env/?.yaml", "env/9.yaml env/B.yaml env/a.yaml env/b.yaml env/c.yaml"),
        ("env/[ab].yaml", "env/a.yaml env/b.yaml"),
        ("env/[!a].yaml", "env/9.yaml env/B.yaml env/b.yaml env/c.yaml"),
        ("env/[^a-c].yaml", "env/9.yaml env/B.yaml"),
        ("env/[\\a].yaml", "env/a.yaml"),
        ("env/*.yaml", "env/.hid.yaml env/10.yaml env/9.yaml env/B.yaml env/a.yaml env/b.yaml env/c.yaml"),
        (
            "env/**",
            "env env/.hid.yaml env/10.yaml env/9.yaml env/B.yaml env/a.yaml env/b.yaml env/c.yaml env/sub env/sub/d.yaml env/z.yml",
        ),
        ("**/[bd].yaml", "b.yaml env/b.yaml env/sub/d.yaml link/d.yaml"),
        ("**/sub/*.yaml", "env/sub/d.yaml"),
        (
            "env/*",
            "env/.hid.yaml env/10.yaml env/9.yaml env/B.yaml env/a.yaml env/b.yaml env/c.yaml env/sub env/z.yml",
        ),
        ("env/\\*.yaml", ""),
        ("x\\*y/*", "x*y/e.yaml"),
        ("*/sub/d.yaml", "env/sub/d.yaml"),
        ("link/*", "link/d.yaml"),
        ("env/none*.yaml", ""),
        ("a.yaml/*", ""),
        ("?.yaml", "a.yaml b.yaml ü.yaml"),
        ("env/{c,a}.y*", "env/a.yaml env/c.yaml"),
        ("env/{c,a,*b}.yaml", "env/a.yaml env/b.yaml env/c.yaml"),
        ("{env/sub,env}/?.yaml", "env/9.yaml env/B.yaml env/a.yaml env/b.yaml env/c.yaml env/sub/d.yaml"),
        ("env/{a,{b,9}}.yaml*", "env/9.yaml env/a.yaml env/b.yaml"),
        ("env/a*a*m*", "env/a.yaml"),
        ("env/a*b*", ""),
    ];
    for (pattern, expected) in cases {
        assert_eq!(matches(pattern), expected, "{pattern}");
    }
}

#[test]
fn invalid_pattern_is_rejected() {
    for pattern in ["env/[.yaml", "env/[]a].yaml", "env/*\\", "env/{a*", "env/*}", "env/[!]", "env/[a\\"] {
        assert_eq!(matches(pattern), "syntax error in pattern", "{pattern}");
    }
}

#[test]
fn cost_of_a_pattern_is_limited() {
    let too_many = "its braces expand to more than 1000 patterns; write several patterns";
    let cases = [
        (format!("none/*{}", "{a,b}".repeat(9)), ""),
        (format!("none/*{}", "{a,b}".repeat(10)), too_many),
        (format!("none/*{}", "{a,b}".repeat(200)), too_many),
        // Braces in classes, and nested ones.
        (format!("[{{]{}*", "{a,b}".repeat(10)), too_many),
        (format!("[}}]{}*", "{a,b}".repeat(200)), too_many),
        (format!("{}*{}", "{a,".repeat(16), "}".repeat(16)), "a.yaml b.yaml env link x*y ü.yaml"),
        (
            format!("{}*{}", "{a,".repeat(17), "}".repeat(17)),
            "its braces are nested more than 16 deep; write several patterns",
        ),
        ("*/".repeat(512), ""),
        (format!("*{}", "a".repeat(1_024)), "it has 1025 bytes, more than 1024; write several patterns"),
    ];
    for (pattern, expected) in cases {
        assert_eq!(matches(&pattern), expected, "{pattern}");
    }
    let few = |looks_max, matches_max| matches_within("env/*.yaml", Bounds { looks_max, matches_max });
    let all = "env/.hid.yaml env/10.yaml env/9.yaml env/B.yaml env/a.yaml env/b.yaml env/c.yaml";
    assert_eq!(few(11, 7), all);
    let looks = "more than 10 names were examined; narrow it, or increase TIPHYS_HELM_GLOB_LOOKS_MAX";
    assert_eq!(few(10, 7), looks);
    let files = "more than 6 files match; narrow it, or increase TIPHYS_HELM_GLOB_FILES_MAX";
    assert_eq!(few(11, 6), files);
}

#[test]
fn pattern_does_not_search_outside_the_repository() {
    let folder = tempfile::tempdir().unwrap();
    let base = folder.path().canonicalize().unwrap();
    let root = base.join("repo");
    fs::create_dir_all(root.join("chart")).unwrap();
    fs::create_dir(base.join("secret")).unwrap();
    fs::write(base.join("secret/key.yaml"), "").unwrap();
    symlink("../../secret", root.join("chart/out")).unwrap();
    symlink(base.join("secret"), root.join("chart/absolute")).unwrap();
    symlink("../../absent", root.join("chart/out-to-nothing")).unwrap();
    let secret = base.join("secret").display().to_string();
    let absent = base.join("absent").display().to_string();
    let patterns = [
        format!("{{{secret}/*,x}}"),
        format!("{{{secret},x}}*"),
        format!("{{{secret}/key.yaml,x*}}"),
        format!("{{{absent}/key.yaml,x*}}"),
        r"\.\./\.\./secret/*".to_owned(),
        r"\.\./\.\./absent/*".to_owned(),
        "{.,x}./{.,x}./secret/*".to_owned(),
        "{.,x}./{.,x}./secret/key.yaml".to_owned(),
        "**/{.,x}./{.,x}./secret".to_owned(),
        "out/*".to_owned(),
        "out/key.yaml{,x}".to_owned(),
        "{out,x}/**".to_owned(),
        "o*/*".to_owned(),
        "o*/k*".to_owned(),
        "**/key.yaml".to_owned(),
        "absolute/*".to_owned(),
        "out-to-nothing/*".to_owned(),
    ];
    for pattern in patterns {
        // The names in `chart`, and no more.
        let bounds = Bounds { looks_max: 20, ..BOUNDS };
        let found = find(&root, &root.join("chart"), &pattern, bounds).unwrap();
        assert!(found.is_empty(), "{pattern}: {found:?}");
    }
}
