//! Links that lead somewhere, and links that do not.

use super::*;
use crate::tidy::synthetic::Synthetic;

fn findings(text: &str) -> Vec<String> {
    let tree =
        Synthetic::new(&[("docs/b.md", "# One heading\n"), ("crates/a/src/lib.rs", ""), ("LICENSE", "")]);
    tree.write("docs/a.md", text);
    tree.findings(&CHECK)
}

#[test]
fn links_to_files_folders_headings_and_the_world_hold() {
    let text = "# Own\n[a](b.md) [b](b.md#one-heading) [c](../crates/a) [d](#own) [e](../LICENSE) [f](https://example.org/x#y)\n";
    assert_eq!(findings(text), Vec::<String>::new());
}

#[test]
fn a_link_to_a_missing_file_is_found() {
    assert_eq!(findings("text\n[a](c.md)\n"), ["docs/a.md:2: links c.md, which does not exist"]);
}

#[test]
fn a_link_to_a_missing_heading_is_found() {
    assert_eq!(findings("[a](b.md#two)\n"), ["docs/a.md:1: links b.md#two, but there is no such heading"]);
    assert_eq!(findings("[a](#two)\n"), ["docs/a.md:1: links #two, but there is no such heading"]);
}

#[test]
fn a_link_out_of_the_checkout_is_found() {
    assert_eq!(
        findings("[a](../../x.md)\n"),
        ["docs/a.md:1: links ../../x.md, which leads out of the checkout"]
    );
}

#[test]
fn a_missing_path_in_backticks_is_found() {
    assert_eq!(
        findings(
            "see `crates/a/src/lib.rs`, `crates/a`, `crates/b/src/lib.rs`, `crates/<name>` and `crates/*`\n"
        ),
        ["docs/a.md:1: names crates/b/src/lib.rs, which does not exist"]
    );
}
