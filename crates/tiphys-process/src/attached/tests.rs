use std::fs;
use std::time::Duration;

use tempfile::TempDir;

use super::*;

fn shell(script: &str) -> Attached {
    Attached {
        program: "sh".into(),
        args: ["-c", script].map(OsString::from).to_vec(),
        env: vec![("PATH".into(), "/usr/bin:/bin".into()), ("A".into(), "1".into())],
    }
}

#[tokio::test]
async fn an_attached_program_gets_its_folder_and_environment_and_its_code_is_told() {
    let folder = TempDir::new().expect("a folder");
    let dir = folder.path().canonicalize().expect("is there");
    let code = shell("(pwd; env | grep -v ^PWD= | sort) > out; exit 3").run(&dir).await.expect("it starts");
    assert_eq!(code, Some(3));
    let out = fs::read_to_string(dir.join("out")).expect("it was written");
    let own: Vec<&str> =
        out.lines().filter(|line| !line.starts_with("_=") && !line.starts_with("SHLVL=")).collect();
    assert_eq!(own, [dir.to_str().expect("UTF-8"), "A=1", "PATH=/usr/bin:/bin"]);
    assert_eq!(shell("kill -KILL $$").run(&dir).await.expect("it starts"), None, "a signal is no code");
}

#[tokio::test]
async fn an_attached_program_that_is_not_there_is_named() {
    for program in ["no-such-program", "/nonexistent/program"] {
        let attached = Attached { program: program.into(), ..shell("") };
        let error = attached.run(Path::new("/")).await.expect_err("it is not there");
        assert_eq!(error.to_string(), format!("cannot start {program}"));
    }
}

#[tokio::test]
async fn an_attached_program_ends_with_the_one_who_waits_for_it() {
    let folder = TempDir::new().expect("a folder");
    let pipe = folder.path().join("pipe");
    assert_eq!(shell("mkfifo pipe").run(folder.path()).await.expect("it starts"), Some(0));
    let attached = shell("exec sleep 1000 > pipe");
    let opened = tokio::task::spawn_blocking(move || fs::File::open(pipe));
    let running = attached.run(folder.path());
    // The pipe opens once the program holds its other end.
    let mut pipe = tokio::select! {
        opened = opened => opened.expect("it was opened").expect("it can be read"),
        ended = running => panic!("it has ended: {ended:?}"),
    };
    let read = tokio::task::spawn_blocking(move || std::io::copy(&mut pipe, &mut std::io::sink()));
    let end = tokio::time::timeout(Duration::from_mins(1), read).await.expect("nobody holds the pipe");
    assert_eq!(end.expect("it was read").expect("it can be read"), 0);
}
