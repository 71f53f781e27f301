use std::time::Duration;

use super::super::Sample;
use super::{Growth, QUANTITIES, slope};
use crate::plugin_server::process::Look;

/// Samples once a second with these numbers of descriptors.
fn growth(descriptors: &[u64]) -> Growth {
    let samples: Vec<Sample> = (0..)
        .zip(descriptors)
        .map(|(second, descriptors)| Sample {
            at: Duration::from_secs(second),
            look: Look { descriptors: *descriptors, ..Look::default() },
            entries: 0,
            bytes: 0,
        })
        .collect();
    Growth::of(&QUANTITIES[0], &samples.iter().collect::<Vec<_>>())
}

#[test]
fn slope_is_that_of_the_least_squares_line() {
    let cases: &[(&[(f64, f64)], f64)] = &[
        (&[(0.0, 1.0), (1.0, 3.0), (2.0, 5.0)], 2.0),
        (&[(0.0, 5.0), (1.0, 5.0), (2.0, 5.0)], 0.0),
        (&[(0.0, 0.0), (1.0, 3.0), (2.0, 0.0)], 0.0),
        (&[(0.0, 0.0), (1.0, 0.0), (2.0, 3.0), (3.0, 3.0)], 1.2),
        (&[(10.0, 4.0), (11.0, 3.0)], -1.0),
        (&[(1.0, 7.0)], 0.0),
        (&[(1.0, 7.0), (1.0, 9.0)], 0.0),
        (&[], 0.0),
    ];
    for (points, expected) in cases {
        assert!((slope(points) - expected).abs() < 1e-9, "{points:?}: {}", slope(points));
    }
}

#[test]
fn growth_beyond_the_allowance_is_reported() {
    let grows: Vec<u64> = (20..141).collect();
    let problem = growth(&grows).problem().expect("one more each second");
    assert_eq!(problem, "descriptors: 60.0 more per minute, 120.0 in total; allowed: 8.0");
}

#[test]
fn noise_and_decrease_are_no_growth() {
    let noise: Vec<u64> = (0..120).map(|second| 20 + second * 7 % 30).collect();
    assert_eq!(growth(&noise).problem(), None);
    let falls: Vec<u64> = (0..120).map(|second| 200 - second).collect();
    assert_eq!(growth(&falls).problem(), None);
    assert_eq!(growth(&[]).problem(), None);
}
