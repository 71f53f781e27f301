//! Marks of invisible characters, so that text of others reads as what it is.

use std::fmt::Write as _;

/// The attributes that browsers show. Others have values of fields, names and addresses.
const SHOWN_ATTRIBUTES: [&str; 3] = [" title=", " aria-label=", " placeholder="];

/// Whether a character is invisible, or changes how the characters beside it are shown: control characters but tab and line feed, and
/// `Default_Ignorable_Code_Point` without the variants of symbols ([UAX #44](https://www.unicode.org/reports/tr44/)).
pub(crate) fn is_invisible(char: char) -> bool {
    match char {
        '\n' | '\t' => false,
        '\u{ad}'
        | '\u{34f}'
        | '\u{61c}'
        | '\u{115f}'..='\u{1160}'
        | '\u{17b4}'..='\u{17b5}'
        | '\u{180b}'..='\u{180f}'
        | '\u{200b}'..='\u{200f}'
        | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}'
        | '\u{3164}'
        | '\u{feff}'
        | '\u{ffa0}'
        | '\u{fff0}'..='\u{fffb}'
        | '\u{1bca0}'..='\u{1bca3}'
        | '\u{1d173}'..='\u{1d17a}'
        | '\u{e0000}'..='\u{e0fff}' => true,
        _ => char.is_control(),
    }
}

/// Returns the names of the invisible characters in some strings, each once: `U+202E, U+200B`. None without such characters.
pub(crate) fn invisible_names<'a>(texts: impl IntoIterator<Item = &'a str>) -> Option<String> {
    let mut names: Vec<String> = Vec::new();
    for char in texts.into_iter().flat_map(str::chars).filter(|char| is_invisible(*char)) {
        let name = name(char);
        if !names.contains(&name) {
            names.push(name);
        }
    }
    (!names.is_empty()).then(|| names.join(", "))
}

/// Replaces invisible characters of a string by their names in brackets.
pub(crate) fn marked_text(text: &str) -> String {
    let mut marked = String::with_capacity(text.len());
    push_marked(&mut marked, text, ["", ""]);
    marked
}

/// Replaces invisible characters wherever a page shows them, but not in the values of fields. In the HTML, `<`, `>` and `"` of all other
/// text are escaped.
pub(crate) fn marked_html(html: String) -> String {
    if !html.chars().any(is_invisible) {
        return html;
    }
    let mut marked = String::with_capacity(html.len());
    let mut rest = html.as_str();
    let mut around = MARK;
    while !rest.is_empty() {
        let (text, tail) = rest.split_at(rest.find('<').unwrap_or(rest.len()));
        push_marked(&mut marked, text, around);
        let (tag, tail) = tail.split_at(tail.find('>').map_or(tail.len(), |end| end + 1));
        push_tag(&mut marked, tag);
        rest = tail;
        // These have no elements.
        around = if tag.starts_with("<option") || tag.starts_with("<title") { ["", ""] } else { MARK };
        if tag.starts_with("<textarea") {
            let (value, tail) = rest.split_at(rest.find('<').unwrap_or(rest.len()));
            marked.push_str(value);
            rest = tail;
        }
    }
    marked
}

/// The element around a mark.
const MARK: [&str; 2] = ["<mark>", "</mark>"];

fn push_marked(marked: &mut String, text: &str, [begin, end]: [&str; 2]) {
    let mut rest = text;
    while let Some(at) = rest.find(is_invisible) {
        let (plain, tail) = rest.split_at(at);
        let mut chars = tail.chars();
        // `find` has found a character.
        let name = chars.next().map(name).unwrap_or_default();
        // Writing to a string cannot fail.
        let _ = write!(marked, "{plain}{begin}[{name}]{end}");
        rest = chars.as_str();
    }
    marked.push_str(rest);
}

/// Adds a tag. Quotes enclose the values of its attributes.
fn push_tag(marked: &mut String, tag: &str) {
    let mut is_shown = false;
    for (index, part) in tag.split('"').enumerate() {
        if index > 0 {
            marked.push('"');
        }
        if is_shown {
            push_marked(marked, part, ["", ""]);
        } else {
            marked.push_str(part);
        }
        is_shown = index % 2 == 0 && SHOWN_ATTRIBUTES.iter().any(|name| part.ends_with(name));
    }
}

fn name(char: char) -> String {
    format!("U+{:04X}", u32::from(char))
}

#[cfg(test)]
mod tests;
