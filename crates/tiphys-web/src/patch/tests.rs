use tiphys_engine::diff::unified;

use super::{Block, blocks};

/// Returns blocks as text: a letter and the lines.
fn words(patch: &str) -> Vec<String> {
    let word = |block: &Block<'_>| match block {
        Block::Header(text) => format!("H {text}"),
        Block::Same(text) => format!("= {text}"),
        Block::Folded { lines, text } => format!("{lines} {text}"),
        Block::Changed { removed, added } => format!("- {removed}+ {added}"),
    };
    blocks(patch).iter().map(word).map(|text| text.replace('\n', "|")).collect()
}

#[test]
fn lines_are_grouped_by_their_meaning() {
    let patch = "--- a\n+++ b\n@@ -1,4 +1,4 @@\n a\n--- x\n-y\n+++ z\n b\n+c\n--- d\n+++ e\n@@ -1 +0,0 @@\n-f\n\\ No newline at end of file\n";
    let expected = [
        "H --- a|+++ b|@@ -1,4 +1,4 @@|",
        "=  a|",
        "- --- x|-y|+ +++ z|",
        "=  b|",
        "- + +c|",
        "H --- d|+++ e|@@ -1 +0,0 @@|",
        "- -f|\\ No newline at end of file|+ ",
    ];
    assert_eq!(words(patch), expected);
    assert_eq!(words(""), Vec::<String>::new());
}

#[test]
fn unchanged_lines_far_from_changes_are_folded() {
    let lines = |changed: &[usize]| -> String {
        (0..24)
            .map(|line| if changed.contains(&line) { format!("x{line}\n") } else { format!("{line}\n") })
            .collect()
    };
    let whole = unified(&lines(&[]), &lines(&[7, 14, 22]), 100);
    let expected = [
        "H @@ -1,24 +1,24 @@|",
        "4  0| 1| 2| 3|",
        "=  4| 5| 6|",
        "- -7|+ +x7|",
        "=  8| 9| 10| 11| 12| 13|",
        "- -14|+ +x14|",
        "=  15| 16| 17| 18| 19| 20| 21|",
        "- -22|+ +x22|",
        "=  23|",
    ];
    assert_eq!(words(&whole), expected);
    let hunks = unified(&lines(&[]), &lines(&[7, 14, 22]), 3);
    assert!(!words(&hunks).iter().any(|block| block.starts_with(|first: char| first.is_ascii_digit())));
}
