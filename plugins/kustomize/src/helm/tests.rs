use std::fs;
use std::os::unix::fs::symlink;

use super::*;

fn words(line: &str) -> Vec<OsString> {
    line.split(' ').map(OsString::from).collect()
}

#[test]
fn only_options_of_kustomize_are_passed() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let top = dir.path().canonicalize().expect("it exists");
    fs::create_dir(top.join("repo")).expect("a directory");
    fs::write(top.join("secret"), "").expect("a file");
    symlink(top.join("secret"), top.join("repo/link")).expect("a link");
    let refused_option =
        |word: &str| format!("helm: {word} is refused: a string of the kustomization must not be an option");
    let outside = |path: &str| format!("helm: {path} is refused: it leads out of the repository");
    let at = |path: &str| top.join(path).display().to_string();
    for (line, expected) in [
        ("version --short".to_owned(), None),
        (format!("template web {} -f {} --namespace --x", at("repo"), at("repo/new.yaml")), None),
        ("pull --untar --repo https://charts.example.org --version 1.0 web".to_owned(), None),
        ("template --post-renderer=sh x".to_owned(), Some(refused_option("--post-renderer=sh"))),
        ("template -post x".to_owned(), Some(refused_option("-post"))),
        ("template --namespace a --set-file=x=y".to_owned(), Some(refused_option("--set-file=x=y"))),
        (format!("template web {}", at("secret")), Some(outside(&at("secret")))),
        (format!("template web -f {}", at("repo/link")), Some(outside(&at("repo/link")))),
        (format!("template web -f {}", at("repo/../secret")), Some(outside(&at("repo/../secret")))),
        (format!("template web -f {}", at("repo/a/../../secret")), Some(outside(&at("repo/a/../../secret")))),
    ] {
        let found = check(&words(&line), &[top.join("repo"), top.join("missing")]);
        assert_eq!(found.err().map(|error| error.to_string()), expected, "{line}");
    }
}

#[test]
fn top_of_repository_is_above_the_application_path() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let top = dir.path().canonicalize().expect("it exists");
    fs::create_dir_all(top.join("a/b")).expect("directories");
    symlink("a", top.join("link")).expect("a link");
    for (folder, path, expected) in [
        ("a/b", "a/b", ""),
        ("a/b", "./a//b/", ""),
        ("a/b", "a/c/../b", ""),
        ("a/b", "link/b", ""),
        ("a/b", "b", "a"),
        ("a/b", ".", "a/b"),
        ("a/b", "", "a/b"),
        ("a/b", "other", "a/b"),
    ] {
        let found = top_above(&top.join(folder), path);
        assert_eq!(found, top.join(expected).components().collect::<PathBuf>(), "{folder} {path}");
    }
}
