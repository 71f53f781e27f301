//! The keys in the actions of Go templates. Text outside of actions is output and names no values.

use std::collections::HashSet;

use super::words;

/// The field of the root with all values.
const VALUES: &str = "Values";

/// Methods of helm's type for values that return all of them.
const METHODS_OF_VALUES: [&str; 5] = ["AsMap", "Encode", "PathValue", "Table", "YAML"];

/// Keywords and functions that pass the root on to a template, where its fields are named.
const CALLS: [&str; 4] = ["include", "template", "tpl", "block"];

/// Functions that put the root into a structure, which a template gets later.
const STRUCTURES: [&str; 3] = ["dict", "list", "set"];

/// Names and features that the actions of templates use.
#[derive(Debug, Default)]
pub(super) struct Actions {
    /// The names of fields, and the words in strings.
    pub(super) named: HashSet<String>,
    /// Those whose value is used as a whole: no field follows.
    pub(super) whole: HashSet<String>,
    /// All values are used as a whole, so that any may count.
    pub(super) uses_all_values: bool,
    /// A string is rendered as a template.
    pub(super) calls_tpl: bool,
    /// An action contains the beginning of another one, in a string.
    pub(super) writes_templates: bool,
}

/// The state within a file.
#[derive(Debug, Default)]
struct Scope {
    /// The open blocks; `true` for those that change the dot.
    blocks: Vec<bool>,
    /// Variables that are the root.
    roots: HashSet<String>,
}

/// A token of an action.
#[derive(Debug, PartialEq, Eq)]
enum Token<'a> {
    /// A string or a character.
    String(&'a str),
    /// A keyword or function.
    Name(&'a str),
    /// `.`, `$` or `$name` with the fields that follow. The start of fields of parentheses is `)`.
    Chain { start: &'a str, fields: Vec<&'a str> },
    /// Anything else.
    Sign(char),
}

impl Actions {
    /// Adds a template.
    pub(super) fn read(&mut self, text: &[u8]) {
        let text = String::from_utf8_lossy(text);
        let mut scope = Scope::default();
        let mut rest = &*text;
        while let Some((_, action)) = rest.split_once("{{") {
            let comment = action.trim_start_matches('-').trim_start();
            if comment.starts_with("/*") {
                let (comment, after) = comment.split_once("*/").unwrap_or((comment, ""));
                let fields = comment
                    .split('.')
                    .skip(1)
                    .filter_map(|part| words(part).next().filter(|one| part.starts_with(one)));
                self.named.extend(fields.map(str::to_owned));
                rest = after;
                continue;
            }
            let (tokens, after) = tokens(action);
            self.add(&tokens, &mut scope);
            rest = after;
        }
    }

    fn add(&mut self, tokens: &[Token<'_>], scope: &mut Scope) {
        let calls = |names: &[&str]| {
            tokens.iter().any(|token| matches!(token, Token::Name(name) if names.contains(name)))
        };
        let prints = tokens.iter().any(|token| matches!(token, Token::Name(name) if name.starts_with("to") || name.starts_with("mustTo")));
        let passes_on = calls(&CALLS) || calls(&STRUCTURES) && !prints;
        self.calls_tpl |= calls(&["tpl"]);
        for (index, token) in tokens.iter().enumerate() {
            match token {
                Token::String(text) => {
                    self.writes_templates |= text.contains("{{");
                    let mut roots = text.match_indices(VALUES).map(|(at, _)| &text[at + VALUES.len()..]);
                    self.uses_all_values |= roots.any(|after| !after.starts_with('.'));
                    for word in words(text) {
                        self.named.insert(word.to_owned());
                        self.whole.insert(word.to_owned());
                    }
                }
                Token::Chain { start, fields } if fields.is_empty() => {
                    let is_root = match *start {
                        "." => !scope.blocks.contains(&true),
                        "$" => true,
                        name => scope.roots.contains(name),
                    };
                    if !is_root {
                        continue;
                    }
                    match assigned(tokens, index) {
                        Some(name) => drop(scope.roots.insert(name.to_owned())),
                        None => self.uses_all_values |= !passes_on && !is_assigned(tokens, index),
                    }
                }
                Token::Chain { fields, .. } => {
                    self.add_fields(fields, has_field_in_parentheses(tokens, index));
                }
                Token::Name(_) | Token::Sign(_) => {}
            }
        }
        match tokens.iter().find(|token| !matches!(token, Token::Sign(_))) {
            Some(Token::Name("with" | "range")) => scope.blocks.push(true),
            Some(Token::Name("if" | "define" | "block")) => scope.blocks.push(false),
            Some(Token::Name("end")) => drop(scope.blocks.pop()),
            _ => {}
        }
    }

    fn add_fields(&mut self, fields: &[&str], has_more: bool) {
        self.named.extend(fields.iter().map(|&field| field.to_owned()));
        let Some((last, _)) = fields.split_last() else { return };
        if !has_more {
            self.whole.insert((*last).to_owned());
            self.uses_all_values |= *last == VALUES;
        }
        self.uses_all_values |=
            fields.windows(2).any(|pair| pair[0] == VALUES && METHODS_OF_VALUES.contains(&pair[1]));
    }
}

/// Whether the token is a variable that gets a value.
fn is_assigned(tokens: &[Token<'_>], index: usize) -> bool {
    matches!(tokens.get(index + 1), Some(Token::Sign(':' | '=' | ',')))
}

/// Returns the variable of an action that assigns this last token: `$root := .`.
fn assigned<'a>(tokens: &[Token<'a>], index: usize) -> Option<&'a str> {
    let is_last = tokens[index + 1..].iter().all(|token| *token == Token::Sign('-'));
    match &tokens[..index] {
        [before @ .., Token::Sign('=')]
            if is_last && !before.iter().any(|token| matches!(token, Token::Name(_))) =>
        {
            before.iter().find_map(|token| match token {
                Token::Chain { start, fields } if fields.is_empty() && start.len() > 1 => Some(*start),
                _ => None,
            })
        }
        _ => None,
    }
}

/// Whether the token is alone in parentheses that a field follows: `(.Values.a).b`.
fn has_field_in_parentheses(tokens: &[Token<'_>], index: usize) -> bool {
    let (mut before, mut after) = (tokens[..index].iter().rev(), tokens[index + 1..].iter());
    before.next() == Some(&Token::Sign('('))
        && after.next() == Some(&Token::Sign(')'))
        && matches!(after.next(), Some(Token::Chain { start: ")", .. }))
}

/// Returns the tokens of an action and the text after it.
fn tokens(text: &str) -> (Vec<Token<'_>>, &str) {
    let (mut tokens, mut rest) = (Vec::new(), text);
    loop {
        if let Some(after) = rest.strip_prefix("}}") {
            return (tokens, after);
        }
        let Some(char) = rest.chars().next() else { return (tokens, "") };
        let after = &rest[char.len_utf8()..];
        rest = match char {
            '"' | '`' | '\'' => {
                let length = string_length(after, char);
                tokens.push(Token::String(&after[..length]));
                after.get(length + 1..).unwrap_or_default()
            }
            '.' | '$' => {
                let name = if char == '$' { identifier(after) } else { "" };
                let mut start = &rest[..char.len_utf8() + name.len()];
                let mut left = if char == '.' { rest } else { &after[name.len()..] };
                let mut fields = Vec::new();
                while let Some(field) =
                    left.strip_prefix('.').map(identifier).filter(|field| !field.is_empty())
                {
                    fields.push(field);
                    left = &left[1 + field.len()..];
                }
                if char == '.' && fields.is_empty() {
                    left = after;
                } else if char == '.' && text[..text.len() - rest.len()].ends_with(')') {
                    start = ")";
                }
                tokens.push(Token::Chain { start, fields });
                left
            }
            _ if char.is_ascii_digit() => after
                .trim_start_matches(|char: char| char.is_ascii_alphanumeric() || matches!(char, '.' | '_')),
            _ if char.is_whitespace() => after,
            _ => match identifier(rest) {
                "" => {
                    tokens.push(Token::Sign(char));
                    after
                }
                name => {
                    tokens.push(Token::Name(name));
                    &rest[name.len()..]
                }
            },
        };
    }
}

/// Returns the identifier at the beginning of a string.
fn identifier(text: &str) -> &str {
    let end = text.find(|char: char| !char.is_alphanumeric() && char != '_').unwrap_or(text.len());
    &text[..end]
}

/// Returns the length of a string without its delimiters; `text` follows the first one.
fn string_length(text: &str, delimiter: char) -> usize {
    let mut is_escaped = false;
    for (at, char) in text.char_indices() {
        match char {
            _ if is_escaped => is_escaped = false,
            '\\' if delimiter != '`' => is_escaped = true,
            _ if char == delimiter => return at,
            _ => {}
        }
    }
    text.len()
}
