use std::time::Duration;

use tempfile::TempDir;

use super::*;

/// Workers that greet with `hi`, and then run a script.
fn workers(dir: &TempDir, script: &str) -> Workers {
    let program = dir.path().join("worker");
    std::fs::write(&program, format!("#!/bin/sh\nprintf '\\0\\0\\0\\2hi'\n{script}\n")).expect("a script");
    tiphys_testkit::executable::make_executable(&program);
    let tool = Tool {
        program,
        env: vec![("PATH".into(), "/usr/bin:/bin".into())],
        timeout: Duration::MAX,
        stdout_bytes_max: 100,
    };
    Workers::new(tool, |greeting| greeting == b"hi")
}

async fn ask(workers: &Workers) -> Result<String, String> {
    let answer = workers.ask(b"abc").await;
    answer
        .map(|answer| String::from_utf8_lossy(&answer).into_owned())
        .map_err(|error| error.to_string().replace(&workers.name(), "worker"))
}

#[tokio::test]
async fn worker_answers_many_requests_until_it_ends() {
    let dir = tempfile::tempdir().expect("a directory");
    let workers = workers(
        &dir,
        "while head -c 7 >/dev/null; do printf '\\0\\0\\0\\4'; printf '%04d' $((n += 1)); done",
    );
    for expected in ["0001", "0002", "0003"] {
        assert_eq!(ask(&workers).await.as_deref(), Ok(expected));
    }
}

#[tokio::test]
async fn failures_of_a_worker_are_reported() {
    let dir = tempfile::tempdir().expect("a directory");
    for (script, expected) in [
        ("head -c 7 >/dev/null; exit 3", "worker ended before it answered"),
        ("head -c 7 >/dev/null; printf '\\0\\0\\0\\145'", "worker answered with more than 100 bytes"),
    ] {
        assert_eq!(ask(&workers(&dir, script)).await, Err(expected.to_owned()), "{script}");
    }
    let workers = Workers { accepted: |_| false, ..workers(&dir, "cat >/dev/null") };
    let error = workers.ask(b"").await.expect_err("another greeting");
    assert_eq!(error.to_string().replace(&workers.name(), "worker"), "worker is of another version");
}
