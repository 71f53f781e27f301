//! Rust source files as tokens, so that comments and string literals are not mistaken for code.

#[cfg(test)]
mod tests;

use proc_macro2::{Delimiter, TokenStream, TokenTree};

use crate::Failure;

/// Parses a source file.
pub(crate) fn parse(path: &str, text: &str) -> Result<TokenStream, Failure> {
    text.parse().map_err(|error| Failure::new(format!("{path}: is not Rust source: {error}")))
}

/// Returns the names of a source file's test functions in order.
pub(crate) fn tests(path: &str, text: &str) -> Result<Vec<String>, Failure> {
    let mut names = Vec::new();
    if !text.contains("test") {
        return Ok(names);
    }
    each_list(parse(path, text)?, &mut |tokens| {
        let is_test = |item: &Item| item.attributes.iter().any(|attribute| attribute.name() == "test");
        names.extend(items(tokens, "fn").into_iter().filter(is_test).map(|item| item.name));
    });
    Ok(names)
}

/// Returns the names that follow a path in a source file: `fmt` in `std::fmt::Write` after `std::`. A list in braces is `{`.
pub(crate) fn names_after<'a>(text: &'a str, path: &'a str) -> impl Iterator<Item = &'a str> {
    let is_part = |character: char| character.is_alphanumeric() || character == '_';
    text.match_indices(path).filter_map(move |(at, _)| {
        let rest = &text[at + path.len()..];
        let end = rest.find(|character| !is_part(character)).unwrap_or(rest.len());
        (!text[..at].ends_with(is_part)).then(|| if end == 0 { &rest[..1] } else { &rest[..end] })
    })
}

/// An outer or inner attribute.
#[derive(Debug)]
pub(crate) struct Attribute {
    /// Line number, from 1.
    pub(crate) line: usize,
    /// The content of the brackets.
    pub(crate) tokens: Vec<TokenTree>,
}

impl Attribute {
    /// Its path without the arguments: `test`, `tokio::test`, `expect`.
    pub(crate) fn path(&self) -> String {
        path_of(&self.tokens)
    }

    /// The last segment of its path.
    pub(crate) fn name(&self) -> String {
        let path = self.path();
        path.rsplit("::").next().unwrap_or_default().to_owned()
    }

    /// The value of `name = "value"`.
    pub(crate) fn value(&self) -> Option<String> {
        match self.tokens.as_slice() {
            [.., TokenTree::Punct(equals), TokenTree::Literal(value)] if equals.as_char() == '=' => {
                string_value(&value.to_string())
            }
            _ => None,
        }
    }

    /// Returns all lists of arguments with this name, including those within `cfg_attr`, split at commas: `expect(a, b = "c")` has the list
    /// `[a, b]`, without values.
    pub(crate) fn lists(&self, name: &str) -> Vec<Vec<String>> {
        let mut lists = Vec::new();
        collect_lists(&self.tokens, name, &mut lists);
        lists
    }
}

fn collect_lists(tokens: &[TokenTree], name: &str, lists: &mut Vec<Vec<String>>) {
    for (index, token) in tokens.iter().enumerate() {
        if let TokenTree::Group(group) = token {
            let inner: Vec<TokenTree> = group.stream().into_iter().collect();
            let named = index > 0 && matches!(&tokens[index - 1], TokenTree::Ident(ident) if *ident == name);
            if named {
                lists.push(
                    inner
                        .split(|token| is_punct(token, ','))
                        .map(path_of)
                        .filter(|path| !path.is_empty())
                        .collect(),
                );
            }
            collect_lists(&inner, name, lists);
        }
    }
}

fn path_of(tokens: &[TokenTree]) -> String {
    let is_path = |token: &&TokenTree| matches!(token, TokenTree::Ident(_)) || is_punct(token, ':');
    tokens.iter().take_while(is_path).map(ToString::to_string).collect()
}

/// Whether a token is this punctuation character.
pub(crate) fn is_punct(token: &TokenTree, character: char) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.as_char() == character)
}

/// Whether a token is this identifier.
pub(crate) fn is_word(token: &TokenTree, word: &str) -> bool {
    matches!(token, TokenTree::Ident(ident) if *ident == word)
}

/// The line of a token, from 1.
pub(crate) fn line(token: &TokenTree) -> usize {
    token.span().start().line
}

/// The value of a string literal; `None` for other literals. Only escapes of quotes and backslashes are decoded.
pub(crate) fn string_value(literal: &str) -> Option<String> {
    if let Some(raw) = literal.strip_prefix('r') {
        let inner = raw.trim_start_matches('#');
        let hashes = raw.len() - inner.len();
        let inner = inner.strip_prefix('"')?;
        return inner.get(..inner.len().checked_sub(hashes + 1)?).map(str::to_owned);
    }
    let inner = literal.strip_prefix('"')?.strip_suffix('"')?;
    Some(inner.replace("\\\"", "\"").replace("\\\\", "\\"))
}

/// Returns the attribute at this index of a list of tokens, and the index after it.
pub(crate) fn attribute_at(tokens: &[TokenTree], index: usize) -> Option<(Attribute, usize)> {
    let first = tokens.get(index).filter(|token| is_punct(token, '#'))?;
    let bang = usize::from(tokens.get(index + 1).is_some_and(|token| is_punct(token, '!')));
    match tokens.get(index + 1 + bang) {
        Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Bracket => {
            let attribute = Attribute { line: line(first), tokens: group.stream().into_iter().collect() };
            Some((attribute, index + 2 + bang))
        }
        _ => None,
    }
}

/// Calls `visit` with every list of tokens: that of the file and those of all groups, recursively.
pub(crate) fn each_list(stream: TokenStream, visit: &mut dyn FnMut(&[TokenTree])) {
    let tokens: Vec<TokenTree> = stream.into_iter().collect();
    visit(&tokens);
    for token in tokens {
        if let TokenTree::Group(group) = token {
            each_list(group.stream(), visit);
        }
    }
}

/// All attributes of a file.
pub(crate) fn attributes(stream: TokenStream) -> Vec<Attribute> {
    let mut found = Vec::new();
    each_list(stream, &mut |tokens| {
        found.extend(
            (0..tokens.len()).filter_map(|index| attribute_at(tokens, index)).map(|(attribute, _)| attribute),
        );
    });
    found
}

/// An item that starts with a keyword and a name (`mod name`, `fn name`), with its attributes.
#[derive(Debug)]
pub(crate) struct Item {
    /// The name.
    pub(crate) name: String,
    /// The attributes before the item.
    pub(crate) attributes: Vec<Attribute>,
    /// Whether a group follows the name: the body of a module, the parameters of a function.
    pub(crate) has_body: bool,
}

/// Returns the items with the keyword `word` in one list of tokens, not in its groups.
pub(crate) fn items(tokens: &[TokenTree], word: &str) -> Vec<Item> {
    let mut items = Vec::new();
    let mut attributes = Vec::new();
    let mut index = 0;
    while index < tokens.len() {
        if let Some((attribute, next)) = attribute_at(tokens, index) {
            attributes.push(attribute);
            index = next;
            continue;
        }
        if is_word(&tokens[index], word)
            && let Some(TokenTree::Ident(name)) = tokens.get(index + 1)
        {
            let has_body = matches!(tokens.get(index + 2), Some(TokenTree::Group(_)));
            let attributes = std::mem::take(&mut attributes);
            items.push(Item { name: name.to_string(), attributes, has_body });
        }
        let ends_item = is_punct(&tokens[index], ';')
            || matches!(&tokens[index], TokenTree::Group(group) if group.delimiter() == Delimiter::Brace);
        if ends_item {
            attributes.clear();
        }
        index += 1;
    }
    items
}
