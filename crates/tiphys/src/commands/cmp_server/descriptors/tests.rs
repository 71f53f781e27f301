use std::num::NonZeroU32;

use super::connections_that_fit;

#[test]
fn there_are_no_more_connections_than_descriptors_for_them_and_for_what_runs_need() {
    // Connections that are asked for, runs at once, the limit, and the connections that fit.
    let cases = [
        (512, 16, None, 512),
        (512, 16, Some(1_048_576), 512),
        (512, 16, Some(1024), 512),
        // More than these runs there are not, so a connection takes one.
        (4096, 16, Some(1024), 880),
        (512, 16, Some(256), 112),
        // Each may have a run.
        (512, 16, Some(118), 10),
        (8, 16, Some(118), 8),
        (512, 16, Some(44), 1),
        (512, usize::MAX, Some(1024), 139),
    ];
    for (asked, runs_max, limit, expected) in cases {
        let asked = NonZeroU32::new(asked).expect("some");
        let found = connections_that_fit(asked, runs_max, limit).get();
        assert_eq!(found, expected, "{asked} connections, {runs_max} runs, limit {limit:?}");
    }
}
