//! An error's text does not repeat its source. Otherwise printing the chain would print it twice.

use proc_macro2::{Delimiter, Group, TokenTree};

use super::source::{self, attribute_at, is_punct, is_word};
use super::{Check, Findings, Subject};
use crate::Failure;

pub(super) const CHECK: Check =
    Check { name: "error-texts", keeps: "no error's text repeats the error that it has as its source", run };

fn run(subject: &Subject, findings: &mut Findings) -> Result<(), Failure> {
    for path in subject.tree.with_extension("rs") {
        let Some(text) = subject.tree.text(path)? else { continue };
        // Parsing is slower than this test, and most files define no error.
        if !text.contains("#[error(") {
            continue;
        }
        source::each_list(source::parse(path, &text)?, &mut |tokens| {
            for (line, name) in repeated(tokens) {
                findings.add(
                    format!("{path}:{line}"),
                    format!("prints its source `{name}`"),
                    "leave it out of the text: the error's handler prints the chain",
                );
            }
        });
    }
    Ok(())
}

/// Finds attributes `error("…")` whose text prints the source of the following variant or structure.
fn repeated(tokens: &[TokenTree]) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    for index in 0..tokens.len() {
        let Some((attribute, next)) = attribute_at(tokens, index) else { continue };
        if attribute.name() != "error" {
            continue;
        }
        let Some(TokenTree::Group(arguments)) = attribute.tokens.get(1) else { continue };
        let Some(fields) = fields_behind(tokens, next) else { continue };
        if let Some(name) = source_field(&fields).filter(|name| prints(arguments, name)) {
            found.push((attribute.line, name));
        }
    }
    found
}

/// Returns the group with the fields of the following variant or structure.
fn fields_behind(tokens: &[TokenTree], from: usize) -> Option<Group> {
    let mut previous_is_pub = false;
    let mut index = from;
    while let Some(token) = tokens.get(index) {
        if let Some((_, next)) = attribute_at(tokens, index) {
            index = next;
            continue;
        }
        match token {
            TokenTree::Group(group) if !previous_is_pub => return Some(group.clone()),
            _ if is_punct(token, ',') || is_punct(token, ';') => return None,
            _ => {}
        }
        previous_is_pub = is_word(token, "pub");
        index += 1;
    }
    None
}

/// Returns the name or index of the source field: marked with `source` or `from`, or named `source`.
fn source_field(fields: &Group) -> Option<String> {
    let tokens: Vec<TokenTree> = fields.stream().into_iter().collect();
    let is_tuple = fields.delimiter() == Delimiter::Parenthesis;
    split_fields(&tokens).into_iter().enumerate().find_map(|(number, field)| {
        let mut marked = false;
        let mut index = 0;
        while let Some((attribute, next)) = attribute_at(field, index) {
            marked |= ["source", "from"].contains(&attribute.name().as_str());
            index = next;
        }
        let colon = field.iter().position(|token| is_punct(token, ':'));
        let name = if is_tuple { number.to_string() } else { field.get(colon?.checked_sub(1)?)?.to_string() };
        (marked || name == "source").then_some(name)
    })
}

/// Splits fields at the commas between them, but not at those in angle brackets.
fn split_fields(tokens: &[TokenTree]) -> Vec<&[TokenTree]> {
    let (mut depth, mut start, mut fields) = (0_usize, 0, Vec::new());
    for (index, token) in tokens.iter().enumerate() {
        if is_punct(token, '<') {
            depth += 1;
        } else if is_punct(token, '>') {
            depth = depth.saturating_sub(1);
        } else if is_punct(token, ',') && depth == 0 {
            fields.push(&tokens[start..index]);
            start = index + 1;
        }
    }
    fields.push(&tokens[start..]);
    fields
}

/// Whether the arguments of `error(…)` print a field: in braces within the text, or as `.name` after it.
fn prints(arguments: &Group, name: &str) -> bool {
    let tokens: Vec<TokenTree> = arguments.stream().into_iter().collect();
    let text = tokens.first().and_then(|token| source::string_value(&token.to_string())).unwrap_or_default();
    let in_text = text.contains(&format!("{{{name}}}")) || text.contains(&format!("{{{name}:"));
    in_text || tokens.windows(2).any(|pair| is_punct(&pair[0], '.') && pair[1].to_string() == name)
}
