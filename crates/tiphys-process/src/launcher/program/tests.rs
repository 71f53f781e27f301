use super::*;

#[test]
fn program_is_searched_in_absolute_directories_only() {
    let dir = Path::new("/bin");
    assert_eq!(resolve("sh", "/nowhere:/bin", dir), Ok(PathBuf::from("/bin/sh")));
    assert_eq!(resolve("./sh", "", dir), Ok(PathBuf::from("/bin/./sh")));
    assert_eq!(resolve("/x/sh", "/bin", dir), Ok(PathBuf::from("/x/sh")));
    let not_found = Failure::new(Errno::NOENT, "executable file not found in $PATH");
    for (name, path) in [("sh", ""), ("sh", ":."), ("sh", "bin:/nowhere"), ("", "/bin"), ("..", "/bin")] {
        assert_eq!(resolve(name, path, dir).as_ref(), Err(&not_found), "{name:?} in {path:?}");
    }
}

#[test]
fn too_large_command_names_its_largest_string() {
    let command = CommandSpec {
        argv: vec!["sh".into(), "abc".into()],
        env: vec![("A".into(), "x".repeat(100)), ("A".into(), "12345".into()), ("B".into(), String::new())],
        dir: PathBuf::new(),
    };
    // 3 + 4 + "A=12345\0" + "B=\0"
    assert_eq!(
        too_big(&command),
        "argument list too long: arguments and environment have 18 bytes; the largest is environment variable A with 8 bytes"
    );
}
