use super::name;

#[test]
fn signals_have_their_go_names() {
    let cases = [
        (1, "hangup"),
        (4, "illegal instruction"),
        (5, "trace/breakpoint trap"),
        (6, "aborted"),
        (8, "floating point exception"),
        (9, "killed"),
        (11, "segmentation fault"),
        (14, "alarm clock"),
        (15, "terminated"),
        (24, "CPU time limit exceeded"),
        (34, "signal 34"),
    ];
    for (signal, expected) in cases {
        assert_eq!(name(signal), expected);
    }
}

#[cfg(target_os = "linux")]
#[test]
fn linux_signals_have_their_go_names() {
    let cases = [
        (7, "bus error"),
        (10, "user defined signal 1"),
        (12, "user defined signal 2"),
        (31, "bad system call"),
    ];
    for (signal, expected) in cases {
        assert_eq!(name(signal), expected);
    }
}
