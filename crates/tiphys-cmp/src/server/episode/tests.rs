use std::time::Duration;

use tokio::time::Instant;

use super::Episode;

/// An observation after a number of seconds.
enum Observed {
    Bad(u64, &'static str),
    Good(u64),
}

#[test]
fn episode_is_logged_when_it_begins_changes_and_ends() {
    use Observed::{Bad, Good};
    let cases = [
        (Good(0), false, "nothing has happened"),
        (Bad(1, "files"), true, "it begins"),
        (Bad(1, "files"), false, "it goes on"),
        (Bad(30, "files"), false, "its end was not observed"),
        (Bad(31, "memory"), true, "it changes"),
        (Good(32), false, "one success does not end it"),
        (Bad(33, "memory"), false, "it goes on"),
        (Good(42), false, "nine seconds"),
        (Good(43), true, "ten seconds: it is over"),
        (Good(44), false, "the end is logged once"),
        (Bad(45, "memory"), true, "it begins again"),
    ];
    let start = Instant::now();
    let mut episode = Episode::default();
    for (at, expected, why) in cases {
        let logged = match at {
            Bad(second, what) => episode.occurred(what, start + Duration::from_secs(second)),
            Good(second) => episode.is_over(start + Duration::from_secs(second)),
        };
        assert_eq!(logged, expected, "{why}");
    }
}
