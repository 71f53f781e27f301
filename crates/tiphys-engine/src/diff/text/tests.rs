use std::time::{Duration, Instant};

use super::{unified, with_ignored};

#[test]
fn hunks_have_requested_number_of_context_lines() {
    let before = "a\nb\nc\nd\ne\nf\ng\n";
    let cases = [
        ("a\nb\nc\nD\ne\nf\ng\n", 1, "@@ -3,3 +3,3 @@\n c\n-d\n+D\n e\n"),
        ("a\nb\nc\nD\ne\nf\ng\n", 0, "@@ -4 +4 @@\n-d\n+D\n"),
        ("b\nc\nd\ne\nf\ng\n", 1, "@@ -1,2 +1 @@\n-a\n b\n"),
        ("A\nb\nc\nd\ne\nf\nG\n", 1, "@@ -1,2 +1,2 @@\n-a\n+A\n b\n@@ -6,2 +6,2 @@\n f\n-g\n+G\n"),
        ("", 3, "@@ -1,7 +0,0 @@\n-a\n-b\n-c\n-d\n-e\n-f\n-g\n"),
        ("a\nb\nc\nd\ne\nf\ng\n", 3, ""),
    ];
    for (after, context, expected) in cases {
        assert_eq!(unified(before, after, context), expected, "{after:?} {context}");
    }
    assert_eq!(unified("", "x\n", 3), "@@ -0,0 +1 @@\n+x\n");
}

#[test]
fn ignored_lines_are_as_in_the_new_text() {
    let is_ignored = |line: &str| line.contains("version");
    for (before, after, expected, lines) in [
        ("a\nversion: 1\nb\n", "a\nversion: 2\nb\n", "a\nversion: 2\nb\n", 1),
        ("a\nversion: 1\nb: 1\n", "a\nversion: 2\nb: 2\n", "a\nversion: 2\nb: 1\n", 1),
        ("a\n", "a\nversion: 2\n", "a\nversion: 2\n", 1),
        ("a\nversion: 1\n", "a\n", "a\n", 1),
        ("a\n", "b\n", "a\n", 0),
        ("version: 1\nx\n", "y\n", "version: 1\nx\n", 0),
    ] {
        assert_eq!(with_ignored(before, after, &is_ignored), (expected.to_owned(), lines), "{before:?}");
    }
}

#[test]
fn only_newline_ends_a_line() {
    assert_eq!(unified("a\rb\n", "a\rc\n", 3), "@@ -1 +1 @@\n-a\rb\n+a\rc\n");
    assert_eq!(unified("a\r\n", "a\n", 3), "@@ -1 +1 @@\n-a\r\n+a\n");
    let none = "\\ No newline at end of file\n";
    assert_eq!(unified("a\nb", "a\nc", 1), format!("@@ -1,2 +1,2 @@\n a\n-b\n{none}+c\n{none}"));
    assert_eq!(unified("a\nb", "c\nb", 1), format!("@@ -1,2 +1,2 @@\n-a\n+c\n b\n{none}"));
}

#[test]
fn large_inputs_are_compared_within_time_limit() {
    const LINES: usize = 20_000;
    let text = |side: &str, period: usize| -> String {
        let lines: Vec<String> =
            (0..LINES).map(|line| format!("{side}{}", (line * 7_919) % period)).collect();
        lines.join("\n")
    };
    let cases = [
        ("all lines differ", text("a", LINES), text("b", LINES)),
        ("few lines, in another order", text("a", 97), text("a", 89)),
        ("many lines, in another order", text("a", 9_973), text("a", 9_967)),
    ];
    for (what, before, after) in cases {
        let start = Instant::now();
        let hunks = unified(&before, &after, 3);
        assert!(start.elapsed() < Duration::from_secs(10), "{what}: {:?}", start.elapsed());
        let removed = hunks.lines().filter(|line| line.starts_with('-')).count();
        let added = hunks.lines().filter(|line| line.starts_with('+')).count();
        assert!(removed > 0 && removed == added, "{what}: {removed} {added}");
    }
}
