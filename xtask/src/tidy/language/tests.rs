use super::offending;

#[test]
fn words_of_the_table_are_found_outside_identifiers_and_code_blocks() {
    let text = "Nobody waits.\nfn nobody_waits() {}\nby chance\n```\nwhoever\n```\nsee `design.md` section 2\nnobody-announced-this\n";
    assert_eq!(offending(text, true), [(1, "nobody"), (3, "by chance"), (7, "design.md")]);
    assert_eq!(offending(text, false), [(1, "nobody"), (3, "by chance"), (5, "whoever"), (7, "design.md")]);
}
