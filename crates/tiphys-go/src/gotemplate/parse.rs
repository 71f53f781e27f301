//! The parser of templates: the rules of `text/template/parse`.

mod number;

use std::collections::HashMap;

use crate::gotemplate::lex::{Keyword, Kind, Lexer, Token};
use crate::gotemplate::limits::{LimitError, Limits};
use crate::gotemplate::tree::{Body, Branch, Command, Node, Operand, OperandKind, Pipeline, Position};
use crate::gotemplate::unicode::unquote;
use crate::strconv::quote;

/// A template is invalid. The message is Go's: `template: NAME:LINE: …`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("template: {name}:{line}: {message}")]
pub struct ParseError {
    /// The name of the template.
    pub name: String,
    /// The line, from 1.
    pub line: usize,
    /// The problem.
    pub message: String,
    /// The limit that the template exceeds, if that is the reason.
    pub limit: Option<LimitError>,
}

/// The templates of a source: those of `define` and `block`, and the whole.
pub(crate) struct Parsed {
    pub(crate) templates: HashMap<Vec<u8>, Body>,
    pub(crate) functions: Vec<String>,
}

/// Parses a source. `is_function` returns whether a function of this name exists.
pub(crate) fn parse(
    name: &str,
    source: &[u8],
    is_function: &dyn Fn(&str) -> bool,
    limits: Limits,
) -> Result<Parsed, ParseError> {
    let mut parser = Parser {
        name,
        is_function,
        limits,
        lexer: Lexer::new(source),
        pending: Vec::new(),
        line: 1,
        scope: Scope::default(),
        templates: HashMap::new(),
        functions: Vec::new(),
        level: 0,
    };
    let root = parser.root()?;
    parser.add(name.as_bytes().to_vec(), root)?;
    Ok(Parsed { templates: parser.templates, functions: parser.functions })
}

/// State that `define` and `block` reset.
#[derive(Debug)]
struct Scope {
    variables: Vec<String>,
    ranges: usize,
    /// The line where the action begins; 0 outside of actions.
    action_line: usize,
}

impl Default for Scope {
    fn default() -> Self {
        Self { variables: vec!["$".to_owned()], ranges: 0, action_line: 0 }
    }
}

struct Parser<'a> {
    name: &'a str,
    is_function: &'a dyn Fn(&str) -> bool,
    limits: Limits,
    lexer: Lexer<'a>,
    /// Tokens that were read ahead, the next one last.
    pending: Vec<Token>,
    /// The line of the token that was scanned last.
    line: usize,
    scope: Scope,
    templates: HashMap<Vec<u8>, Body>,
    functions: Vec<String>,
    level: usize,
}

/// A parsed action or piece of text.
enum Item {
    Node(Node),
    End,
    Else { position: Position },
}

impl Item {
    fn shown(&self) -> &'static str {
        match self {
            Self::End => "{{end}}",
            _ => "{{else}}",
        }
    }
}

impl Parser<'_> {
    fn next(&mut self) -> Token {
        self.pending.pop().unwrap_or_else(|| {
            let token = self.lexer.next_token();
            self.line = token.line;
            token
        })
    }

    fn back(&mut self, token: Token) {
        self.pending.push(token);
    }

    fn peek(&mut self) -> Kind {
        let token = self.next();
        let kind = token.kind;
        self.back(token);
        kind
    }

    fn next_non_space(&mut self) -> Token {
        loop {
            let token = self.next();
            if token.kind != Kind::Space {
                return token;
            }
        }
    }

    /// Skips blanks and returns the kind and the position of the next token.
    fn peek_non_space(&mut self) -> (Kind, Position) {
        let token = self.next_non_space();
        let found = (token.kind, token.position);
        self.back(token);
        found
    }

    fn error<T>(&self, message: impl Into<String>) -> Result<T, ParseError> {
        Err(ParseError { name: self.name.to_owned(), line: self.line, message: message.into(), limit: None })
    }

    fn enter(&mut self) -> Result<(), ParseError> {
        self.level += 1;
        if self.level > self.limits.depth {
            let limit = LimitError::Depth(self.limits.depth);
            let message = format!("the template {limit}");
            return Err(ParseError {
                limit: Some(limit),
                ..self.error::<()>(message).expect_err("an error")
            });
        }
        Ok(())
    }

    fn unexpected<T>(&self, token: &Token, context: &str) -> Result<T, ParseError> {
        if token.kind != Kind::Error {
            return self.error(format!("unexpected {} in {context}", token.shown()));
        }
        let line = self.scope.action_line;
        let message = token.text();
        if line == 0 || line == token.line {
            return self.error(message);
        }
        let action = if message.ends_with(" action") { "" } else { " in action" };
        self.error(format!("{message}{action} started at {}:{line}", self.name))
    }

    fn expect(&mut self, kind: Kind, context: &str) -> Result<Token, ParseError> {
        let token = self.next_non_space();
        if token.kind == kind { Ok(token) } else { self.unexpected(&token, context) }
    }

    /// Adds a template. One that prints only white space does not replace another.
    fn add(&mut self, name: Vec<u8>, body: Body) -> Result<(), ParseError> {
        let is_defined = self.templates.get(&name).is_some_and(|known| !known.is_empty());
        if !is_defined {
            self.templates.insert(name, body);
        } else if !body.is_empty() {
            let name = quote(&name);
            return self.error(format!("template: multiple definition of template {name}"));
        }
        Ok(())
    }

    fn root(&mut self) -> Result<Body, ParseError> {
        let first = self.next();
        let mut body = Body { position: first.position, nodes: Vec::new() };
        self.back(first);
        while self.peek() != Kind::Eof {
            if self.peek() == Kind::LeftDelimiter {
                let delimiter = self.next();
                let token = self.next_non_space();
                if token.kind == Kind::Keyword(Keyword::Define) {
                    self.definition()?;
                    continue;
                }
                self.back(token);
                self.back(delimiter);
            }
            match self.text_or_action()? {
                Item::Node(node) => body.nodes.push(node),
                end => return self.error(format!("unexpected {}", end.shown())),
            }
        }
        Ok(body)
    }

    fn definition(&mut self) -> Result<(), ParseError> {
        const CONTEXT: &str = "define clause";
        let scope = std::mem::take(&mut self.scope);
        let token = self.next_non_space();
        let name = self.template_name(&token, CONTEXT)?;
        self.expect(Kind::RightDelimiter, CONTEXT)?;
        self.named_body(name, CONTEXT)?;
        self.scope = scope;
        Ok(())
    }

    fn named_body(&mut self, name: Vec<u8>, context: &str) -> Result<(), ParseError> {
        let (body, end) = self.items()?;
        if !matches!(end, Item::End) {
            return self.error(format!("unexpected {} in {context}", end.shown()));
        }
        self.add(name, body)
    }

    /// Parses up to `end` or `else`.
    fn items(&mut self) -> Result<(Body, Item), ParseError> {
        self.enter()?;
        let (_, position) = self.peek_non_space();
        let mut body = Body { position, nodes: Vec::new() };
        while self.peek_non_space().0 != Kind::Eof {
            match self.text_or_action()? {
                Item::Node(node) => body.nodes.push(node),
                end => {
                    self.level -= 1;
                    return Ok((body, end));
                }
            }
        }
        self.error("unexpected EOF")
    }

    fn text_or_action(&mut self) -> Result<Item, ParseError> {
        let token = self.next_non_space();
        match token.kind {
            Kind::Text => Ok(Item::Node(Node::Text { text: token.value })),
            Kind::LeftDelimiter => {
                self.scope.action_line = token.line;
                let item = self.action();
                self.scope.action_line = 0;
                item
            }
            _ => self.unexpected(&token, "input"),
        }
    }

    fn action(&mut self) -> Result<Item, ParseError> {
        let token = self.next_non_space();
        let node = match token.kind {
            Kind::Keyword(Keyword::Block) => self.block()?,
            Kind::Keyword(Keyword::Break) => self.leave("break", Node::Break)?,
            Kind::Keyword(Keyword::Continue) => self.leave("continue", Node::Continue)?,
            Kind::Keyword(Keyword::Else) => return self.otherwise(),
            Kind::Keyword(Keyword::End) => {
                self.expect(Kind::RightDelimiter, "end")?;
                return Ok(Item::End);
            }
            Kind::Keyword(Keyword::If) => Node::If(self.control("if")?),
            Kind::Keyword(Keyword::Range) => Node::Range(self.control("range")?),
            Kind::Keyword(Keyword::Template) => self.template()?,
            Kind::Keyword(Keyword::With) => Node::With(self.control("with")?),
            _ => {
                let position = token.position;
                self.back(token);
                Node::Action { position, pipeline: self.pipeline("command", Kind::RightDelimiter)? }
            }
        };
        Ok(Item::Node(node))
    }

    fn leave(&mut self, keyword: &str, node: Node) -> Result<Node, ParseError> {
        let token = self.next_non_space();
        if token.kind != Kind::RightDelimiter {
            return self.unexpected(&token, &format!("{{{{{keyword}}}}}"));
        }
        if self.scope.ranges == 0 {
            return self.error(format!("{{{{{keyword}}}}} outside {{{{range}}}}"));
        }
        Ok(node)
    }

    fn otherwise(&mut self) -> Result<Item, ParseError> {
        let (kind, position) = self.peek_non_space();
        if matches!(kind, Kind::Keyword(Keyword::If | Keyword::With)) {
            return Ok(Item::Else { position });
        }
        let token = self.expect(Kind::RightDelimiter, "else")?;
        Ok(Item::Else { position: token.position })
    }

    fn control(&mut self, context: &str) -> Result<Branch, ParseError> {
        self.enter()?;
        let variables = self.scope.variables.len();
        let pipeline = self.pipeline(context, Kind::RightDelimiter)?;
        let is_range = context == "range";
        self.scope.ranges += usize::from(is_range);
        let (body, end) = self.items()?;
        self.scope.ranges -= usize::from(is_range);
        let otherwise = match end {
            Item::Else { position } => Some(self.else_body(context, position)?),
            _ => None,
        };
        self.scope.variables.truncate(variables);
        self.level -= 1;
        Ok(Branch { position: pipeline.position, pipeline, body, otherwise })
    }

    /// Parses what follows `else`. `else if` is an `if` that needs no `end` of its own.
    fn else_body(&mut self, context: &str, position: Position) -> Result<Body, ParseError> {
        let nested: Option<fn(Branch) -> Node> = match (context, self.peek()) {
            ("if", Kind::Keyword(Keyword::If)) => Some(Node::If),
            ("with", Kind::Keyword(Keyword::With)) => Some(Node::With),
            _ => None,
        };
        if let Some(node) = nested {
            self.next();
            return Ok(Body { position, nodes: vec![node(self.control(context)?)] });
        }
        match self.items()? {
            (body, Item::End) => Ok(body),
            (_, other) => self.error(format!("expected end; found {}", other.shown())),
        }
    }

    fn block(&mut self) -> Result<Node, ParseError> {
        const CONTEXT: &str = "block clause";
        let token = self.next_non_space();
        let name = self.template_name(&token, CONTEXT)?;
        let pipeline = self.pipeline(CONTEXT, Kind::RightDelimiter)?;
        let scope = std::mem::take(&mut self.scope);
        self.named_body(name.clone(), CONTEXT)?;
        self.scope = scope;
        Ok(Node::Template { position: token.position, name, pipeline: Some(pipeline) })
    }

    fn template(&mut self) -> Result<Node, ParseError> {
        const CONTEXT: &str = "template clause";
        let token = self.next_non_space();
        let name = self.template_name(&token, CONTEXT)?;
        let next = self.next_non_space();
        let pipeline = if next.kind == Kind::RightDelimiter {
            None
        } else {
            self.back(next);
            Some(self.pipeline(CONTEXT, Kind::RightDelimiter)?)
        };
        Ok(Node::Template { position: token.position, name, pipeline })
    }

    fn template_name(&self, token: &Token, context: &str) -> Result<Vec<u8>, ParseError> {
        if !matches!(token.kind, Kind::String | Kind::RawString) {
            return self.unexpected(token, context);
        }
        unquote(&token.value).map_or_else(|| self.error("invalid syntax"), Ok)
    }

    fn pipeline(&mut self, context: &str, end: Kind) -> Result<Pipeline, ParseError> {
        let (_, position) = self.peek_non_space();
        let mut pipeline =
            Pipeline { position, is_assignment: false, variables: Vec::new(), commands: Vec::new() };
        while self.declaration(context, &mut pipeline)? {}
        loop {
            let token = self.next_non_space();
            match token.kind {
                kind if kind == end => {
                    self.check(&pipeline, context)?;
                    return Ok(pipeline);
                }
                Kind::Bool
                | Kind::CharConstant
                | Kind::Keyword(Keyword::Dot | Keyword::Nil)
                | Kind::Field
                | Kind::Identifier
                | Kind::Number
                | Kind::RawString
                | Kind::String
                | Kind::Variable
                | Kind::LeftParenthesis => {
                    self.back(token);
                    let command = self.command()?;
                    pipeline.commands.push(command);
                }
                _ => return self.unexpected(&token, context),
            }
        }
    }

    /// Parses a variable with `=`, `:=` or a comma after it. Returns whether another variable must follow.
    fn declaration(&mut self, context: &str, pipeline: &mut Pipeline) -> Result<bool, ParseError> {
        if self.peek_non_space().0 != Kind::Variable {
            return Ok(false);
        }
        let variable = self.next();
        let adjacent = self.next();
        let next = if adjacent.kind == Kind::Space { self.next_non_space() } else { adjacent.clone() };
        let is_comma = next.kind == Kind::Char && next.value == b",";
        if !is_comma && !matches!(next.kind, Kind::Assign | Kind::Declare) {
            self.back(next);
            if adjacent.kind == Kind::Space {
                self.back(adjacent);
            }
            self.back(variable);
            return Ok(false);
        }
        let name = variable.text();
        pipeline.variables.push(name.clone());
        self.scope.variables.push(name);
        if !is_comma {
            pipeline.is_assignment = next.kind == Kind::Assign;
            return Ok(false);
        }
        if context != "range" || pipeline.variables.len() >= 2 {
            return self.error(format!("too many declarations in {context}"));
        }
        match self.peek_non_space().0 {
            Kind::Variable | Kind::RightDelimiter | Kind::RightParenthesis => Ok(true),
            _ => self.error("range can only initialize variables"),
        }
    }

    fn check(&self, pipeline: &Pipeline, context: &str) -> Result<(), ParseError> {
        if pipeline.commands.is_empty() {
            return self.error(format!("missing value for {context}"));
        }
        let literal = pipeline.commands.iter().skip(1).position(|command| command.operands[0].is_literal());
        match literal {
            Some(index) => self.error(format!("non executable command in pipeline stage {}", index + 2)),
            None => Ok(()),
        }
    }

    fn command(&mut self) -> Result<Command, ParseError> {
        let (_, position) = self.peek_non_space();
        let mut command = Command { position, operands: Vec::new() };
        loop {
            self.peek_non_space();
            if let Some(operand) = self.operand()? {
                command.operands.push(operand);
            }
            let token = self.next();
            match token.kind {
                Kind::Space => continue,
                Kind::RightDelimiter | Kind::RightParenthesis => self.back(token),
                Kind::Pipe => {}
                _ => return self.unexpected(&token, "operand"),
            }
            break;
        }
        if command.operands.is_empty() {
            return self.error("empty command");
        }
        Ok(command)
    }

    fn operand(&mut self) -> Result<Option<Operand>, ParseError> {
        let Some(mut operand) = self.term()? else { return Ok(None) };
        let first = self.next();
        let position = first.position;
        let is_chain = first.kind == Kind::Field;
        self.back(first);
        if !is_chain {
            return Ok(Some(operand));
        }
        let mut fields = Vec::new();
        while self.peek() == Kind::Field {
            fields.push(self.next().text().split_off(1));
        }
        if operand.is_literal() {
            let term = quote(operand.to_string().as_bytes());
            return self.error(format!("unexpected . after term {term}"));
        }
        match &mut operand.kind {
            OperandKind::Field(own) | OperandKind::Variable(_, own) => {
                own.append(&mut fields);
                operand.position = position;
                Ok(Some(operand))
            }
            _ => Ok(Some(Operand { position, kind: OperandKind::Chain(Box::new(operand), fields) })),
        }
    }

    fn term(&mut self) -> Result<Option<Operand>, ParseError> {
        let token = self.next_non_space();
        let position = token.position;
        let kind = match token.kind {
            Kind::Identifier => {
                let name = token.text();
                if !(self.is_function)(&name) {
                    let name = quote(&token.value);
                    return self.error(format!("function {name} not defined"));
                }
                self.functions.push(name.clone());
                OperandKind::Identifier(name)
            }
            Kind::Keyword(Keyword::Dot) => OperandKind::Dot,
            Kind::Keyword(Keyword::Nil) => OperandKind::Nil,
            Kind::Variable => {
                let name = token.text();
                if !self.scope.variables.contains(&name) {
                    let name = quote(&token.value);
                    return self.error(format!("undefined variable {name}"));
                }
                OperandKind::Variable(name, Vec::new())
            }
            Kind::Field => OperandKind::Field(vec![token.text().split_off(1)]),
            Kind::Bool => OperandKind::Bool(token.value == b"true"),
            Kind::CharConstant | Kind::Number => match number::parse(&token) {
                Ok(number) => OperandKind::Number(number),
                Err(message) => return self.error(message),
            },
            Kind::LeftParenthesis => {
                self.enter()?;
                let pipeline = self.pipeline("parenthesized pipeline", Kind::RightParenthesis)?;
                self.level -= 1;
                OperandKind::Pipeline(Box::new(pipeline))
            }
            Kind::String | Kind::RawString => match unquote(&token.value) {
                Some(content) => OperandKind::String(token.value, content),
                None => return self.error("invalid syntax"),
            },
            _ => {
                self.back(token);
                return Ok(None);
            }
        };
        let position = match &kind {
            OperandKind::Pipeline(pipeline) => pipeline.position,
            _ => position,
        };
        Ok(Some(Operand { position, kind }))
    }
}

#[cfg(test)]
mod tests;
