//! What may stand in the place of a file.

use std::fs::{self, File, OpenOptions};
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;

use rustix::fs::{CWD, Mode, mkfifoat};

use super::{NotOpened, open};

#[test]
fn a_regular_file_of_this_user_is_opened_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    fs::write(at("file"), "text").unwrap();
    symlink("file", at("link")).unwrap();
    fs::create_dir(at("folder")).unwrap();
    mkfifoat(CWD, at("pipe"), Mode::RUSR | Mode::WUSR).unwrap();
    let _listener = UnixListener::bind(at("socket")).unwrap();
    let ways: [fn() -> OpenOptions; 3] = [
        || File::options().read(true).clone(),
        || File::options().write(true).clone(),
        || File::options().read(true).write(true).create(true).truncate(false).clone(),
    ];
    for way in ways {
        open(&at("file"), &mut way()).unwrap();
        for name in ["link", "folder", "pipe", "socket"] {
            assert!(matches!(open(&at(name), &mut way()), Err(NotOpened::Foreign)), "{name}");
        }
    }
    assert!(matches!(open(&at("none"), File::options().read(true)), Err(NotOpened::Io(_))));
    open(&at("new"), File::options().write(true).create_new(true)).unwrap();
}
