//! What checks need of a page: its links and its anchors.
//!
//! This is no reader for any HTML: mdbook writes the tags that it makes well-formed, with attributes in double quotes, and `<` in texts
//! as a reference. Pages that people wrote with tags of their own are written by the same hand.

use std::collections::BTreeSet;

/// What a page has.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Page {
    /// Targets of `href` and `src`, in order.
    pub(super) targets: Vec<String>,
    /// Values of `id`.
    pub(super) anchors: BTreeSet<String>,
}

/// Elements whose content is no HTML.
const RAW: [&str; 2] = ["script", "style"];

/// Reads a page.
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

/// Gives each attribute of a tag to `found`, and returns what is behind the tag.
fn attributes(tag: &str, mut found: impl FnMut(&str, String)) -> &str {
    let mut rest = tag;
    loop {
        rest = rest.trim_start_matches(|c: char| c.is_whitespace() || c == '/');
        if rest.is_empty() || rest.starts_with('>') {
            return rest.strip_prefix('>').unwrap_or_default();
        }
        let end =
            rest.find(|c: char| c.is_whitespace() || matches!(c, '=' | '>' | '/')).unwrap_or(rest.len());
        // A stray `=` has no name before it; it must not stop the walk.
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

/// The character references that stand in attributes.
fn unescaped(value: &str) -> String {
    value
        .replace("&quot;", "\"")
        .replace("&#39;", "'")
        .replace("&#x27;", "'")
        .replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&amp;", "&")
}
