//! Files around the limit, and files of unknown size.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use rustix::fs::{CWD, Mode, mkfifoat};

use super::read_bounded;

#[test]
fn file_is_read_up_to_the_limit() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    for (bytes, is_read) in [(0, true), (9, true), (10, true), (11, false), (1000, false)] {
        fs::write(&path, vec![b'x'; bytes]).unwrap();
        let expected = is_read.then(|| vec![b'x'; bytes]);
        assert_eq!(read_bounded(&path, 10).unwrap(), expected, "{bytes} bytes");
    }
    fs::write(&path, "all").unwrap();
    assert_eq!(read_bounded(&path, u64::MAX).unwrap().as_deref(), Some(&b"all"[..]));
}

#[test]
fn file_of_unknown_size_is_read_up_to_the_limit() {
    let silent = Path::new("/proc/self/mounts");
    assert_eq!(fs::metadata(silent).unwrap().len(), 0, "it says that it is empty");
    assert_eq!(read_bounded(silent, 4).unwrap(), None);
    assert_eq!(read_bounded(Path::new("/dev/null"), 4).unwrap(), Some(Vec::new()));
}

#[test]
fn non_file_is_an_error_without_blocking() {
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("pipe");
    mkfifoat(CWD, &pipe, Mode::RUSR | Mode::WUSR).unwrap();
    let kind = |path: &Path| read_bounded(path, 10).unwrap_err().kind();
    assert_eq!(kind(folder.path()), ErrorKind::IsADirectory);
    assert_eq!(kind(&folder.path().join("missing")), ErrorKind::NotFound);
    for path in [pipe.as_path(), Path::new("/dev/zero")] {
        assert_eq!(read_bounded(path, 10).unwrap_err().to_string(), "it is not a regular file");
    }
}
