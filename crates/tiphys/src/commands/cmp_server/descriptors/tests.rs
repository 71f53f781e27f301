use std::num::NonZeroU32;

use super::connections_that_fit;

#[test]
fn connections_fit_the_descriptor_limit() {
    // Requested connections, concurrent runs, the limit, and the connections that fit.
    let cases = [
        (512, 16, None, 512),
        (512, 16, Some(1_048_576), 512),
        (512, 16, Some(1024), 512),
        // There are at most 16 runs, so each further connection takes one descriptor.
        (4096, 16, Some(1024), 880),
        (512, 16, Some(256), 112),
        // Each connection may have a run.
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
