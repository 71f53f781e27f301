//! Byte ranges of every part of a text, which an edit needs in addition to the values.

mod json;

use std::collections::HashMap;
use std::ops::{Index, Range};

use super::compose::Documents;
use super::parse::{Event, Extent, Form};
use super::scan::ScalarStyle;
use crate::scalar::{MERGE_TAG, Unquoted, key_text, read_scalar};
use crate::text::Decoded;
use crate::{Error, LIMITS, Node, Position};

/// The index of a [`Span`] in its [`Tree`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Id(usize);

/// All documents of a text.
#[derive(Debug)]
pub(crate) struct Tree {
    /// The documents, including `null` ones.
    pub(crate) documents: Vec<Document>,
    pub(crate) uses: Vec<Use>,
    /// Whether the whole text is one JSON value.
    pub(crate) is_json: bool,
    spans: Vec<Span>,
}

/// A document with its value and span.
#[derive(Debug)]
pub(crate) struct Document {
    pub(crate) node: Node,
    pub(crate) root: Id,
}

/// An alias and the value that it refers to.
#[derive(Debug)]
pub(crate) struct Use {
    pub(crate) target: Id,
    pub(crate) position: Position,
    pub(crate) offset: usize,
    /// Whether it is the value of a merge key, or an item of it.
    pub(crate) is_merge: bool,
}

/// The range of a value. Offsets count from the beginning of the text, after a byte-order mark.
#[derive(Debug)]
pub(crate) struct Span {
    /// Equals [`Node::position`] of the value.
    pub(crate) position: Position,
    /// Start, including anchor and tag.
    pub(crate) start: usize,
    /// End of anchor and tag, if present.
    pub(crate) properties_end: Option<usize>,
    pub(crate) tag: Option<Range<usize>>,
    pub(crate) anchor: Option<String>,
    /// Start, without anchor and tag.
    pub(crate) content: usize,
    /// Column of `content` in characters, from 0.
    pub(crate) column: usize,
    /// End. A block scalar ends after its last line break, a block collection with its last child.
    pub(crate) end: usize,
    pub(crate) shape: Shape,
}

/// The kind of value at a [`Span`].
#[derive(Debug)]
pub(crate) enum Shape {
    /// An implicit null.
    Nothing,
    Scalar(ScalarStyle),
    Alias,
    Collection(Collection),
}

/// A list or an object.
#[derive(Debug)]
pub(crate) struct Collection {
    pub(crate) layout: Layout,
    pub(crate) kind: CollectionKind,
    pub(crate) children: Vec<Child>,
}

/// The kind of a collection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CollectionKind {
    List,
    Object,
}

/// The style of a collection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Layout {
    /// Block style, by indentation.
    Block,
    /// Flow style, in brackets. `trailing_comma` is the offset of a comma after the last child.
    Flow { trailing_comma: Option<usize> },
    /// A single pair in a flow list: an object without braces.
    Pair,
}

/// An item of a list or an entry of an object.
#[derive(Debug)]
pub(crate) struct Child {
    /// Start: at `-`, at `?`, at the key, or at the value.
    pub(crate) lead: usize,
    /// The comma before it.
    pub(crate) comma: Option<usize>,
    pub(crate) key: Option<Key>,
    /// End of the `:`.
    pub(crate) colon: Option<usize>,
    pub(crate) value: Id,
    /// End.
    pub(crate) end: usize,
}

/// The key of an entry.
#[derive(Debug)]
pub(crate) struct Key {
    /// The key as a string; `None` for the merge key `<<`.
    pub(crate) text: Option<String>,
    pub(crate) span: Id,
}

impl Index<Id> for Tree {
    type Output = Span;

    fn index(&self, id: Id) -> &Span {
        &self.spans[id.0]
    }
}

impl Tree {
    /// Parses all documents of a text without a byte-order mark.
    pub(crate) fn read(text: &str) -> Result<Self, Error> {
        if let Some(node) = crate::json::read_as_kubernetes(text.as_bytes(), LIMITS, Unquoted::Typed) {
            return Ok(json::tree(text, node));
        }
        let decoded = Decoded { text: text.into(), broken: None };
        let mut documents = Documents::new(&decoded, Position::START, LIMITS);
        let mut builder = Builder::default();
        let mut found = Vec::new();
        while let Some(node) = documents
            .next_document_watched(&mut |event, position, extent| builder.take(event, position, extent))?
        {
            found.extend(builder.roots.pop().map(|root| Document { node, root }));
            builder.anchors.clear();
        }
        Ok(Self { documents: found, uses: builder.uses, is_json: false, spans: builder.spans })
    }

    /// Returns all spans, including those of keys.
    pub(crate) fn spans(&self) -> impl Iterator<Item = &Span> {
        self.spans.iter()
    }

    /// Returns all lists and objects.
    pub(crate) fn collections(&self) -> impl Iterator<Item = (&Span, &Collection)> {
        self.spans.iter().filter_map(|span| Some((span, span.collection()?)))
    }

    /// Returns the outermost value at a position.
    pub(crate) fn find(&self, position: Position) -> Option<Id> {
        // A collection comes before its first child.
        self.spans.iter().position(|span| span.position == position).map(Id)
    }
}

impl Span {
    pub(crate) fn collection(&self) -> Option<&Collection> {
        match &self.shape {
            Shape::Collection(collection) => Some(collection),
            Shape::Nothing | Shape::Scalar(_) | Shape::Alias => None,
        }
    }
}

impl Collection {
    /// Returns the comma after a child.
    pub(crate) fn comma_after(&self, child: usize) -> Option<usize> {
        match (self.children.get(child + 1), self.layout) {
            (Some(next), _) => next.comma,
            (None, Layout::Flow { trailing_comma }) => trailing_comma,
            (None, Layout::Block | Layout::Pair) => None,
        }
    }
}

/// An unfinished collection.
struct Open {
    id: Id,
    children: Vec<Child>,
    /// The start, the preceding comma and the key of the current entry of an object.
    key: Option<(usize, Option<usize>, Key)>,
}

impl Open {
    /// Returns whether the next value is that of a merge key.
    fn merges(&self) -> bool {
        self.key.as_ref().is_some_and(|(_, _, key)| key.text.is_none())
    }
}

/// The value of an anchor, and its string as a key.
struct Anchored {
    id: Id,
    as_key: Option<String>,
}

/// Builds spans from events.
#[derive(Default)]
struct Builder {
    spans: Vec<Span>,
    open: Vec<Open>,
    roots: Vec<Id>,
    anchors: HashMap<String, Anchored>,
    uses: Vec<Use>,
}

impl Builder {
    fn take(&mut self, event: &Event, position: Position, extent: &Extent) {
        match event {
            Event::StreamEnd | Event::DocumentStart | Event::DocumentEnd => {}
            Event::Scalar { anchor, tag, text, plain } => {
                let is_merge = text == "<<" && (*plain || tag.as_deref() == Some(MERGE_TAG));
                let as_key = if anchor.is_some() || self.expects_key() {
                    read_scalar(tag.as_deref(), *plain, text.clone())
                        .ok()
                        .and_then(|data| key_text(data).ok())
                } else {
                    None
                };
                let shape = match extent.form {
                    Form::Scalar(style) => Shape::Scalar(style),
                    _ => Shape::Nothing,
                };
                let id = self.add(position, extent, anchor.as_deref(), shape, as_key.clone());
                // Only a key can be a merge key; the string is ignored elsewhere.
                self.attach(id, extent, if is_merge { None } else { as_key });
            }
            Event::Alias { anchor } => {
                let id = self.add(position, extent, None, Shape::Alias, None);
                let (target, as_key) = match self.anchors.get(anchor) {
                    Some(anchored) => (anchored.id, anchored.as_key.clone()),
                    None => (id, None),
                };
                let is_merge = self.open.iter().rev().take(2).any(Open::merges);
                self.uses.push(Use { target, position, offset: extent.start, is_merge });
                // An alias is never a merge key.
                self.attach(id, extent, Some(as_key.unwrap_or_default()));
            }
            Event::SequenceStart { anchor } => {
                self.begin(position, extent, anchor.as_deref(), CollectionKind::List);
            }
            Event::MappingStart { anchor } => {
                self.begin(position, extent, anchor.as_deref(), CollectionKind::Object);
            }
            Event::SequenceEnd | Event::MappingEnd => self.end(extent),
        }
    }

    fn expects_key(&self) -> bool {
        self.open.last().is_some_and(|open| open.key.is_none() && self.is_object(open.id))
    }

    fn is_object(&self, id: Id) -> bool {
        let collection = self.spans.get(id.0).and_then(Span::collection);
        collection.is_some_and(|collection| collection.kind == CollectionKind::Object)
    }

    fn add(
        &mut self,
        position: Position,
        extent: &Extent,
        anchor: Option<&str>,
        shape: Shape,
        as_key: Option<String>,
    ) -> Id {
        let id = Id(self.spans.len());
        if let Some(anchor) = anchor {
            self.anchors.insert(anchor.to_owned(), Anchored { id, as_key });
        }
        self.spans.push(Span {
            position,
            start: extent.start,
            properties_end: extent.properties_end,
            tag: extent.tag.map(|(start, end)| start..end),
            anchor: anchor.map(str::to_owned),
            content: extent.content.offset,
            column: extent.content.column,
            end: extent.end,
            shape,
        });
        id
    }

    fn begin(&mut self, position: Position, extent: &Extent, anchor: Option<&str>, kind: CollectionKind) {
        let layout = match extent.form {
            Form::Flow => Layout::Flow { trailing_comma: None },
            Form::Pair => Layout::Pair,
            _ => Layout::Block,
        };
        let shape = Shape::Collection(Collection { layout, kind, children: Vec::new() });
        let id = self.add(position, extent, anchor, shape, None);
        self.attach(id, extent, Some(String::new()));
        self.open.push(Open { id, children: Vec::new(), key: None });
    }

    /// Adds a value or key to the current collection. The rest of a collection is added when it ends.
    fn attach(&mut self, id: Id, extent: &Extent, key_text: Option<String>) {
        let is_key = self.expects_key();
        let span = &self.spans[id.0];
        let (begin, end) = (extent.lead.unwrap_or(span.start), span.end);
        let Some(open) = self.open.last_mut() else {
            self.roots.push(id);
            return;
        };
        if is_key {
            open.key = Some((begin, extent.comma, Key { text: key_text, span: id }));
            return;
        }
        // The span of an implicit null begins at the next token, so the end of the child is determined otherwise.
        let is_implicit = matches!(span.shape, Shape::Nothing) && span.properties_end.is_none();
        let child = if let Some((lead, comma, key)) = open.key.take() {
            let key_end = self.spans[key.span.0].end;
            let end = if is_implicit { extent.colon.unwrap_or(key_end) } else { end };
            Child { lead, comma, key: Some(key), colon: extent.colon, value: id, end }
        } else {
            let end = if is_implicit { begin + 1 } else { end };
            Child { lead: begin, comma: extent.comma, key: None, colon: None, value: id, end }
        };
        open.children.push(child);
    }

    fn end(&mut self, extent: &Extent) {
        let Some(open) = self.open.pop() else { return };
        let last = open.children.last().map(|child| child.end);
        let span = &mut self.spans[open.id.0];
        if let Shape::Collection(collection) = &mut span.shape {
            collection.children = open.children;
            match &mut collection.layout {
                Layout::Block | Layout::Pair => span.end = last.unwrap_or(span.content),
                Layout::Flow { trailing_comma } => {
                    *trailing_comma = extent.comma;
                    span.end = extent.end;
                }
            }
        }
        let end = span.end;
        if let Some(child) = self.open.last_mut().and_then(|open| open.children.last_mut())
            && child.value == open.id
        {
            child.end = end;
        }
    }
}
