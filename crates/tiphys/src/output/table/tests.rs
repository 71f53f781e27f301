use super::Table;

#[test]
fn columns_fit_the_widest_cell_without_trailing_blanks() {
    let mut table = Table::new(&["NAME", "VALUE"]);
    table.row(["a".to_owned(), "two\nlines".to_owned()]);
    table.row(["größer".to_owned(), String::new()]);
    assert_eq!(table.render(), "NAME     VALUE\na        two lines\ngrößer   -\n");
}
