//! Execution of one command: environment, output, errors.

use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::symlink;
use std::time::{Duration, Instant};

use tiphys_process::{CommandSpec, Ended, Launcher, Limits, RunError};
use tiphys_testkit::executable::make_executable;
use tokio_util::sync::CancellationToken;

use super::support::{
    ALL_USERS, LIMITS, TestDir, User, alive, command, execute, mark, marked, output, shell,
};

#[tokio::test]
async fn exit_codes_and_signals_are_distinguished() {
    for user in ALL_USERS {
        let dir = TestDir::new(user);
        let mut run = dir.start(dir.overlay()).await;
        for (script, expected) in [
            ("exit 0", Ended::Exited(0)),
            ("exit 3", Ended::Exited(3)),
            ("exit 255", Ended::Exited(255)),
            ("kill -KILL $$", Ended::Signalled(9)),
            ("kill -TERM $$", Ended::Signalled(15)),
            ("exec >&- 2>&-; exit 4", Ended::Exited(4)),
        ] {
            let outcome = execute(&mut run, shell(script)).await.expect("starts");
            assert_eq!(
                (outcome.ended, outcome.stdout, outcome.stderr.as_str()),
                (expected, vec![], ""),
                "{script}"
            );
        }
        run.finish().await.expect("finishes");
    }
}

#[tokio::test]
async fn stdout_and_stderr_are_separate_and_complete() {
    let dir = TestDir::new(User::Caller);
    let mut run = dir.start(dir.direct()).await;
    let outcome =
        execute(&mut run, shell("printf out; printf 'err\\377\\n' >&2; printf put")).await.expect("starts");
    assert_eq!(outcome.stdout, b"output");
    assert_eq!(outcome.stderr, "err\u{fffd}\n");
    let outcome = execute(&mut run, shell("head -c 1048576 /dev/zero")).await.expect("starts");
    assert_eq!((outcome.ended, outcome.stdout.len()), (Ended::Exited(0), LIMITS.stdout_bytes_max));
    run.finish().await.expect("finishes");
}

#[tokio::test]
async fn command_gets_exactly_the_given_environment() {
    let dir = TestDir::new(User::Caller);
    let mut run = dir.start(dir.direct()).await;
    let pairs =
        [("A", "1"), ("PATH", "/nowhere"), ("B", "x=y\nz"), ("A", "2"), ("PATH", "/usr/bin:/bin"), ("E", "")];
    let mut spec = command(&["env", "-0"]);
    spec.env = pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec();
    let outcome = execute(&mut run, spec).await.expect("starts");
    let printed = String::from_utf8(outcome.stdout).expect("UTF-8");
    let mut printed: Vec<&str> = printed.split_terminator('\0').collect();
    printed.sort_unstable();
    assert_eq!(printed, ["A=2", "B=x=y\nz", "E=", "PATH=/usr/bin:/bin"]);
    run.finish().await.expect("finishes");
}

#[tokio::test]
async fn command_has_its_own_group_empty_stdin_and_no_terminal() {
    for user in ALL_USERS {
        let dir = TestDir::new(user);
        let mut run = dir.start(dir.overlay()).await;
        let mut spec = shell(
            "pwd -P; cat; cut -d' ' -f5 /proc/$$/stat; echo $$; cut -d' ' -f6 /proc/$$/stat; echo $PPID; tty; cat /dev/tty 2>&1",
        );
        spec.dir = "app".into();
        let outcome = execute(&mut run, spec).await.expect("starts");
        let printed = String::from_utf8(outcome.stdout).expect("UTF-8");
        let lines: Vec<&str> = printed.lines().collect();
        let [directory, group, process, session, launcher, tty, no_tty] = lines.as_slice() else {
            panic!("{printed}")
        };
        assert_eq!(*directory, run.root().join("app").display().to_string());
        assert_eq!(group, process);
        assert_eq!(session, launcher, "a session of the launcher's own has no terminal");
        assert_eq!(*tty, "not a tty");
        assert!(no_tty.contains("No such device"), "no terminal to prompt on: {no_tty}");
        run.finish().await.expect("finishes");
    }
}

#[tokio::test]
async fn command_inherits_three_descriptors_and_default_signals() {
    let dir = TestDir::new(User::Caller);
    let script = dir.path("launcher.sh");
    // The process that starts tiphys may leave descriptors open and signals ignored.
    let launcher = dir.launcher_program().display().to_string();
    dir.file(
        "launcher.sh",
        &format!("#!/bin/sh\ntrap '' INT TERM HUP\nexec 5</ 7>/dev/null {launcher} \"$@\"\n"),
    );
    make_executable(&script);
    let mut run = Launcher::new(script).start(dir.direct(), LIMITS).await.expect("starts");
    let mut spec = command(&["find", "/proc/self/fd", "-mindepth", "1", "-printf", "%f\\n"]);
    spec.argv.extend(["-newermt".to_owned(), "2000-01-01".to_owned()]);
    let listed = String::from_utf8(execute(&mut run, spec).await.expect("starts").stdout).expect("UTF-8");
    let mut listed: Vec<&str> = listed.lines().collect();
    listed.sort_unstable();
    // `find` itself opens directories, which get the lowest free numbers.
    let own = listed.iter().filter(|number| !["0", "1", "2"].contains(number)).count();
    assert!(!listed.contains(&"7"), "{listed:?}");
    assert!(own <= 3, "{listed:?}");
    let status = execute(&mut run, command(&["cat", "/proc/self/status"])).await.expect("starts").stdout;
    let status = String::from_utf8(status).expect("UTF-8");
    let mask = |name: &str| {
        let value = status.lines().find_map(|line| line.strip_prefix(name)).expect("is listed");
        u64::from_str_radix(value.trim(), 16).expect("a number")
    };
    // The C library ignores its own signals 32 and 33 in processes that it starts.
    let own_of_the_c_library = 0b11 << 31;
    assert_eq!((mask("SigBlk:"), mask("SigIgn:") & !own_of_the_c_library), (0, 0));
    run.finish().await.expect("finishes");
}

#[tokio::test]
async fn start_error_names_the_reason_and_the_run_continues() {
    let dir = TestDir::new(User::Caller);
    dir.file("tree/plain", "text\n");
    dir.file("tree/no-interpreter", "#!/nowhere/sh\n");
    dir.file("tree/no-first-line", "\u{1}\u{2}\n");
    for name in ["no-interpreter", "no-first-line"] {
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        fs::set_permissions(dir.path("tree").join(name), mode).expect("chmod");
    }
    let mut run = dir.start(dir.direct()).await;
    let big = "x".repeat(200_000);
    let nul = "a\0b";
    let cases: &[(&[&str], ErrorKind, &str)] = &[
        (&["no-such-program"], ErrorKind::NotFound, "executable file not found in $PATH"),
        (&["plain"], ErrorKind::NotFound, "executable file not found in $PATH"),
        (&["./nothing"], ErrorKind::NotFound, "No such file or directory (os error 2)"),
        (
            &["./plain"],
            ErrorKind::PermissionDenied,
            "permission denied: ./plain is not executable; run: chmod +x ./plain",
        ),
        (&["./app"], ErrorKind::PermissionDenied, "permission denied: it is a directory"),
        (&["./no-interpreter"], ErrorKind::NotFound, "the interpreter in its first line (#!) does not exist"),
        (
            &["./no-first-line"],
            std::io::Error::from_raw_os_error(8).kind(),
            "exec format error: not a program of this machine, and no #! in its first line",
        ),
        (
            &["true", &big],
            ErrorKind::ArgumentListTooLong,
            "argument list too long: arguments and environment have 200025 bytes; the largest is argument 1 with 200001 bytes",
        ),
        (&["true", nul], ErrorKind::InvalidInput, "argument 1 contains a NUL byte"),
        (&[], ErrorKind::InvalidInput, "command is empty"),
    ];
    for (argv, kind, expected) in cases {
        let error = execute(&mut run, command(argv)).await.expect_err("cannot start");
        let RunError::Start { program, source } = error else { panic!("{argv:?}: {error}") };
        assert_eq!(program, argv.first().copied().unwrap_or_default());
        assert_eq!((source.kind(), source.to_string().as_str()), (*kind, *expected), "{argv:?}");
    }
    assert_eq!(output(&mut run, "echo still here").await, "still here\n");
    run.finish().await.expect("finishes");
}

#[tokio::test]
async fn busy_program_is_retried_for_a_moment() {
    let dir = TestDir::new(User::Caller);
    dir.file("tree/new", "#!/bin/sh\necho new\n");
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(dir.path("tree/new"), mode).expect("chmod");
    let writer = fs::File::options().append(true).open(dir.path("tree/new")).expect("opens");
    let mut run = dir.start(dir.direct()).await;
    let error = execute(&mut run, command(&["./new"])).await.expect_err("is being written");
    let RunError::Start { source, .. } = error else { panic!("{error}") };
    assert_eq!(source.kind(), ErrorKind::ExecutableFileBusy);
    let (outcome, ()) = tokio::join!(execute(&mut run, command(&["./new"])), async { drop(writer) });
    assert_eq!(outcome.expect("the writer is done").stdout, b"new\n");
    run.finish().await.expect("finishes");
}

#[tokio::test]
async fn invalid_environment_is_reported_by_name_and_size() {
    let dir = TestDir::new(User::Caller);
    let mut run = dir.start(dir.direct()).await;
    let cases = [
        ("SECRET", "v\0v".to_owned(), "environment variable SECRET contains a NUL byte".to_owned()),
        (
            "ARGOCD_APP_PARAMETERS",
            "p".repeat(3_000_000),
            "argument list too long: arguments and environment have 3000047 bytes; \
             the largest is environment variable ARGOCD_APP_PARAMETERS with 3000023 bytes"
                .to_owned(),
        ),
    ];
    for (name, value, expected) in cases {
        let mut spec = command(&["true"]);
        spec.env.push((name.to_owned(), value));
        let error = execute(&mut run, spec).await.expect_err("cannot start");
        let RunError::Start { source, .. } = error else { panic!("{error}") };
        assert_eq!(source.to_string(), expected);
    }
    run.finish().await.expect("finishes");
}

#[tokio::test]
async fn working_directory_outside_the_tree_is_refused() {
    let dir = TestDir::new(User::Caller);
    symlink("/usr", dir.path("tree/out")).expect("links");
    symlink("app", dir.path("tree/in")).expect("links");
    let mut run = dir.start(dir.direct()).await;
    let outside = |dir: &str| format!("working directory {dir} is outside the tree");
    for (dir, expected) in [
        ("..", outside("..")),
        ("app/../..", outside("app/../..")),
        ("/usr", outside("/usr")),
        ("out", outside("out")),
        ("out/bin", outside("out/bin")),
        ("no", "working directory no: No such file or directory (os error 2)".to_owned()),
        ("file", "working directory file: Not a directory (os error 20)".to_owned()),
    ] {
        let error = execute(&mut run, CommandSpec { dir: dir.into(), ..command(&["pwd"]) }).await;
        let Err(RunError::Start { source, .. }) = error else { panic!("{dir}: {error:?}") };
        assert_eq!(source.to_string(), expected);
    }
    let inside = execute(&mut run, CommandSpec { dir: "in".into(), ..shell("cat values.yaml") }).await;
    assert_eq!(inside.expect("starts").stdout, b"a: 1\n");
    run.finish().await.expect("finishes");
}

#[tokio::test]
async fn output_over_the_limit_ends_the_run() {
    let dir = TestDir::new(User::Caller);
    let mark = mark(&dir);
    let mut run = dir.start(dir.overlay()).await;
    let outcome = execute(
        &mut run,
        marked(&mark, "sleep 1000 & echo said >&2; head -c 100000000 /dev/zero; sleep 1000"),
    );
    let outcome = outcome.await.expect("starts");
    assert_eq!((outcome.ended, outcome.stdout.len()), (Ended::OutputTooLarge, LIMITS.stdout_bytes_max));
    assert_eq!(outcome.stderr, "said\n");
    let error = execute(&mut run, shell("true")).await.expect_err("the run is ending");
    assert_eq!(error.to_string(), "launcher: the run has ended");
    run.finish().await.expect("finishes");
    assert_eq!(alive(&mark), Vec::<String>::new());
    assert!(!dir.path("run").exists());
}

#[tokio::test]
async fn large_stderr_keeps_its_beginning_and_end() {
    let dir = TestDir::new(User::Caller);
    let mut run = dir.start(dir.direct()).await;
    let script = "echo first >&2; head -c 10000000 /dev/zero | tr '\\0' x >&2; echo last >&2; echo out";
    let outcome = execute(&mut run, shell(script)).await.expect("starts");
    assert_eq!((outcome.ended, outcome.stdout.as_slice()), (Ended::Exited(0), b"out\n".as_slice()));
    let left_out = 10_000_000 + "first\nlast\n".len() - LIMITS.stderr_bytes_max;
    assert!(outcome.stderr.starts_with("first\nxxx"));
    assert!(outcome.stderr.ends_with("xxlast\n"));
    assert!(outcome.stderr.contains(&format!("\n[… {left_out} bytes left out …]\n")), "{}", outcome.stderr);
    run.finish().await.expect("finishes");
}

#[tokio::test]
async fn output_limit_of_zero_allows_no_output() {
    let dir = TestDir::new(User::Caller);
    let limits = Limits { stdout_bytes_max: 0, stderr_bytes_max: 0, grace: Duration::ZERO };
    let mut run = dir.launcher().start(dir.direct(), limits).await.expect("starts");
    let outcome = execute(&mut run, shell("echo e >&2")).await.expect("starts");
    assert_eq!((outcome.ended, outcome.stderr.as_str()), (Ended::Exited(0), "[… 2 bytes left out …]\n"));
    let outcome = execute(&mut run, shell("echo o")).await.expect("starts");
    assert_eq!(outcome.ended, Ended::OutputTooLarge);
    run.finish().await.expect("finishes");
}

#[tokio::test]
async fn background_descendant_lives_until_the_run_ends() {
    for user in ALL_USERS {
        let dir = TestDir::new(user);
        let mark = mark(&dir);
        let mut run = dir.start(dir.overlay()).await;
        let started = Instant::now();
        // A descendant that leaves its session, is orphaned, and keeps writing.
        let script = "echo out; echo err >&2; setsid sh -c 'while echo more; do sleep 0.01; done; sleep 1000' & exit 0";
        let outcome = execute(&mut run, marked(&mark, script)).await.expect("starts");
        assert_eq!((outcome.ended, outcome.stderr.as_str()), (Ended::Exited(0), "err\n"));
        assert!(outcome.stdout.starts_with(b"out\n"));
        assert!(started.elapsed() < Duration::from_secs(10));
        assert_eq!(output(&mut run, "echo next").await, "next\n");
        if user == User::Caller {
            assert!(!alive(&mark).is_empty(), "{user:?}: its pipe stays open");
        }
        run.finish().await.expect("finishes");
        assert_eq!(alive(&mark), Vec::<String>::new(), "{user:?}");
    }
}

#[tokio::test]
async fn cancelled_or_late_command_is_not_started() {
    let dir = TestDir::new(User::Caller);
    let cancelled = CancellationToken::new();
    cancelled.cancel();
    let past = tokio::time::Instant::now();
    let cases = [
        (None, &cancelled, Ended::Cancelled),
        (Some(past), &CancellationToken::new(), Ended::DeadlineExceeded),
    ];
    for (deadline, cancel, expected) in cases {
        let mut run = dir.start(dir.direct()).await;
        let outcome = run.execute(shell("echo >started"), deadline, cancel).await.expect("no error");
        assert_eq!((outcome.ended, outcome.stdout), (expected, vec![]));
        run.finish().await.expect("finishes");
        assert!(!dir.path("tree/started").exists());
    }
}
