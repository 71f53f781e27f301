//! Paths in and beside a git work tree.

use std::fs;
use std::os::unix::fs::symlink;

use super::destination;

#[test]
fn links_in_work_trees_and_git_directories_are_rejected() {
    let folder = tempfile::tempdir().unwrap();
    let base = folder.path().canonicalize().unwrap();
    for dir in ["repo/.git/hooks", "repo/a/b", "repo/nested", "elsewhere/c", "plain"] {
        fs::create_dir_all(base.join(dir)).unwrap();
    }
    // A submodule or a linked work tree.
    fs::write(base.join("repo/nested/.git"), "gitdir: ../.git/modules/nested\n").unwrap();
    for (target, link) in [
        ("../elsewhere", "repo/out"),
        ("a", "repo/inside"),
        (".git/hooks", "repo/hooks"),
        ("../../elsewhere", "repo/nested/out"),
        ("repo", "to-repo"),
        ("elsewhere", "to-elsewhere"),
        ("repo/.git", "to-git"),
        ("../elsewhere", "plain/out"),
        ("nowhere", "lost"),
    ] {
        symlink(target, base.join(link)).unwrap();
    }
    let link = |at: &str| format!("--x: /{at} is a symbolic link in a git work tree; remove it");
    let git = |at: &str| format!("--x: /{at} is in git's own folder; name another one");
    let cases = [
        ("repo/a/x", Ok("repo/a/x")),
        ("repo/new/folder/x", Ok("repo/new/folder/x")),
        ("repo/.github/x", Ok("repo/.github/x")),
        // A link as the last component is replaced and not followed.
        ("repo/out", Ok("repo/out")),
        ("repo/out/x", Err(link("repo/out"))),
        ("repo/out/c/x", Err(link("repo/out"))),
        ("repo/inside/x", Err(link("repo/inside"))),
        ("repo/hooks/x", Err(link("repo/hooks"))),
        ("repo/nested/out/x", Err(link("repo/nested/out"))),
        ("repo/out/../a/x", Err(link("repo/out"))),
        ("to-repo/out/x", Err(link("repo/out"))),
        ("plain/../repo/out/x", Err(link("repo/out"))),
        ("repo/.git/hooks/x", Err(git("repo/.git/hooks/x"))),
        ("repo/.GIT/x", Err(git("repo/.GIT/x"))),
        ("repo/.git", Err(git("repo/.git"))),
        ("to-git/x", Err(git("repo/.git/x"))),
        ("to-repo/a/x", Ok("repo/a/x")),
        ("to-elsewhere/x", Ok("elsewhere/x")),
        ("to-elsewhere/../plain/x", Ok("plain/x")),
        ("plain/out/x", Ok("elsewhere/x")),
        ("lost/x", Err("cannot write /lost/x: No such file or directory (os error 2)".to_owned())),
    ];
    for (path, expected) in cases {
        let found = destination("--x", &base.join(path));
        let found = found
            .map(|path| path.strip_prefix(&base).unwrap().to_str().unwrap().to_owned())
            .map_err(|failure| failure.message().replace(base.to_str().unwrap(), ""));
        assert_eq!(found, expected.map(str::to_owned), "{path}");
    }
}
