use super::Table;

#[test]
fn columns_fit_the_widest_cell_without_trailing_blanks() {
    let mut table = Table::new(&["NAME", "VALUE"]);
    table.row(["a".to_owned(), "two\nlines".to_owned()]);
    table.row(["größer".to_owned(), String::new()]);
    assert_eq!(table.render(), "NAME     VALUE\na        two lines\ngrößer   -\n");
}

#[test]
fn only_cells_of_one_column_are_cut_to_the_width() {
    let mut table = Table::new(&["NAME", "VALUE", "TEXT"]);
    table.row(["short", "τῖφυς ναύς ναύς", "one two three four five"].map(str::to_owned));
    let cases = [
        (60, "NAME    VALUE             TEXT\nshort   τῖφυς ναύς ναύς   one two three four five\n"),
        (46, "NAME    VALUE          TEXT\nshort   τῖφυς ναύς …   one two three four five\n"),
        (1, "NAME    VALUE      TEXT\nshort   τῖφυς ν…   one two three four five\n"),
    ];
    for (columns, expected) in cases {
        assert_eq!(table.render_within(columns, "VALUE"), expected, "{columns}");
    }
}
