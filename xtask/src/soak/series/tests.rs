use std::time::Duration;

use super::super::Sample;
use super::{Growth, QUANTITIES, Quantity, slope, table};
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
fn the_slope_is_that_of_the_nearest_line() {
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
fn a_quantity_that_grows_beyond_its_allowance_is_named() {
    let grows: Vec<u64> = (20..141).collect();
    let problem = growth(&grows).problem().expect("one more each second");
    assert_eq!(problem, "descriptors: 60.0 more each minute, 120.0 in all, and 8.0 are allowed");
}

#[test]
fn noise_and_what_is_let_go_again_are_no_growth() {
    let noise: Vec<u64> = (0..120).map(|second| 20 + second * 7 % 30).collect();
    assert_eq!(growth(&noise).problem(), None);
    let falls: Vec<u64> = (0..120).map(|second| 200 - second).collect();
    assert_eq!(growth(&falls).problem(), None);
    assert_eq!(growth(&[]).problem(), None);
}

#[test]
fn every_quantity_is_taken_from_its_own_place() {
    let mut sample = Sample { at: Duration::ZERO, look: Look::default(), entries: 5, bytes: 6 << 20 };
    sample.look = Look {
        descriptors: 1,
        threads: 2,
        descendants: 3,
        zombies: 4,
        resident_bytes: 7 << 20,
        ..Look::default()
    };
    let values: Vec<(&str, f64)> =
        QUANTITIES.iter().map(|Quantity { name, of, .. }| (*name, of(&sample))).collect();
    let expected = [
        ("descriptors", 1.0),
        ("threads", 2.0),
        ("processes", 3.0),
        ("zombies", 4.0),
        ("files and folders", 5.0),
        ("MiB of files", 6.0),
        ("MiB of memory", 7.0),
    ];
    assert_eq!(values, expected);
}

#[test]
fn the_table_marks_what_grows() {
    let grows: Vec<u64> = (20..141).collect();
    let expected = "\
after the warm-up      least      most   per minute    growth   allowed
descriptors             20.0     140.0        60.00     120.0       8.0  GROWS
";
    assert_eq!(table(&[growth(&grows)]), expected);
}
