use super::*;

#[test]
fn program_name_does_not_shift_the_stat_fields() {
    let rest = "S 7 42 43 0 -1 4194560 100 0 0 0 1 2 0 0 20 0 1 0 12345 1000 10 18446744073709551615";
    for name in ["sh", "a b", "x) R 1 (", "\u{fffd}"] {
        let expected = Stat { parent: Pid::from_raw(7), session: Pid::from_raw(43), started: 12345 };
        assert_eq!(parse_stat(&format!("42 ({name}) {rest}")), Some(expected), "{name}");
    }
    assert_eq!(parse_stat(""), None);
    assert_eq!(parse_stat("42 (sh) S 7"), None);
}

#[test]
fn process_that_is_being_reaped_has_no_stat() {
    let rest = "0 -1 4194560 100 0 0 0 1 2 0 0 20 0 1 0 12345 1000 10 18446744073709551615";
    let outside = Stat { parent: None, session: None, started: 12345 };
    for (parent, group, session, expected) in [(0, 0, 0, Some(outside)), (7, -1, -1, None), (0, -1, -1, None)]
    {
        let line = format!("42 (sh) X {parent} {group} {session} {rest}");
        assert_eq!(parse_stat(&line), expected, "{line}");
    }
}

#[test]
fn descendants_of_a_child_are_found_and_can_be_ended() {
    let script = "(sleep 1000; true) & echo; wait";
    #[expect(clippy::disallowed_methods, reason = "the test needs a child")]
    let mut command = std::process::Command::new("sh");
    let mut child =
        command.args(["-c", script]).stdout(std::process::Stdio::piped()).spawn().expect("sh starts");
    let pid = Pid::from_child(&child);
    let mut ready = [0];
    std::io::Read::read_exact(child.stdout.as_mut().expect("a pipe"), &mut ready).expect("output");
    let found = descendants_of(pid);
    assert!(!found.is_empty());
    assert!(found.iter().all(|descendant| descendant.pid() != pid));
    while let left = descendants_of(pid)
        && !left.is_empty()
    {
        for descendant in left {
            descendant.signal(Signal::KILL);
        }
    }
    child.wait().expect("it ends by itself");
}

#[test]
fn child_lists_and_process_table_agree() {
    #[expect(clippy::disallowed_methods, reason = "the test needs a child")]
    let mut child =
        std::process::Command::new("cat").stdin(std::process::Stdio::piped()).spawn().expect("cat starts");
    let pid = Pid::from_child(&child);
    assert!(children(getpid()).contains(&pid), "the list of children");
    assert!(parents().contains(&(pid, getpid())), "the table of parents");
    assert!(all().iter().any(|descendant| descendant.pid() == pid), "held descendants");
    drop(child.stdin.take());
    child.wait().expect("cat ends");
}
