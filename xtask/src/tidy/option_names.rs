//! Messages below the binary name no option of it: a use case states what to do as a `Remedy`, and each front end names its own way.

use std::collections::BTreeSet;

use proc_macro2::TokenTree;

use super::source::{self, is_word, line, string_value};
use super::{Check, Findings, Subject};
use crate::Failure;

pub(super) const CHECK: Check = Check {
    name: "option-names",
    keeps: "no message below the binary names an option of the command line",
    run,
};

/// The generated lists of all options.
const OPTIONS: [&str; 4] = [
    "docs/reference/options.md",
    "docs/reference/commands.md",
    "docs/reference/commands-appset.md",
    "docs/reference/commands-params.md",
];

/// The front end, crates for tests, and the table of settings.
const FREE: [&str; 4] = [
    "crates/tiphys/",
    "crates/tiphys-testkit/",
    "crates/tiphys-fuzz/",
    "crates/tiphys-service/src/context/options",
];

fn run(subject: &Subject, findings: &mut Findings) -> Result<(), Failure> {
    let pages: Vec<Option<String>> =
        OPTIONS.iter().map(|page| subject.tree.text(page)).collect::<Result<_, _>>()?;
    let cells = pages.iter().flatten().flat_map(|page| page.lines().filter(|line| line.starts_with("| `")));
    let options: BTreeSet<&str> =
        cells.filter_map(|line| line.split(" | ").next()).flat_map(options_in).collect();
    if options.is_empty() {
        return Err(Failure::new(format!("{}: no option found", OPTIONS.join(", "))));
    }
    let is_checked = |path: &&str| {
        let is_code = path.starts_with("crates/") && path.contains("/src/") && !path.ends_with("/tests.rs");
        is_code && !FREE.iter().any(|free| path.starts_with(free))
    };
    for path in subject.tree.with_extension("rs").filter(is_checked) {
        let Some(text) = subject.tree.text(path)? else { continue };
        if !text.contains("--") {
            continue;
        }
        source::each_list(source::parse(path, &text)?, &mut |tokens| {
            for (line, message) in messages(tokens) {
                // The options after a call of git are git's.
                let own = message.split("git ").next().unwrap_or_default();
                for option in options_in(own).filter(|option| options.contains(option)) {
                    findings.add(
                        format!("{path}:{line}"),
                        format!("names the option {option}"),
                        "return a Remedy or an Input, for which the binary names the option",
                    );
                }
            }
        });
    }
    Ok(())
}

/// Returns the words that are long options.
fn options_in(text: &str) -> impl Iterator<Item = &str> {
    let is_name = |character: char| character.is_ascii_lowercase() || character == '-';
    text.split(move |character| !is_name(character)).filter(|word| {
        word.strip_prefix("--").is_some_and(|name| name.starts_with(|first: char| first.is_ascii_lowercase()))
    })
}

/// Returns the string literals of several words with their lines. Arguments of other programs are single words.
fn messages(tokens: &[TokenTree]) -> Vec<(usize, String)> {
    // A comment is the attribute `doc`.
    if tokens.first().is_some_and(|first| is_word(first, "doc")) {
        return Vec::new();
    }
    let message = |token: &TokenTree| match token {
        TokenTree::Literal(literal) => Some((line(token), string_value(&literal.to_string())?)),
        _ => None,
    };
    tokens.iter().filter_map(message).filter(|(_, text)| text.contains(' ')).collect()
}
