//! Rows with their tests, rows without, and rows whose test is gone.

use super::*;
use crate::tidy::synthetic::Synthetic;

const SOURCE: &str = "fn helper() {}\n\
    #[test]\nfn a_rule_holds() {}\n\
    mod inner { #[tokio::test] async fn a_second_rule_holds() {} }\n\
    proptest! { #[test] fn a_property_holds(x in 0..1) {} }\n";

fn findings(rows: &str) -> Vec<String> {
    let document = format!("| rule | test |\n|---|---|\n{rows}");
    Synthetic::new(&[
        ("docs/proposal-rules.md", &document),
        ("crates/a/src/tests.rs", SOURCE),
        ("crates/tiphys/testdata/cli/render/yaml.txt", "# A case.\n"),
    ])
    .findings(&CHECK)
}

#[test]
fn rows_whose_tests_exist_hold() {
    let rows = "| one | `a_rule_holds` |\n| two | `a_second_rule_holds`, `a_property_holds` |\n\
                | three | `render/yaml` |\n";
    assert_eq!(findings(rows), Vec::<String>::new());
}

#[test]
fn a_row_without_a_test_is_found() {
    assert_eq!(findings("| one | |\n"), ["docs/proposal-rules.md:3: has no test for: one"]);
    assert_eq!(findings("| two | later |\n"), ["docs/proposal-rules.md:3: has no test for: two"]);
}

#[test]
fn a_name_of_no_test_is_found() {
    for name in ["gone", "helper", "render/json", "yaml"] {
        assert_eq!(
            findings(&format!("| one | `{name}` |\n")),
            [format!("docs/proposal-rules.md:3: names the test {name}, which does not exist")]
        );
    }
}

#[test]
fn a_missing_table_of_the_proposals_rules_is_found() {
    assert_eq!(
        Synthetic::new(&[("docs/proposal-rules.md", "# Rules\n")]).findings(&CHECK),
        ["docs/proposal-rules.md: has no table with a column `test`"]
    );
}
