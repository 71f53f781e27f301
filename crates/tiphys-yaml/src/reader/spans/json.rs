//! Spans of a JSON text that was already parsed. YAML's tokens cannot be used where it is not valid YAML.

use super::{Child, Collection, CollectionKind, Document, Id, Key, Layout, ScalarStyle, Shape, Span, Tree};
use crate::json::{Numbers, Parser};
use crate::{Data, LIMITS, Node, Position};

/// Returns the spans of a text that was parsed to `node`.
pub(super) fn tree(text: &str, node: Node) -> Tree {
    let mut walker =
        Walker { bytes: text.as_bytes(), text, at: 0, known: (0, Position::START), spans: Vec::new() };
    let root = walker.value();
    Tree { documents: vec![Document { node, root }], uses: Vec::new(), is_json: true, spans: walker.spans }
}

/// Walks through valid JSON.
struct Walker<'a> {
    bytes: &'a [u8],
    text: &'a str,
    at: usize,
    /// The last requested offset and its position.
    known: (usize, Position),
    spans: Vec<Span>,
}

impl Walker<'_> {
    /// Adds a value. Nesting takes stack here; it is limited by [`LIMITS`].
    fn value(&mut self) -> Id {
        self.skip_blanks();
        let id = self.add();
        match self.byte() {
            Some(b'{') => self.collection(id, CollectionKind::Object),
            Some(b'[') => self.collection(id, CollectionKind::List),
            Some(b'"') => self.skip_string(),
            _ => self.skip_word(),
        }
        self.spans[id.0].end = self.at;
        id
    }

    fn collection(&mut self, id: Id, kind: CollectionKind) {
        let is_object = kind == CollectionKind::Object;
        let close = if is_object { b'}' } else { b']' };
        let mut children: Vec<Child> = Vec::new();
        let mut comma = None;
        self.at += 1;
        loop {
            self.skip_blanks();
            match self.byte() {
                None => break,
                Some(byte) if byte == close => {
                    self.at += 1;
                    break;
                }
                Some(b',') => {
                    comma = Some(self.at);
                    self.at += 1;
                }
                Some(_) => {
                    let lead = self.at;
                    let key = is_object.then(|| self.key());
                    let colon = is_object.then_some(self.at);
                    let value = self.value();
                    children.push(Child { lead, comma: comma.take(), key, colon, value, end: self.at });
                }
            }
        }
        let layout = Layout::Flow { trailing_comma: None };
        self.spans[id.0].shape = Shape::Collection(Collection { layout, kind, children });
    }

    /// Adds a key and skips the colon after it.
    fn key(&mut self) -> Key {
        let id = self.add();
        let start = self.at;
        self.skip_string();
        self.spans[id.0].end = self.at;
        let written = self.bytes.get(start..self.at).unwrap_or_default();
        let text = match Parser::new(written, Position::START, LIMITS, Numbers::Yaml).value() {
            Ok(Node { data: Data::String(text), .. }) => text,
            _ => String::new(),
        };
        self.skip_blanks();
        self.at += usize::from(self.byte() == Some(b':'));
        Key { text: Some(text), span: id }
    }

    /// Adds a scalar at the current offset.
    fn add(&mut self) -> Id {
        let position = self.position();
        let style = if self.byte() == Some(b'"') { ScalarStyle::DoubleQuoted } else { ScalarStyle::Plain };
        self.spans.push(Span {
            position,
            properties_end: None,
            tag: None,
            anchor: None,
            start: self.at,
            content: self.at,
            column: position.column - 1,
            end: self.at,
            shape: Shape::Scalar(style),
        });
        Id(self.spans.len() - 1)
    }

    fn skip_string(&mut self) {
        self.at += 1;
        while let Some(byte) = self.byte() {
            self.at += 1;
            match byte {
                b'"' => return,
                b'\\' => self.at += 1,
                _ => {}
            }
        }
    }

    fn skip_word(&mut self) {
        // At least one byte, so that this terminates for any text.
        self.at += usize::from(self.at < self.bytes.len());
        while self
            .byte()
            .is_some_and(|byte| !matches!(byte, b',' | b']' | b'}' | b' ' | b'\t' | b'\r' | b'\n'))
        {
            self.at += 1;
        }
    }

    fn skip_blanks(&mut self) {
        while let Some(b' ' | b'\t' | b'\r' | b'\n') = self.byte() {
            self.at += 1;
        }
    }

    fn byte(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    /// Returns the position of the next byte, counted like the JSON parser does.
    fn position(&mut self) -> Position {
        let (offset, mut position) = self.known;
        for character in self.text.get(offset..self.at).unwrap_or_default().chars() {
            position = match character {
                '\n' => Position { line: position.line + 1, column: 1 },
                _ => Position { column: position.column + 1, ..position },
            };
        }
        self.known = (self.at, position);
        position
    }
}
