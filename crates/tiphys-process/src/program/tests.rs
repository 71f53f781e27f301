use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;

use super::find_program;

#[test]
fn first_executable_file_in_path_is_found() {
    let dir = tempfile::tempdir().expect("a directory");
    let root = dir.path();
    for directory in ["directory/tool", "text", "link", "first", "second"] {
        fs::create_dir_all(root.join(directory)).expect("a directory");
    }
    for (file, mode) in [("text/tool", 0o644), ("first/tool", 0o755), ("second/tool", 0o755)] {
        fs::write(root.join(file), "").expect("a file");
        fs::set_permissions(root.join(file), fs::Permissions::from_mode(mode)).expect("a mode");
    }
    symlink("../second/tool", root.join("link/tool")).expect("a link");
    let shown = root.display();
    let cases = [
        (format!("{shown}/first:{shown}/second"), Some("first/tool")),
        (format!("{shown}/second:{shown}/first"), Some("second/tool")),
        (format!("{shown}/directory:{shown}/text:{shown}/none::{shown}/second"), Some("second/tool")),
        (format!("{shown}/link"), Some("link/tool")),
        (format!("{shown}/text"), None),
        // It exists, seen from any working directory, but is relative.
        (format!("{}.{shown}/first", "../".repeat(40)), None),
        (String::new(), None),
    ];
    for (search_path, expected) in cases {
        let found = find_program(Path::new("tool"), OsStr::new(&search_path));
        assert_eq!(found, expected.map(|path| root.join(path)), "{search_path}");
    }
    assert_eq!(find_program(Path::new(""), root.join("first").as_os_str()), None);
}

#[test]
fn program_with_a_slash_is_not_looked_up() {
    for program in ["./tool", "/no/such/tool", "bin/tool"] {
        assert_eq!(find_program(Path::new(program), OsStr::new("/bin")).as_deref(), Some(Path::new(program)));
    }
}
