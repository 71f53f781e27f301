//! Tables, links and headings.

use super::*;

#[test]
fn table_has_a_header_and_rows_with_their_lines() {
    let tables = tables("text\n\n| Rule | `test` |\n|---|:-:|\n| a \\| b | `x` |\n| c |\n\nend\n");
    let row = |line, cells: &[&str]| Row { line, cells: cells.iter().map(|&cell| cell.to_owned()).collect() };
    assert_eq!(tables.len(), 1);
    assert_eq!(tables[0].header, ["rule", "`test`"]);
    assert_eq!(tables[0].rows, [row(5, &["a | b", "`x`"]), row(6, &["c"])]);
    assert_eq!(tables[0].rows[1].cell(1), "");
    assert_eq!(tables[0].column("rule"), Some(0));
}

#[test]
fn empty_cell_in_the_middle_is_a_cell() {
    assert_eq!(cells("| a |  | c |"), ["a", "", "c"]);
}

#[test]
fn tables_and_links_in_fenced_code_are_ignored() {
    let text = "```\n| a |\n|---|\n[x](y.md)\n```\n";
    assert_eq!((tables(text), links(text)), (vec![], vec![]));
}

#[test]
fn links_are_found_inline_and_by_reference_but_not_in_backticks() {
    let text = "[a](a.md) and ![b](b.png \"title\")\n`[c](c.md)` [d](d.md#e)\n[f]: f.md\n";
    let found: Vec<(usize, String)> = links(text).into_iter().map(|link| (link.line, link.target)).collect();
    let expected = [(1, "a.md"), (1, "b.png"), (2, "d.md#e"), (3, "f.md")];
    assert_eq!(found, expected.map(|(line, target)| (line, target.to_owned())));
}

#[test]
fn anchors_equal_those_of_github() {
    let text = "# What it is\n## Why `some-parser`?\n## Same\n## Same\n#no heading\n";
    let expected = ["same", "same-1", "what-it-is", "why-some-parser"];
    assert_eq!(anchors(text).into_iter().collect::<Vec<_>>(), expected);
}

#[test]
fn words_in_backticks_are_found() {
    assert_eq!(code_words("a `b` c `d e`, f"), ["b", "d e"]);
}
