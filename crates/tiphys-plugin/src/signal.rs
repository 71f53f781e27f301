//! Names of signals in Go, as in Argo CD's messages.

/// Returns the name of a signal, or its number if it has none.
pub(crate) fn name(signal: i32) -> String {
    let name = match signal {
        // The same numbers on all systems.
        1 => "hangup",
        2 => "interrupt",
        3 => "quit",
        4 => "illegal instruction",
        5 => "trace/breakpoint trap",
        6 => "aborted",
        8 => "floating point exception",
        9 => "killed",
        11 => "segmentation fault",
        13 => "broken pipe",
        14 => "alarm clock",
        15 => "terminated",
        24 => "CPU time limit exceeded",
        25 => "file size limit exceeded",
        26 => "virtual timer expired",
        27 => "profiling timer expired",
        other => return linux_name(other).map_or_else(|| format!("signal {other}"), str::to_owned),
    };
    name.to_owned()
}

/// Signals whose numbers are specific to Linux.
fn linux_name(signal: i32) -> Option<&'static str> {
    if !cfg!(target_os = "linux") {
        return None;
    }
    match signal {
        7 => Some("bus error"),
        10 => Some("user defined signal 1"),
        12 => Some("user defined signal 2"),
        16 => Some("stack fault"),
        29 => Some("I/O possible"),
        30 => Some("power failure"),
        31 => Some("bad system call"),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
