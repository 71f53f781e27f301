use super::Table;

#[test]
fn columns_fit_the_widest_cell_without_trailing_blanks() {
    let mut table = Table::new(&["NAME", "VALUE"]);
    table.row(["a".to_owned(), "two\nlines".to_owned()]);
    table.row(["größer".to_owned(), String::new()]);
    assert_eq!(table.render(), "NAME     VALUE\na        two lines\ngrößer   -\n");
}

#[test]
fn widest_cells_are_cut_to_the_width() {
    let mut table = Table::new(&["NAME", "VALUE", "TEXT"]);
    table.row(["short", "τῖφυς ναύς ναύς", "one two three four five"].map(str::to_owned));
    let cases = [
        (60, "NAME    VALUE             TEXT\nshort   τῖφυς ναύς ναύς   one two three four five\n"),
        (37, "NAME    VALUE           TEXT\nshort   τῖφυς ναύς ν…   one two thre…\n"),
        (1, "NAME    VALUE      TEXT\nshort   τῖφυς ν…   one two…\n"),
    ];
    for (columns, expected) in cases {
        assert_eq!(table.render_within(columns), expected, "{columns}");
    }
}
