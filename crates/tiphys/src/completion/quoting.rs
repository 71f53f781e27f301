//! The words of shells: what has been typed as the text that it stands for, and texts as words that stand for nothing else.
//!
//! Nothing is expanded: a variable or a command in a word stays as it was typed, and with it nothing goes on: a `$` that has been typed
//! and a `(` of a name would make a command of the two.

/// A quotation that has not ended yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Quote {
    /// `'`
    Single,
    /// `"`
    Double,
    /// `$'`
    Ansi,
}

/// A word as it stands on the line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Word {
    /// As it was typed.
    pub(super) raw: String,
    /// What it stands for.
    pub(super) text: String,
    /// The quotation that is open at its end.
    pub(super) open: Option<Quote>,
    /// Whether the shell would put something in place of a part of it, so that the text is not what it stands for.
    pub(super) expands: bool,
}

/// The words of a line of bash; the last one ends where the line does, and may be empty.
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

/// What a token of fish stands for; a quotation need not end.
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

/// What the beginning of a word of PowerShell stands for.
pub(super) fn powershell_text(word: &str) -> String {
    match word.chars().next() {
        Some(quote) if is_powershell_quote(quote) => {
            let mut text = String::new();
            let mut rest = word[quote.len_utf8()..].chars().peekable();
            while let Some(c) = rest.next() {
                // Two of them stand for one; a single one ends the quotation.
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

/// A text as it is typed in bash to go on behind what has been typed already.
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
            // The history is looked up in double quotes too, where nothing escapes it.
            Some(Quote::Double) if c == '!' => quoted.push_str("\"'!'\""),
            Some(Quote::Double) if "$`\"\\".contains(c) => quoted.extend(['\\', c]),
            Some(Quote::Ansi) if "'\\".contains(c) => quoted.extend(['\\', c]),
            Some(_) => quoted.push(c),
        }
    }
    quoted
}

/// A text as a word of PowerShell.
pub(super) fn for_powershell(text: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "_-./:=+[]\\".contains(c);
    // What begins with a dash is divided at its first dot.
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

/// PowerShell takes typographic single quotes for the plain one.
fn is_powershell_quote(c: char) -> bool {
    matches!(c, '\'' | '\u{2018}'..='\u{201b}')
}

#[cfg(test)]
mod tests;
