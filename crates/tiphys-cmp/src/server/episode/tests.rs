use std::time::Duration;

use tokio::time::Instant;

use super::Episode;

/// What is, at so many seconds.
enum At {
    Bad(u64, &'static str),
    Well(u64),
}

#[test]
fn an_episode_is_told_when_it_begins_changes_and_ends() {
    use At::{Bad, Well};
    let cases = [
        (Well(0), false, "nothing has happened"),
        (Bad(1, "files"), true, "it begins"),
        (Bad(1, "files"), false, "it goes on"),
        (Bad(30, "files"), false, "nobody has seen that it was over"),
        (Bad(31, "memory"), true, "it is something else"),
        (Well(32), false, "one that gets through does not end it"),
        (Bad(33, "memory"), false, "it goes on"),
        (Well(42), false, "nine seconds"),
        (Well(43), true, "ten seconds: it is over"),
        (Well(44), false, "which is told once"),
        (Bad(45, "memory"), true, "it begins again"),
    ];
    let start = Instant::now();
    let mut episode = Episode::default();
    for (at, is_told, why) in cases {
        let told = match at {
            Bad(second, what) => episode.happens(what, start + Duration::from_secs(second)),
            Well(second) => episode.is_over(start + Duration::from_secs(second)),
        };
        assert_eq!(told, is_told, "{why}");
    }
}
