//! Quoting of shells: unquotes typed words, and quotes candidates.
//!
//! Nothing is expanded. A word with a variable or a command has no candidates: a typed `$` followed by a `(` of a name would be a command
//! substitution.

/// An open quotation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Quote {
    /// `'`
    Single,
    /// `"`
    Double,
    /// `$'`
    Ansi,
}

/// A typed word.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Word {
    /// The typed characters.
    pub(super) raw: String,
    /// The unquoted string.
    pub(super) text: String,
    /// The quotation that is open at the end.
    pub(super) open: Option<Quote>,
    /// Whether the shell would expand a part of it, so that the unquoted string is not its value.
    pub(super) expands: bool,
}

/// Splits a line of bash. The last word ends at the end of the line and may be empty.
pub(super) fn bash_words(line: &str) -> (Vec<Word>, Word) {
    let mut words = Vec::new();
    let mut word: Option<Word> = None;
    let mut rest = line.chars().peekable();
    while let Some(c) = rest.next() {
        let open = word.as_ref().and_then(|word| word.open);
        if open.is_none() && c.is_ascii_whitespace() {
            words.extend(word.take());
            continue;
        }
        let Word { raw, text, open: next, expands } = word.get_or_insert_default();
        raw.push(c);
        let mut escaped = |raw: &mut String, text: &mut String, keeps: &str| match rest.next() {
            Some(c) => {
                raw.push(c);
                if !keeps.is_empty() && !keeps.contains(c) {
                    text.push('\\');
                }
                text.push(c);
            }
            None => text.push_str(if keeps.is_empty() { "" } else { "\\" }),
        };
        match (open, c) {
            (None, '\\') => escaped(raw, text, ""),
            (Some(Quote::Double), '\\') => escaped(raw, text, "$`\"\\"),
            (Some(Quote::Ansi), '\\') => escaped(raw, text, "'\"\\?"),
            (None, '\'') => *next = Some(Quote::Single),
            (None, '"') => *next = Some(Quote::Double),
            (None, '$') if rest.peek() == Some(&'\'') => {
                raw.extend(rest.next());
                *next = Some(Quote::Ansi);
            }
            (Some(Quote::Single | Quote::Ansi), '\'') | (Some(Quote::Double), '"') => *next = None,
            (None | Some(Quote::Double), '$' | '`') => {
                *expands = true;
                text.push(c);
            }
            _ => text.push(c),
        }
    }
    (words, word.unwrap_or_default())
}

/// Unquotes a token of fish. A quotation may be open.
pub(super) fn fish_text(token: &str) -> String {
    let mut text = String::new();
    let mut open = None;
    let mut rest = token.chars().peekable();
    while let Some(c) = rest.next() {
        match (open, c) {
            (None, '\\') => text.extend(rest.next()),
            (Some(quote), '\\') if rest.peek().is_some_and(|next| *next == quote || *next == '\\') => {
                text.extend(rest.next());
            }
            (Some('"'), '\\') if rest.peek() == Some(&'$') => text.extend(rest.next()),
            (None, '\'' | '"') => open = Some(c),
            (Some(quote), c) if c == quote => open = None,
            _ => text.push(c),
        }
    }
    text
}

/// Unquotes the beginning of a word of PowerShell.
pub(super) fn powershell_text(word: &str) -> String {
    match word.chars().next() {
        Some(quote) if is_powershell_quote(quote) => {
            let mut text = String::new();
            let mut rest = word[quote.len_utf8()..].chars().peekable();
            while let Some(c) = rest.next() {
                // A doubled quote is a literal one; a single quote ends the quotation.
                if is_powershell_quote(c) && rest.next_if(|next| is_powershell_quote(*next)).is_none() {
                    break;
                }
                text.push(c);
            }
            text
        }
        Some('"') => word[1..].strip_suffix('"').unwrap_or(&word[1..]).to_owned(),
        _ => word.to_owned(),
    }
}

/// Quotes the rest of a word for bash, after what has been typed.
pub(super) fn for_bash(text: &str, open: Option<Quote>) -> String {
    let mut quoted = String::new();
    for c in text.chars() {
        match open {
            None => {
                if !(c.is_alphanumeric() || "_-./:=+,@%".contains(c)) {
                    quoted.push('\\');
                }
                quoted.push(c);
            }
            Some(Quote::Single) if c == '\'' => quoted.push_str("'\\''"),
            // In double quotes, bash expands `!` from the history, and no escape prevents it.
            Some(Quote::Double) if c == '!' => quoted.push_str("\"'!'\""),
            Some(Quote::Double) if "$`\"\\".contains(c) => quoted.extend(['\\', c]),
            Some(Quote::Ansi) if "'\\".contains(c) => quoted.extend(['\\', c]),
            Some(_) => quoted.push(c),
        }
    }
    quoted
}

/// Quotes a word for PowerShell.
pub(super) fn for_powershell(text: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "_-./:=+[]\\".contains(c);
    // A word that starts with a dash is split at its first dot.
    let divided = text.starts_with('-') && text.contains('.');
    if text.chars().all(plain) && !divided && !text.is_empty() {
        return text.to_owned();
    }
    let mut quoted = String::from("'");
    for c in text.chars() {
        quoted.push(c);
        if is_powershell_quote(c) {
            quoted.push(c);
        }
    }
    quoted + "'"
}

/// PowerShell treats typographic single quotes like ASCII ones.
fn is_powershell_quote(c: char) -> bool {
    matches!(c, '\'' | '\u{2018}'..='\u{201b}')
}

#[cfg(test)]
mod tests;
