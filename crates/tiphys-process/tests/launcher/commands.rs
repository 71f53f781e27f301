//! One command: what it gets, what it gives, what it cannot do.

use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::symlink;
use std::time::{Duration, Instant};

use tiphys_process::{CommandSpec, Ended, Launcher, Limits, RunError};
use tiphys_testkit::executable::make_executable;
use tokio_util::sync::CancellationToken;

use super::support::{EVERYONE, LIMITS, Place, Who, alive, command, execute, mark, marked, output, shell};

#[tokio::test]
async fn exit_codes_and_signals_are_told_apart() {
    for who in EVERYONE {
        let place = Place::new(who);
        let mut run = place.start(place.overlay()).await;
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
async fn output_and_errors_come_apart_and_whole() {
    let place = Place::new(Who::Caller);
    let mut run = place.start(place.direct()).await;
    let outcome =
        execute(&mut run, shell("printf out; printf 'err\\377\\n' >&2; printf put")).await.expect("starts");
    assert_eq!(outcome.stdout, b"output");
    assert_eq!(outcome.stderr, "err\u{fffd}\n");
    let outcome = execute(&mut run, shell("head -c 1048576 /dev/zero")).await.expect("starts");
    assert_eq!((outcome.ended, outcome.stdout.len()), (Ended::Exited(0), LIMITS.stdout_bytes_max));
    run.finish().await.expect("finishes");
}

#[tokio::test]
async fn a_command_gets_exactly_the_given_environment_and_the_last_of_a_name_wins() {
    let place = Place::new(Who::Caller);
    let mut run = place.start(place.direct()).await;
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
async fn a_command_runs_below_the_root_in_a_group_of_its_own_with_nothing_to_read() {
    for who in EVERYONE {
        let place = Place::new(who);
        let mut run = place.start(place.overlay()).await;
        let mut spec = shell(
            "pwd -P; cat; cut -d' ' -f5 /proc/$$/stat; echo $$; cut -d' ' -f6 /proc/$$/stat; echo $PPID; tty; cat /dev/tty 2>&1",
        );
        spec.dir = "app".into();
        let outcome = execute(&mut run, spec).await.expect("starts");
        let printed = String::from_utf8(outcome.stdout).expect("UTF-8");
        let lines: Vec<&str> = printed.lines().collect();
        let [folder, group, process, session, launcher, tty, no_tty] = lines.as_slice() else {
            panic!("{printed}")
        };
        assert_eq!(*folder, run.root().join("app").display().to_string());
        assert_eq!(group, process);
        assert_eq!(session, launcher, "a session of the launcher's own has no terminal");
        assert_eq!(*tty, "not a tty");
        assert!(no_tty.contains("No such device"), "no terminal to prompt on: {no_tty}");
        run.finish().await.expect("finishes");
    }
}

#[tokio::test]
async fn a_command_inherits_three_descriptors_and_no_signal_setting() {
    let place = Place::new(Who::Caller);
    let script = place.path("launcher.sh");
    // Whoever starts tiphys may leave descriptors open and signals ignored.
    let launcher = place.launcher_program().display().to_string();
    place.file(
        "launcher.sh",
        &format!("#!/bin/sh\ntrap '' INT TERM HUP\nexec 5</ 7>/dev/null {launcher} \"$@\"\n"),
    );
    make_executable(&script);
    let mut run = Launcher::new(script).start(place.direct(), LIMITS).await.expect("starts");
    let mut spec = command(&["find", "/proc/self/fd", "-mindepth", "1", "-printf", "%f\\n"]);
    spec.argv.extend(["-newermt".to_owned(), "2000-01-01".to_owned()]);
    let listed = String::from_utf8(execute(&mut run, spec).await.expect("starts").stdout).expect("UTF-8");
    let mut listed: Vec<&str> = listed.lines().collect();
    listed.sort_unstable();
    // `find` itself opens folders, which get the lowest free numbers.
    let own = listed.iter().filter(|number| !["0", "1", "2"].contains(number)).count();
    assert!(!listed.contains(&"7"), "{listed:?}");
    assert!(own <= 3, "{listed:?}");
    let status = execute(&mut run, command(&["cat", "/proc/self/status"])).await.expect("starts").stdout;
    let status = String::from_utf8(status).expect("UTF-8");
    let mask = |name: &str| {
        let value = status.lines().find_map(|line| line.strip_prefix(name)).expect("is listed");
        u64::from_str_radix(value.trim(), 16).expect("a number")
    };
    // The C library ignores its own two, 32 and 33, in what it starts.
    let own_of_the_c_library = 0b11 << 31;
    assert_eq!((mask("SigBlk:"), mask("SigIgn:") & !own_of_the_c_library), (0, 0));
    run.finish().await.expect("finishes");
}

#[tokio::test]
async fn a_program_that_cannot_be_started_is_named_with_the_reason_and_the_run_goes_on() {
    let place = Place::new(Who::Caller);
    place.file("tree/plain", "text\n");
    place.file("tree/no-interpreter", "#!/nowhere/sh\n");
    place.file("tree/no-first-line", "\u{1}\u{2}\n");
    for name in ["no-interpreter", "no-first-line"] {
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        fs::set_permissions(place.path("tree").join(name), mode).expect("chmod");
    }
    let mut run = place.start(place.direct()).await;
    let big = "x".repeat(200_000);
    let nul = "a\0b";
    let cases: &[(&[&str], ErrorKind, &str)] = &[
        (&["no-such-program"], ErrorKind::NotFound, "executable file not found in $PATH"),
        (&["plain"], ErrorKind::NotFound, "executable file not found in $PATH"),
        (&["./nothing"], ErrorKind::NotFound, "No such file or directory (os error 2)"),
        (&["./plain"], ErrorKind::PermissionDenied, "permission denied: the file is not executable"),
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
async fn a_program_that_is_being_written_is_waited_for_a_moment() {
    let place = Place::new(Who::Caller);
    place.file("tree/new", "#!/bin/sh\necho new\n");
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(place.path("tree/new"), mode).expect("chmod");
    let writer = fs::File::options().append(true).open(place.path("tree/new")).expect("opens");
    let mut run = place.start(place.direct()).await;
    let error = execute(&mut run, command(&["./new"])).await.expect_err("is being written");
    let RunError::Start { source, .. } = error else { panic!("{error}") };
    assert_eq!(source.kind(), ErrorKind::ExecutableFileBusy);
    let (outcome, ()) = tokio::join!(execute(&mut run, command(&["./new"])), async { drop(writer) });
    assert_eq!(outcome.expect("the writer is done").stdout, b"new\n");
    run.finish().await.expect("finishes");
}

#[tokio::test]
async fn an_environment_that_cannot_be_passed_is_explained_by_name_and_size() {
    let place = Place::new(Who::Caller);
    let mut run = place.start(place.direct()).await;
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
async fn a_working_directory_outside_the_tree_or_missing_is_refused() {
    let place = Place::new(Who::Caller);
    symlink("/usr", place.path("tree/out")).expect("links");
    symlink("app", place.path("tree/in")).expect("links");
    let mut run = place.start(place.direct()).await;
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
async fn a_hundred_megabytes_of_output_end_the_run_at_the_limit() {
    let place = Place::new(Who::Caller);
    let mark = mark(&place);
    let mut run = place.start(place.overlay()).await;
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
    assert!(!place.path("run").exists());
}

#[tokio::test]
async fn ten_megabytes_of_errors_keep_their_beginning_and_end() {
    let place = Place::new(Who::Caller);
    let mut run = place.start(place.direct()).await;
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
async fn output_of_nothing_is_allowed_where_the_limit_is_nothing() {
    let place = Place::new(Who::Caller);
    let limits = Limits { stdout_bytes_max: 0, stderr_bytes_max: 0, grace: Duration::ZERO };
    let mut run = place.launcher().start(place.direct(), limits).await.expect("starts");
    let outcome = execute(&mut run, shell("echo e >&2")).await.expect("starts");
    assert_eq!((outcome.ended, outcome.stderr.as_str()), (Ended::Exited(0), "[… 2 bytes left out …]\n"));
    let outcome = execute(&mut run, shell("echo o")).await.expect("starts");
    assert_eq!(outcome.ended, Ended::OutputTooLarge);
    run.finish().await.expect("finishes");
}

#[tokio::test]
async fn a_descendant_that_keeps_the_pipes_is_not_waited_for_and_lives_until_the_end() {
    for who in EVERYONE {
        let place = Place::new(who);
        let mark = mark(&place);
        let mut run = place.start(place.overlay()).await;
        let started = Instant::now();
        // Leaves its session, is orphaned, and goes on writing.
        let script = "echo out; echo err >&2; setsid sh -c 'while echo more; do sleep 0.01; done; sleep 1000' & exit 0";
        let outcome = execute(&mut run, marked(&mark, script)).await.expect("starts");
        assert_eq!((outcome.ended, outcome.stderr.as_str()), (Ended::Exited(0), "err\n"));
        assert!(outcome.stdout.starts_with(b"out\n"));
        assert!(started.elapsed() < Duration::from_secs(10));
        assert_eq!(output(&mut run, "echo next").await, "next\n");
        if who == Who::Caller {
            assert!(!alive(&mark).is_empty(), "{who:?}: nobody takes the pipe away from it");
        }
        run.finish().await.expect("finishes");
        assert_eq!(alive(&mark), Vec::<String>::new(), "{who:?}");
    }
}

#[tokio::test]
async fn a_cancelled_or_late_command_is_not_started() {
    let place = Place::new(Who::Caller);
    let cancelled = CancellationToken::new();
    cancelled.cancel();
    let past = tokio::time::Instant::now();
    let cases = [
        (None, &cancelled, Ended::Cancelled),
        (Some(past), &CancellationToken::new(), Ended::DeadlineExceeded),
    ];
    for (deadline, cancel, expected) in cases {
        let mut run = place.start(place.direct()).await;
        let outcome = run.execute(shell("echo >started"), deadline, cancel).await.expect("no error");
        assert_eq!((outcome.ended, outcome.stdout), (expected, vec![]));
        run.finish().await.expect("finishes");
        assert!(!place.path("tree/started").exists());
    }
}
