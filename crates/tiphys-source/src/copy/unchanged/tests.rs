use std::fs::{self, File};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use tiphys_testkit::git::{Repository, environment};
use tiphys_tree::{TreeLimits, look_at_files};

use super::*;
use crate::UserSettings;
use crate::git::Git;
use crate::identity::blob_id;

const FILES: [&str; 3] = ["a.yaml", "b.yaml", "run.sh"];

/// Sets the time of a file, so that it is older than the index.
fn age(file: PathBuf) {
    let file = File::options().write(true).open(file).expect("a file");
    file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000)).expect("a time");
}

#[tokio::test]
async fn only_files_that_git_did_not_see_change_are_known() {
    type Change = fn(&Repository);
    let cases: [(&str, Change, &[&str]); 10] = [
        ("nothing", |_| {}, &FILES),
        (
            "content",
            |it| {
                it.write("a.yaml", "other");
            },
            &["b.yaml", "run.sh"],
        ),
        (
            "content, with the old time",
            |it| {
                it.write("a.yaml", "other");
                age(it.dir().join("a.yaml"));
            },
            &["b.yaml", "run.sh"],
        ),
        (
            "mode",
            |it| {
                let path = it.dir().join("run.sh");
                fs::set_permissions(path, fs::Permissions::from_mode(0o644)).expect("a mode");
            },
            &["a.yaml", "b.yaml"],
        ),
        ("deletion", |it| fs::remove_file(it.dir().join("a.yaml")).expect("a file"), &["b.yaml", "run.sh"]),
        (
            "a link instead",
            |it| {
                fs::remove_file(it.dir().join("a.yaml")).expect("a file");
                symlink("b.yaml", it.dir().join("a.yaml")).expect("a link");
            },
            &["b.yaml", "run.sh"],
        ),
        (
            "an index that is not compared",
            |it| {
                it.git(&["update-index", "--assume-unchanged", "a.yaml"]);
            },
            &["b.yaml", "run.sh"],
        ),
        (
            "modes that are not compared",
            |it| {
                it.git(&["config", "core.fileMode", "false"]);
            },
            &[],
        ),
        (
            "attributes that convert",
            |it| {
                it.write("sub/.gitattributes", "* text=auto\n");
            },
            &[],
        ),
        (
            "other attributes",
            |it| {
                it.write(".gitattributes", "*.md linguist-generated\n");
            },
            &FILES,
        ),
    ];
    for (name, change, expected) in cases {
        let dir = tempfile::tempdir().expect("a directory");
        let repository = Repository::init(dir.path().join("repo"));
        repository.write("a.yaml", "first").write("b.yaml", "b").write_executable("run.sh", "run");
        for file in FILES {
            age(repository.dir().join(file));
        }
        repository.commit("first");
        change(&repository);
        let (path, env) = (repository.dir(), environment(dir.path()));
        let git = Git::new("git".into(), &env, UserSettings::Ignored, Duration::from_mins(1));
        let local = LocalRepository::open(path, &git).await.expect("a repository");
        let listed = [&FILES[..], &[".gitattributes", "sub/.gitattributes"]].concat();
        let listed = listed.iter().map(|file| RepoPath::new(file).expect("a path"));
        let listed: BTreeSet<RepoPath> = listed.filter(|file| file.below(path).exists()).collect();
        let mut found = unchanged(&local, path, &listed, TreeLimits::DEFAULT);
        found.sort_unstable_by(|one, other| one.0.cmp(&other.0));
        let names: Vec<&str> = found.iter().map(|(file, ..)| file.as_str()).collect();
        assert_eq!(names, expected, "{name}");
        let files: Vec<RepoPath> = found.iter().map(|(file, ..)| file.clone()).collect();
        let read = look_at_files(path, &files, TreeLimits::DEFAULT, blob_id).expect("the files are read");
        let read: Vec<FileId> = read.into_iter().map(|(file, (kind, id))| (file.clone(), kind, id)).collect();
        assert_eq!(found, read, "{name}");
    }
}
