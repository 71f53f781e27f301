//! Patterns and what they match in a small tree.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use super::find;

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

/// What a pattern matches, or why it is none.
fn matches(pattern: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    tree(folder.path());
    let found = match find(folder.path(), pattern) {
        Ok(found) => found,
        Err(error) => return error.to_string(),
    };
    let names =
        found.iter().map(|path| path.strip_prefix(folder.path()).unwrap().to_str().unwrap().to_owned());
    names.collect::<Vec<_>>().join(" ")
}

#[test]
fn patterns_match_as_argo_cd_s_do() {
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
fn what_is_no_pattern_is_refused() {
    for pattern in ["env/[.yaml", "env/[]a].yaml", "env/*\\", "env/{a*", "env/*}", "env/[!]", "env/[a\\"] {
        assert_eq!(matches(pattern), "syntax error in pattern", "{pattern}");
    }
}
