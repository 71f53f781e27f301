//! The parser, after `util/jsonpath/parser.go` of client-go. A part of a path in brackets is parsed as a path of its own.

use serde_json::{Number, Value};

use super::{Filter, Operand, Operator, PATH_NESTING_MAX, Select, Step};

/// Parses a path. In contrast to kubectl, errors that a look-up would always have are found here.
pub(super) fn relaxed(path: &str) -> Result<Vec<Step>, String> {
    let inner = path.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')).unwrap_or(path);
    if inner.is_empty() || inner.contains(['{', '}']) {
        return Err("expected `.name1.name2`, with or without the dot and `{}` around it".to_owned());
    }
    // A dot alone is a name, too: kubectl completes it to `..`.
    let is_complete = inner.starts_with('.') && inner.len() > 1;
    let text = if is_complete { inner.to_owned() } else { format!(".{inner}") };
    path_of(operand(&text, 0)?)
}

/// Parses a path or a literal.
fn operand(text: &str, level: usize) -> Result<Operand, String> {
    if level > PATH_NESTING_MAX {
        return Err(format!("filters and brackets are nested deeper than {PATH_NESTING_MAX} levels"));
    }
    let mut parser = Parser { rest: text, level, steps: Vec::new(), literals: Vec::new() };
    parser.run()?;
    match (parser.literals.pop(), parser.steps) {
        (None, steps) => Ok(Operand::Path(steps)),
        (Some(literal), steps) if steps.is_empty() && parser.literals.is_empty() => {
            Ok(Operand::Literal(literal))
        }
        _ => Err("a literal must be alone on its side of a comparison".to_owned()),
    }
}

fn path_of(operand: Operand) -> Result<Vec<Step>, String> {
    match operand {
        Operand::Path(steps) => Ok(steps),
        Operand::Literal(_) => Err("expected a field, found a literal".to_owned()),
    }
}

struct Parser<'a> {
    rest: &'a str,
    level: usize,
    steps: Vec<Step>,
    literals: Vec<Value>,
}

impl<'a> Parser<'a> {
    fn run(&mut self) -> Result<(), String> {
        while let Some(next) = self.rest.chars().next() {
            if self.rest.starts_with("[?(") {
                self.filter()?;
            } else if self.rest.starts_with("..") {
                self.recursive()?;
            } else {
                match next {
                    // `@` and `$` are the current value, wherever they are.
                    ' ' | '@' | '$' => {
                        self.take(1);
                    }
                    '.' => self.field(1)?,
                    '[' => self.brackets()?,
                    '"' | '\'' => self.string(next)?,
                    '+' | '-' => self.number()?,
                    _ if next.is_numeric() => self.number()?,
                    _ if is_word(next) => self.word()?,
                    _ => return Err(format!("unexpected {next:?}")),
                }
            }
        }
        Ok(())
    }

    /// Consumes and returns a number of bytes.
    fn take(&mut self, bytes: usize) -> &'a str {
        let (taken, rest) = self.rest.split_at(bytes);
        self.rest = rest;
        taken
    }

    fn push(&mut self, select: Select, written: &str) {
        self.steps.push(Step { select, written: written.to_owned() });
    }

    fn recursive(&mut self) -> Result<(), String> {
        if self.steps.last().is_some_and(|step| step.select == Select::Recursive) {
            return Err("`..` must not follow `..`".to_owned());
        }
        let written = self.take(2);
        self.push(Select::Recursive, written);
        if self.rest.starts_with(is_word) { self.field(0) } else { Ok(()) }
    }

    /// A name, up to a character that ends it and has no backslash. All backslashes are removed.
    fn field(&mut self, prefix: usize) -> Result<(), String> {
        let mut end = prefix;
        let mut characters = self.rest[prefix..].chars();
        while let Some(next) = characters.next().filter(|next| !ends_name(*next)) {
            end += next.len_utf8();
            if next == '\\' {
                let escaped = characters.next().ok_or("`\\` must precede a character")?;
                end += escaped.len_utf8();
            }
        }
        let written = self.take(end);
        let select = match &written[prefix..] {
            "*" => Select::Wildcard,
            name => Select::Field(name.replace('\\', "")),
        };
        self.push(select, written);
        Ok(())
    }

    /// `['name']`, `[1]`, `[1:2]`, or several of them separated by commas.
    fn brackets(&mut self) -> Result<(), String> {
        let end = self.rest.find([']', '\n']).filter(|end| self.rest[*end..].starts_with(']'));
        let written = self.take(end.ok_or("expected `]`")? + 1);
        let text = &written[1..written.len() - 1];
        if text.contains(',') {
            let paths = text
                .split(',')
                .map(|part| path_of(operand(&format!("[{}]", part.trim_matches(' ')), self.level + 1)?));
            let union = Select::Union(paths.collect::<Result<_, _>>()?);
            self.push(union, written);
            return Ok(());
        }
        let key = text.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\''));
        if let Some(key) = key.filter(|key| !key.contains('\'')) {
            self.steps.extend(path_of(operand(&format!(".{key}"), self.level + 1)?)?);
            return Ok(());
        }
        self.push(range(text)?, written);
        Ok(())
    }

    /// `[?(left operator right)]` or `[?(path)]`.
    fn filter(&mut self) -> Result<(), String> {
        const OPEN: usize = "[?(".len();
        let end = filter_end(&self.rest[OPEN..]).ok_or("expected `)]` at the end of the filter")?;
        let written = self.take(OPEN + end + 2);
        let text = &written[OPEN..OPEN + end];
        let filter = match comparison(text) {
            None => Filter::Exists(path_of(operand(text, self.level + 1)?)?),
            Some((left, operator, right)) => Filter::Compare(
                operand(left, self.level + 1)?,
                self::operator(operator)?,
                operand(right, self.level + 1)?,
            ),
        };
        self.push(Select::Filter(filter), written);
        Ok(())
    }

    fn string(&mut self, quote: char) -> Result<(), String> {
        let mut end = None;
        for (at, next) in self.rest.char_indices().skip(1) {
            if next == '\n' {
                break;
            }
            // A backslash before the quote escapes it even if it is itself escaped.
            if next == quote && !self.rest[..at].ends_with('\\') {
                end = Some(at);
                break;
            }
        }
        let written = self.take(end.ok_or_else(|| format!("expected {quote} at the end of a string"))? + 1);
        self.literals.push(Value::String(unquoted(&written[1..written.len() - 1], quote)?));
        Ok(())
    }

    fn number(&mut self) -> Result<(), String> {
        let sign = usize::from(self.rest.starts_with(['+', '-']));
        let digits = &self.rest[sign..];
        let end = digits.find(|next: char| next != '.' && !next.is_numeric()).unwrap_or(digits.len());
        let written = self.take(sign + end);
        let integer = written.parse::<i64>().ok().map(Number::from);
        let number = integer.or_else(|| Number::from_f64(written.parse().ok()?));
        self.literals.push(Value::Number(number.ok_or_else(|| format!("invalid number `{written}`"))?));
        Ok(())
    }

    fn word(&mut self) -> Result<(), String> {
        let end = self.rest.find(ends_name).unwrap_or(self.rest.len());
        match self.take(end) {
            "true" => self.literals.push(Value::Bool(true)),
            "false" => self.literals.push(Value::Bool(false)),
            word => return Err(format!("unexpected `{word}`; fields begin with `.`, strings are quoted")),
        }
        Ok(())
    }
}

fn is_word(character: char) -> bool {
    character == '_' || character.is_alphanumeric()
}

fn ends_name(character: char) -> bool {
    matches!(character, ' ' | '\t' | '\r' | '\n' | '.' | ',' | '[' | ']' | '$' | '@')
}

/// Parses `*`, an index, or `start:end:step`. Empty brackets are index 0, as in kubectl.
fn range(text: &str) -> Result<Select, String> {
    let invalid =
        || format!("[{text}] is invalid; expected an index, a range like [0:2], [*], or a key like ['name']");
    let number = |part: &str| match part {
        "" => Ok(None),
        _ if part.starts_with('+') => Err(invalid()),
        _ => part.parse::<i64>().map(Some).map_err(|_| invalid()),
    };
    let text_of_range = if text == "*" { ":" } else { text };
    let parts = text_of_range.split(':').map(number).collect::<Result<Vec<_>, _>>()?;
    let (start, end, step) = match parts[..] {
        [index] => return Ok(Select::Index(index.unwrap_or_default())),
        [start, end] => (start, end, 1),
        [start, end, step] => (start, end, step.unwrap_or(1)),
        _ => return Err(invalid()),
    };
    match usize::try_from(step) {
        Ok(step) if step > 0 => Ok(Select::Range { start, end, step }),
        _ => Err(format!("[{text}]: the step must be at least 1")),
    }
}

/// Returns the end of a filter's condition: the first `)` outside of the first quoted string. `]` must follow.
fn filter_end(text: &str) -> Option<usize> {
    let (mut quote, mut is_closed) = (None, false);
    for (at, next) in text.char_indices() {
        match next {
            '\n' => return None,
            '"' | '\'' if quote.is_none() => quote = Some(next),
            '"' | '\'' => is_closed |= quote == Some(next) && !text[..at].ends_with('\\'),
            ')' if quote.is_some() == is_closed => return text[at + 1..].starts_with(']').then_some(at),
            _ => {}
        }
    }
    None
}

/// Splits a condition at its first operator. None if there is no operator between two operands.
fn comparison(text: &str) -> Option<(&str, &str, &str)> {
    let is_sign = |next: char| matches!(next, '!' | '<' | '>' | '=');
    let start = text.find(is_sign).filter(|start| *start > 0)?;
    let (left, rest) = text.split_at(start);
    // The right side has at least one character.
    let end = rest.find(|next| !is_sign(next)).unwrap_or(rest.len() - 1);
    let (operator, right) = rest.split_at(end);
    (!operator.is_empty()).then_some((left, operator, right))
}

fn operator(text: &str) -> Result<Operator, String> {
    Ok(match text {
        "==" => Operator::Equal,
        "!=" => Operator::NotEqual,
        "<" => Operator::Less,
        "<=" => Operator::LessOrEqual,
        ">" => Operator::Greater,
        ">=" => Operator::GreaterOrEqual,
        _ => return Err(format!("unknown operator `{text}`; expected ==, !=, <, <=, > or >=")),
    })
}

/// Replaces Go's escapes, except those with a number.
fn unquoted(text: &str, quote: char) -> Result<String, String> {
    let mut unquoted = String::new();
    let mut characters = text.chars();
    while let Some(next) = characters.next() {
        unquoted.push(match next {
            '\\' => match characters.next() {
                Some('a') => '\u{7}',
                Some('b') => '\u{8}',
                Some('f') => '\u{c}',
                Some('n') => '\n',
                Some('r') => '\r',
                Some('t') => '\t',
                Some('v') => '\u{b}',
                Some(escaped) if escaped == '\\' || escaped == quote => escaped,
                _ => return Err("unsupported escape in a string; write the character itself".to_owned()),
            },
            _ => next,
        });
    }
    Ok(unquoted)
}
