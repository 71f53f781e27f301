//! Events of YAML 1.1: the structure of the token stream.
//!
//! The state determines what may come next. A stack of states determines what follows the current collection, so that nesting does not take
//! call stack.

use super::cursor::Mark;
use super::scan::{ScalarStyle, Scanner, Token, TokenKind};
use crate::{Error, Position};

const CORE_TAG_PREFIX: &str = "tag:yaml.org,2002:";

/// A parsing event of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Event {
    StreamEnd,
    DocumentStart,
    DocumentEnd,
    Alias {
        anchor: String,
    },
    /// `tag` is resolved. `plain` is whether the scalar may be anything but a string.
    Scalar {
        anchor: Option<String>,
        tag: Option<String>,
        text: String,
        plain: bool,
    },
    /// Tags of collections are ignored, as in Kubernetes.
    SequenceStart {
        anchor: Option<String>,
    },
    MappingStart {
        anchor: Option<String>,
    },
    SequenceEnd,
    MappingEnd,
}

/// The byte range of an event, for edits.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Extent {
    /// Start of its item or entry: at `-`, at `?`, at the key, or at the value.
    pub(super) lead: Option<usize>,
    /// End of the `:` before it.
    pub(super) colon: Option<usize>,
    /// Offset of the `,` before it.
    pub(super) comma: Option<usize>,
    /// Start, including anchor and tag.
    pub(super) start: usize,
    /// Range of its tag.
    pub(super) tag: Option<(usize, usize)>,
    /// End of anchor and tag, if present.
    pub(super) properties_end: Option<usize>,
    /// Start without anchor and tag.
    pub(super) content: Mark,
    /// End. For a collection, the end of its bracket, if known.
    pub(super) end: usize,
    pub(super) form: Form,
}

/// The notation of an event.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Form {
    /// Implicit.
    #[default]
    Nothing,
    Scalar(ScalarStyle),
    Alias,
    /// A block collection.
    Block,
    /// A flow collection.
    Flow,
    /// A single pair in a flow list, which is an object without braces.
    Pair,
}

/// The expected next element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    FirstDocument,
    NextDocument,
    DocumentContent,
    DocumentEnd,
    BlockNode,
    BlockSequenceEntry,
    IndentlessSequenceEntry,
    BlockMappingKey,
    BlockMappingValue,
    FlowSequenceFirstEntry,
    FlowSequenceEntry,
    FlowSequencePairKey,
    FlowSequencePairValue,
    FlowSequencePairEnd,
    FlowMappingFirstKey,
    FlowMappingKey,
    FlowMappingValue,
    FlowMappingNoValue,
    End,
}

/// The nodes that are allowed in a context.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Allowed {
    Block,
    /// Like [`Allowed::Block`], or a list whose dashes are in the column of the key.
    BlockOrIndentless,
    Flow,
}

/// Converts tokens to events.
pub(super) struct Parser<'a> {
    scanner: Scanner<'a>,
    state: State,
    after: Vec<State>,
    /// Starts of the unfinished collections, for messages.
    starts: Vec<Mark>,
    /// Declared tag handles with their prefixes.
    handles: Vec<(String, String)>,
    extent: Extent,
}

type Outcome = Result<(Event, Mark), Error>;

impl<'a> Parser<'a> {
    pub(super) fn new(scanner: Scanner<'a>) -> Self {
        Self {
            scanner,
            state: State::FirstDocument,
            after: Vec::new(),
            starts: Vec::new(),
            handles: Vec::new(),
            extent: Extent::default(),
        }
    }

    /// Returns the byte range of the last event.
    pub(super) fn extent(&self) -> &Extent {
        &self.extent
    }

    /// Returns the next event with its position. Must not be called after an error.
    pub(super) fn next_event(&mut self) -> Result<(Event, Position), Error> {
        self.extent = Extent::default();
        let outcome = match self.state {
            State::FirstDocument => self.document_start(State::FirstDocument),
            State::NextDocument => self.document_start(State::NextDocument),
            State::DocumentContent => self.document_content(),
            State::DocumentEnd => self.document_end(),
            State::BlockNode => self.node(Allowed::Block),
            State::BlockSequenceEntry => self.block_sequence_entry(),
            State::IndentlessSequenceEntry => self.indentless_sequence_entry(),
            State::BlockMappingKey => self.block_mapping_key(),
            State::BlockMappingValue => self.block_mapping_value(),
            State::FlowSequenceFirstEntry => self.flow_sequence_entry(State::FlowSequenceFirstEntry),
            State::FlowSequenceEntry => self.flow_sequence_entry(State::FlowSequenceEntry),
            State::FlowSequencePairKey => self.flow_sequence_pair_key(),
            State::FlowSequencePairValue => self.flow_sequence_pair_value(),
            State::FlowSequencePairEnd => self.flow_sequence_pair_end(),
            State::FlowMappingFirstKey => self.flow_mapping_key(State::FlowMappingFirstKey),
            State::FlowMappingKey => self.flow_mapping_key(State::FlowMappingKey),
            State::FlowMappingValue => self.flow_mapping_value(),
            State::FlowMappingNoValue => {
                let mark = self.peek()?.start;
                Ok(self.nothing(mark, State::FlowMappingKey))
            }
            State::End => Ok((Event::StreamEnd, self.peek()?.start)),
        };
        let (event, mark) = outcome?;
        self.extent.start = mark.offset;
        if self.extent.form == Form::Nothing {
            self.extent.content = mark;
            self.extent.end = self.extent.properties_end.unwrap_or(mark.offset);
        }
        Ok((event, self.scanner.position_of(mark)))
    }

    fn document_start(&mut self, state: State) -> Outcome {
        if state == State::NextDocument {
            while self.peek()?.kind == TokenKind::DocumentEnd {
                self.scanner.take();
            }
        }
        let token = self.peek()?;
        let start = token.start;
        let is_explicit = matches!(
            token.kind,
            TokenKind::VersionDirective { .. } | TokenKind::TagDirective { .. } | TokenKind::DocumentStart
        );
        if token.kind == TokenKind::StreamEnd {
            self.state = State::End;
            return Ok((Event::StreamEnd, start));
        }
        self.handles.clear();
        if is_explicit || state == State::NextDocument {
            self.directives()?;
            let token = self.peek()?;
            if token.kind != TokenKind::DocumentStart {
                let start = token.start;
                return Err(self.error(start, "expected `---` before another document"));
            }
            self.scanner.take();
            self.state = State::DocumentContent;
        } else {
            self.state = State::BlockNode;
        }
        self.after.push(State::DocumentEnd);
        Ok((Event::DocumentStart, start))
    }

    fn directives(&mut self) -> Result<(), Error> {
        let mut has_version = false;
        loop {
            let token = self.peek()?;
            let start = token.start;
            match &token.kind {
                TokenKind::VersionDirective { major } => {
                    if *major != 1 {
                        let message = format!("YAML of version {major} is not known");
                        return Err(self.error(start, message));
                    }
                    if has_version {
                        return Err(self.error(start, "`%YAML` occurs twice"));
                    }
                    has_version = true;
                }
                TokenKind::TagDirective { handle, prefix } => {
                    let (handle, prefix) = (handle.clone(), prefix.clone());
                    if self.handles.iter().any(|(known, _)| *known == handle) {
                        return Err(self.error(start, format!("`%TAG {handle}` occurs twice")));
                    }
                    self.handles.push((handle, prefix));
                }
                _ => return Ok(()),
            }
            self.scanner.take();
        }
    }

    fn document_content(&mut self) -> Outcome {
        let token = self.peek()?;
        match token.kind {
            TokenKind::VersionDirective { .. }
            | TokenKind::TagDirective { .. }
            | TokenKind::DocumentStart
            | TokenKind::DocumentEnd
            | TokenKind::StreamEnd => {
                let start = token.start;
                self.leave();
                Ok(empty(start))
            }
            _ => self.node(Allowed::Block),
        }
    }

    fn document_end(&mut self) -> Outcome {
        let token = self.peek()?;
        let start = token.start;
        if token.kind == TokenKind::DocumentEnd {
            self.scanner.take();
        }
        self.state = State::NextDocument;
        Ok((Event::DocumentEnd, start))
    }

    /// Reads an alias, or the properties and the beginning of a node.
    fn node(&mut self, allowed: Allowed) -> Outcome {
        let token = self.peek()?;
        let start = token.start;
        if let TokenKind::Alias(anchor) = &token.kind {
            let (anchor, end) = (anchor.clone(), token.end);
            self.form(Form::Alias, start, end);
            self.scanner.take();
            self.leave();
            return Ok((Event::Alias { anchor }, start));
        }
        let (anchor, tag) = self.properties()?;
        let token = self.peek()?;
        let (content, end) = (token.start, token.end);
        match &token.kind {
            TokenKind::BlockEntry if allowed == Allowed::BlockOrIndentless => {
                self.form(Form::Block, content, end);
                self.state = State::IndentlessSequenceEntry;
                Ok((Event::SequenceStart { anchor }, start))
            }
            TokenKind::Scalar { .. } => {
                let Some(Token { kind: TokenKind::Scalar { text, style }, .. }) = self.scanner.take() else {
                    return Err(self.error(content, "expected a value"));
                };
                self.leave();
                self.form(Form::Scalar(style), content, end);
                // `!` makes any scalar a string, but `<<` still merges.
                let plain = tag.as_ref().map_or(style == ScalarStyle::Plain, |tag| tag == "!");
                Ok((Event::Scalar { anchor, tag, text, plain }, start))
            }
            TokenKind::FlowSequenceStart => {
                self.form(Form::Flow, content, end);
                self.enter(State::FlowSequenceFirstEntry);
                Ok((Event::SequenceStart { anchor }, start))
            }
            TokenKind::FlowMappingStart => {
                self.form(Form::Flow, content, end);
                self.enter(State::FlowMappingFirstKey);
                Ok((Event::MappingStart { anchor }, start))
            }
            TokenKind::BlockSequenceStart if allowed != Allowed::Flow => {
                self.form(Form::Block, content, end);
                self.enter(State::BlockSequenceEntry);
                Ok((Event::SequenceStart { anchor }, start))
            }
            TokenKind::BlockMappingStart if allowed != Allowed::Flow => {
                self.form(Form::Block, content, end);
                self.enter(State::BlockMappingKey);
                Ok((Event::MappingStart { anchor }, start))
            }
            _ if anchor.is_some() || tag.is_some() => {
                self.leave();
                let plain = tag.is_none();
                Ok((Event::Scalar { anchor, tag, text: String::new(), plain }, start))
            }
            _ => Err(self.error(content, "expected a value")),
        }
    }

    /// Reads an anchor and a tag, in either order.
    fn properties(&mut self) -> Result<(Option<String>, Option<String>), Error> {
        let (mut anchor, mut tag) = (None, None);
        loop {
            let token = self.peek()?;
            let (start, end) = (token.start, token.end);
            match &token.kind {
                TokenKind::Anchor(name) if anchor.is_none() => anchor = Some(name.clone()),
                TokenKind::Tag { handle, suffix } if tag.is_none() => {
                    let (handle, suffix) = (handle.clone(), suffix.clone());
                    self.extent.tag = Some((start.offset, end));
                    let Some(prefix) = self.tag_prefix(&handle) else {
                        return Err(self.error(start, format!("the tag handle `{handle}` is not declared")));
                    };
                    tag = Some(prefix + &suffix);
                }
                _ => return Ok((anchor, tag)),
            }
            self.extent.properties_end = Some(end);
            self.scanner.take();
        }
    }

    fn tag_prefix(&self, handle: &str) -> Option<String> {
        if handle.is_empty() {
            return Some(String::new());
        }
        let declared =
            self.handles.iter().find(|(known, _)| known == handle).map(|(_, prefix)| prefix.as_str());
        let standard = match handle {
            "!" => Some("!"),
            "!!" => Some(CORE_TAG_PREFIX),
            _ => None,
        };
        declared.or(standard).map(str::to_owned)
    }

    fn block_sequence_entry(&mut self) -> Outcome {
        let token = self.peek()?;
        let start = token.start;
        match token.kind {
            TokenKind::BlockEntry => {
                self.extent.lead = Some(start.offset);
                self.scanner.take();
                match self.peek()?.kind {
                    TokenKind::BlockEntry | TokenKind::BlockEnd => {
                        Ok(self.nothing(after(start), State::BlockSequenceEntry))
                    }
                    _ => self.node_and(State::BlockSequenceEntry, Allowed::Block),
                }
            }
            TokenKind::BlockEnd => Ok(self.close(Event::SequenceEnd)),
            _ => Err(self.error_within(start, "expected `-` of the next item", "list")),
        }
    }

    fn indentless_sequence_entry(&mut self) -> Outcome {
        let token = self.peek()?;
        let start = token.start;
        if token.kind != TokenKind::BlockEntry {
            self.leave();
            return Ok((Event::SequenceEnd, start));
        }
        self.extent.lead = Some(start.offset);
        self.scanner.take();
        match self.peek()?.kind {
            TokenKind::BlockEntry | TokenKind::Key | TokenKind::Value | TokenKind::BlockEnd => {
                Ok(self.nothing(after(start), State::IndentlessSequenceEntry))
            }
            _ => self.node_and(State::IndentlessSequenceEntry, Allowed::Block),
        }
    }

    fn block_mapping_key(&mut self) -> Outcome {
        let token = self.peek()?;
        let start = token.start;
        match token.kind {
            TokenKind::Key => {
                self.extent.lead = Some(start.offset);
                self.scanner.take();
                self.block_mapping_node(after(start), State::BlockMappingValue)
            }
            TokenKind::BlockEnd => Ok(self.close(Event::MappingEnd)),
            _ => Err(self.error_within(start, "expected the next key", "object")),
        }
    }

    fn block_mapping_value(&mut self) -> Outcome {
        let token = self.peek()?;
        let start = token.start;
        if token.kind == TokenKind::Value {
            self.extent.colon = Some(token.end);
            self.scanner.take();
            self.block_mapping_node(after(start), State::BlockMappingKey)
        } else {
            Ok(self.nothing(start, State::BlockMappingKey))
        }
    }

    fn block_mapping_node(&mut self, after: Mark, next: State) -> Outcome {
        match self.peek()?.kind {
            TokenKind::Key | TokenKind::Value | TokenKind::BlockEnd => Ok(self.nothing(after, next)),
            _ => self.node_and(next, Allowed::BlockOrIndentless),
        }
    }

    fn flow_sequence_entry(&mut self, state: State) -> Outcome {
        if state == State::FlowSequenceEntry {
            self.flow_separator(&TokenKind::FlowSequenceEnd, "expected `,` or `]`", "list")?;
        }
        let token = self.peek()?;
        let start = token.start;
        match token.kind {
            TokenKind::FlowSequenceEnd => Ok(self.close(Event::SequenceEnd)),
            TokenKind::Key => {
                // A pair in a flow list is an object of its own.
                self.form(Form::Pair, start, start.offset);
                self.scanner.take();
                self.state = State::FlowSequencePairKey;
                Ok((Event::MappingStart { anchor: None }, start))
            }
            _ => self.node_and(State::FlowSequenceEntry, Allowed::Flow),
        }
    }

    fn flow_sequence_pair_key(&mut self) -> Outcome {
        let token = self.peek()?;
        let start = token.start;
        match token.kind {
            TokenKind::Value | TokenKind::FlowEntry | TokenKind::FlowSequenceEnd => {
                Ok(self.nothing(start, State::FlowSequencePairValue))
            }
            _ => self.node_and(State::FlowSequencePairValue, Allowed::Flow),
        }
    }

    fn flow_sequence_pair_value(&mut self) -> Outcome {
        let token = self.peek()?;
        let start = token.start;
        if token.kind == TokenKind::Value {
            self.extent.colon = Some(token.end);
            self.scanner.take();
            if !matches!(self.peek()?.kind, TokenKind::FlowEntry | TokenKind::FlowSequenceEnd) {
                return self.node_and(State::FlowSequencePairEnd, Allowed::Flow);
            }
            return Ok(self.nothing(after(start), State::FlowSequencePairEnd));
        }
        Ok(self.nothing(start, State::FlowSequencePairEnd))
    }

    fn flow_sequence_pair_end(&mut self) -> Outcome {
        self.state = State::FlowSequenceEntry;
        Ok((Event::MappingEnd, self.peek()?.start))
    }

    fn flow_mapping_key(&mut self, state: State) -> Outcome {
        if state == State::FlowMappingKey {
            self.flow_separator(&TokenKind::FlowMappingEnd, "expected `,` or `}`", "object")?;
        }
        let token = self.peek()?;
        let start = token.start;
        match token.kind {
            TokenKind::FlowMappingEnd => Ok(self.close(Event::MappingEnd)),
            TokenKind::Key => {
                self.extent.lead = Some(start.offset);
                self.scanner.take();
                let token = self.peek()?;
                match token.kind {
                    TokenKind::Value | TokenKind::FlowEntry | TokenKind::FlowMappingEnd => {
                        let start = token.start;
                        Ok(self.nothing(start, State::FlowMappingValue))
                    }
                    _ => self.node_and(State::FlowMappingValue, Allowed::Flow),
                }
            }
            _ => self.node_and(State::FlowMappingNoValue, Allowed::Flow),
        }
    }

    fn flow_mapping_value(&mut self) -> Outcome {
        let token = self.peek()?;
        let start = token.start;
        if token.kind == TokenKind::Value {
            self.extent.colon = Some(token.end);
            self.scanner.take();
            if !matches!(self.peek()?.kind, TokenKind::FlowEntry | TokenKind::FlowMappingEnd) {
                return self.node_and(State::FlowMappingKey, Allowed::Flow);
            }
            return Ok(self.nothing(after(start), State::FlowMappingKey));
        }
        Ok(self.nothing(start, State::FlowMappingKey))
    }

    /// Reads the comma between two entries, unless the collection ends.
    fn flow_separator(&mut self, end: &TokenKind, expected: &str, what: &str) -> Result<(), Error> {
        let token = self.peek()?;
        let start = token.start;
        if token.kind == *end {
            return Ok(());
        }
        if token.kind != TokenKind::FlowEntry {
            return Err(self.error_within(start, expected, what));
        }
        self.extent.comma = Some(start.offset);
        self.scanner.take();
        Ok(())
    }

    fn peek(&mut self) -> Result<&Token, Error> {
        self.scanner.peek()
    }

    fn node_and(&mut self, next: State, allowed: Allowed) -> Outcome {
        self.after.push(next);
        self.node(allowed)
    }

    /// Returns the event of an implicit null.
    fn nothing(&mut self, mark: Mark, next: State) -> (Event, Mark) {
        self.state = next;
        empty(mark)
    }

    /// Consumes the first token of a collection.
    fn enter(&mut self, state: State) {
        if let Some(token) = self.scanner.take() {
            self.starts.push(token.start);
        }
        self.state = state;
    }

    fn close(&mut self, event: Event) -> (Event, Mark) {
        let token = self.scanner.take();
        self.extent.end = token.as_ref().map_or(0, |token| token.end);
        // The end of a collection is never implicit.
        self.extent.form = Form::Block;
        let start = token.map_or_else(Mark::default, |token| token.start);
        self.starts.pop();
        self.leave();
        (event, start)
    }

    fn form(&mut self, form: Form, content: Mark, end: usize) {
        self.extent.form = form;
        self.extent.content = content;
        self.extent.end = end;
    }

    fn leave(&mut self) {
        self.state = self.after.pop().unwrap_or(State::End);
    }

    fn error(&self, mark: Mark, message: impl Into<String>) -> Error {
        Error::at(self.scanner.position_of(mark), message)
    }

    fn error_within(&self, mark: Mark, expected: &str, what: &str) -> Error {
        let start = self.starts.last().map(|mark| self.scanner.position_of(*mark));
        let whose =
            start.map(|Position { line, column }| format!(" of the {what} that begins at {line}:{column}"));
        self.error(mark, format!("{expected}{}", whose.unwrap_or_default()))
    }
}

fn empty(mark: Mark) -> (Event, Mark) {
    (Event::Scalar { anchor: None, tag: None, text: String::new(), plain: true }, mark)
}

/// Returns the location after an indicator of one character.
fn after(mark: Mark) -> Mark {
    Mark { column: mark.column + 1, index: mark.index + 1, offset: mark.offset + 1, ..mark }
}
