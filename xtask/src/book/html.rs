//! Parses the links and anchors of a page.
//!
//! It supports the HTML of mdbook only: well-formed tags with attributes in double quotes, and `<` in text as a character reference. Tags
//! in the Markdown pages must have the same syntax.

use std::collections::BTreeSet;

/// The links and anchors of a page.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Page {
    /// Targets of `href` and `src`, in order.
    pub(super) targets: Vec<String>,
    /// Values of `id`.
    pub(super) anchors: BTreeSet<String>,
}

/// Elements whose content is not HTML.
const RAW: [&str; 2] = ["script", "style"];

/// Parses a page.
pub(super) fn read(html: &str) -> Page {
    let mut page = Page::default();
    let mut rest = html;
    while let Some(at) = rest.find('<') {
        rest = &rest[at + 1..];
        if let Some(comment) = rest.strip_prefix("!--") {
            rest = comment.split_once("-->").map_or("", |(_, behind)| behind);
            continue;
        }
        let name: String = rest.chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '-').collect();
        if name.is_empty() {
            continue;
        }
        rest = attributes(&rest[name.len()..], |attribute, value| match attribute {
            "href" | "src" => page.targets.push(value),
            "id" => drop(page.anchors.insert(value)),
            _ => {}
        });
        if RAW.contains(&name.as_str()) {
            rest = rest.split_once(&format!("</{name}")).map_or("", |(_, behind)| behind);
        }
    }
    page
}

/// Passes each attribute of a tag to `found`, and returns the text after the tag.
fn attributes(tag: &str, mut found: impl FnMut(&str, String)) -> &str {
    let mut rest = tag;
    loop {
        rest = rest.trim_start_matches(|c: char| c.is_whitespace() || c == '/');
        if rest.is_empty() || rest.starts_with('>') {
            return rest.strip_prefix('>').unwrap_or_default();
        }
        let end =
            rest.find(|c: char| c.is_whitespace() || matches!(c, '=' | '>' | '/')).unwrap_or(rest.len());
        // A stray `=` has no name before it; it must not stop the parser.
        let (name, behind) = rest.split_at(end.max(1));
        rest = behind;
        let Some(value) = rest.strip_prefix('=') else { continue };
        let quote = value.chars().next().filter(|c| matches!(c, '"' | '\''));
        let (value, behind) = match quote {
            Some(quote) => value[1..].split_once(quote).unwrap_or((&value[1..], "")),
            None => {
                value.split_at(value.find(|c: char| c.is_whitespace() || c == '>').unwrap_or(value.len()))
            }
        };
        found(name, unescaped(value));
        rest = behind;
    }
}

/// Decodes the character references in attributes.
fn unescaped(value: &str) -> String {
    value
        .replace("&quot;", "\"")
        .replace("&#39;", "'")
        .replace("&#x27;", "'")
        .replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&amp;", "&")
}
