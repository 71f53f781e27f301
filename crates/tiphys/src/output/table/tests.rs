use super::Table;

#[test]
fn columns_are_as_wide_as_their_widest_cell_and_lines_end_without_blanks() {
    let mut table = Table::new(&["NAME", "VALUE"]);
    table.row(["a".to_owned(), "two\nlines".to_owned()]);
    table.row(["größer".to_owned(), String::new()]);
    assert_eq!(table.render(), "NAME     VALUE\na        two lines\ngrößer   -\n");
}
