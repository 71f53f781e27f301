//! Entries that may exist instead of a file.

use std::fs::{self, File, OpenOptions};
use std::os::unix::fs::symlink;
use std::path::Path;

use rustix::fs::{CWD, FileType, Mode, mkfifoat, mknodat};

use super::{FileOwner, NotOpened, open_file};

/// A name, and whether it is opened as a file of the program or a repository, and as one of the user.
const CASES: [(&str, [bool; 2]); 9] = [
    ("file", [true, true]),
    ("link", [false, true]),
    ("link-to-null", [false, true]),
    ("link-to-pipe", [false, false]),
    ("link-to-itself", [false, false]),
    ("link-to-zero", [false, false]),
    ("folder", [false, false]),
    ("pipe", [false, false]),
    ("socket", [false, false]),
];

#[test]
fn only_regular_files_and_permitted_links_are_opened() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    fs::write(at("file"), "text").unwrap();
    let links =
        [("", "file"), ("-to-null", "/dev/null"), ("-to-pipe", "pipe"), ("-to-itself", "link-to-itself")];
    for (name, target) in links {
        symlink(target, at(&format!("link{name}"))).unwrap();
    }
    symlink("/dev/zero", at("link-to-zero")).unwrap();
    fs::create_dir(at("folder")).unwrap();
    mkfifoat(CWD, at("pipe"), Mode::RUSR | Mode::WUSR).unwrap();
    // A listener's path may have 108 bytes alone, and that of a folder for temporary files may have more.
    mknodat(CWD, at("socket"), FileType::Socket, Mode::RUSR | Mode::WUSR, 0).unwrap();
    let ways: [fn() -> OpenOptions; 3] = [
        || File::options().read(true).clone(),
        || File::options().write(true).clone(),
        || File::options().read(true).write(true).create(true).truncate(false).clone(),
    ];
    for way in ways {
        for (name, expected) in CASES {
            let [is_opened, is_opened_for_user] = expected;
            for (owner, is_opened) in [
                (FileOwner::Program, is_opened),
                (FileOwner::Repository, is_opened),
                (FileOwner::Anybody, is_opened_for_user),
            ] {
                let opened = open_file(&at(name), owner, &mut way());
                match opened {
                    Ok(_) => assert!(is_opened, "{name} {owner:?}"),
                    Err(NotOpened::Folder) => assert_eq!((name, is_opened), ("folder", false)),
                    Err(NotOpened::NoFile) => assert!(!is_opened && name != "folder", "{name} {owner:?}"),
                    Err(NotOpened::Io(error)) => panic!("{name} {owner:?}: {error}"),
                }
            }
        }
    }
    let read = |path: &Path| open_file(path, FileOwner::Anybody, File::options().read(true));
    assert!(matches!(read(&at("none")), Err(NotOpened::Io(_))));
    open_file(&at("new"), FileOwner::Program, File::options().write(true).create_new(true)).unwrap();
}
