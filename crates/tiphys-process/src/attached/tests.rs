use std::fs;
use std::time::Duration;

use tempfile::TempDir;

use super::*;

fn shell(script: &str) -> Attached {
    Attached {
        program: "sh".into(),
        args: ["-c", script].map(OsString::from).to_vec(),
        env: vec![("PATH".into(), "/usr/bin:/bin".into()), ("A".into(), "1".into())],
        input: None,
    }
}

#[tokio::test]
async fn attached_program_gets_directory_and_environment() {
    let directory = TempDir::new().expect("a directory");
    let dir = directory.path().canonicalize().expect("exists");
    let code = shell("(pwd; env | grep -v ^PWD= | sort) > out; exit 3").run(&dir).await.expect("it starts");
    assert_eq!(code, Some(3));
    let out = fs::read_to_string(dir.join("out")).expect("it was written");
    let own: Vec<&str> =
        out.lines().filter(|line| !line.starts_with("_=") && !line.starts_with("SHLVL=")).collect();
    assert_eq!(own, [dir.to_str().expect("UTF-8"), "A=1", "PATH=/usr/bin:/bin"]);
    assert_eq!(
        shell("kill -KILL $$").run(&dir).await.expect("it starts"),
        None,
        "no exit code after a signal"
    );
}

#[tokio::test]
async fn attached_program_reads_given_input_and_may_end_early() {
    let directory = TempDir::new().expect("a directory");
    let input = Some(b"line\n".repeat(1 << 16));
    let all = Attached { input: input.clone(), ..shell("wc -l > out") };
    assert_eq!(all.run(directory.path()).await.expect("it starts"), Some(0));
    let out = fs::read_to_string(directory.path().join("out")).expect("it was written");
    assert_eq!(out.trim(), "65536");
    let first = Attached { input, ..shell("head -n 1 > out; exit 4") };
    assert_eq!(first.run(directory.path()).await.expect("it starts"), Some(4));
}

#[tokio::test]
async fn missing_attached_program_is_named() {
    for program in ["no-such-program", "/nonexistent/program"] {
        let attached = Attached { program: program.into(), ..shell("") };
        let error = attached.run(Path::new("/")).await.expect_err("does not exist");
        assert_eq!(error.to_string(), format!("cannot start {program}"));
    }
}

#[tokio::test]
async fn dropping_the_call_ends_the_attached_program() {
    let directory = TempDir::new().expect("a directory");
    let pipe = directory.path().join("pipe");
    assert_eq!(shell("mkfifo pipe").run(directory.path()).await.expect("it starts"), Some(0));
    let attached = shell("exec sleep 1000 > pipe");
    let opened = tokio::task::spawn_blocking(move || fs::File::open(pipe));
    let running = attached.run(directory.path());
    // The pipe opens once the program holds its other end.
    let mut pipe = tokio::select! {
        opened = opened => opened.expect("it was opened").expect("it can be read"),
        ended = running => panic!("it has ended: {ended:?}"),
    };
    let read = tokio::task::spawn_blocking(move || std::io::copy(&mut pipe, &mut std::io::sink()));
    let end = tokio::time::timeout(Duration::from_mins(1), read).await.expect("the pipe is closed");
    assert_eq!(end.expect("it was read").expect("it can be read"), 0);
}
