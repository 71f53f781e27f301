use super::Process;

#[test]
fn memory_and_threads_are_read_from_the_status() {
    let status = "Name:\tVmRSS\nVmPeak:\t  200 kB\nVmRSS:\t   12 kB\nRssAnon:\t 3 kB\nThreads:\t5\n";
    let expected = Process { resident_bytes: Some(12 * 1024), threads: Some(5), ..Process::default() };
    assert_eq!(Process::of_status(status), expected);
    assert_eq!(Process::of_status(""), Process::default());
}

#[test]
fn this_process_has_descriptors_threads_and_processes() {
    let this = Process::this();
    let before = this.descriptors.expect("there is /proc");
    assert!(before >= 3, "standard streams: {this:?}");
    assert!(this.threads.is_some_and(|count| count >= 1), "{this:?}");
    assert!(this.processes.is_some_and(|count| count >= 1), "{this:?}");
    assert!(this.resident_bytes.is_some_and(|bytes| bytes > 1024 * 1024), "{this:?}");
}
