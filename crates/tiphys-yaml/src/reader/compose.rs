//! Builds documents from events by the rules of go-yaml v2 for keys, merges, anchors and aliases.

use std::collections::HashMap;

use super::Limits;
use super::cursor::Cursor;
use super::parse::{Event, Extent, Parser};
use super::scan::Scanner;
use crate::scalar::{BINARY_TAG, MERGE_TAG, Unquoted, key_text, read_scalar, unquoted_text};
use crate::text::Decoded;
use crate::{Data, Entry, Error, Key, Node, Position};

/// The documents of a text, one after the other.
pub(crate) struct Documents<'a> {
    parser: Parser<'a>,
    limits: Limits,
    unquoted: Unquoted,
    has_replaced_bytes: bool,
}

impl<'a> Documents<'a> {
    /// Returns the documents. `origin` is the position at which the text begins.
    pub(crate) fn new(decoded: &'a Decoded<'_>, origin: Position, limits: Limits) -> Self {
        let scanner = Scanner::new(Cursor::new(&decoded.text, decoded.broken, origin));
        Self { parser: Parser::new(scanner), limits, unquoted: Unquoted::Typed, has_replaced_bytes: false }
    }

    /// Returns the documents with this mode for unquoted scalars.
    pub(crate) fn with_unquoted(self, unquoted: Unquoted) -> Self {
        Self { unquoted, ..self }
    }

    /// Returns the next document, including `null` ones; `None` at the end.
    pub(crate) fn next_document(&mut self) -> Result<Option<Node>, Error> {
        self.next_document_watched(&mut |_, _, _| {})
    }

    /// Returns the next document like [`Documents::next_document`]. `watch` is called for every event of the document.
    pub(super) fn next_document_watched(
        &mut self,
        watch: &mut impl FnMut(&Event, Position, &Extent),
    ) -> Result<Option<Node>, Error> {
        if self.parser.next_event()?.0 == Event::StreamEnd {
            return Ok(None);
        }
        let mut composer = Composer::new(self.limits, self.unquoted);
        loop {
            let (event, position) = self.parser.next_event()?;
            watch(&event, position, self.parser.extent());
            if event == Event::DocumentEnd {
                self.has_replaced_bytes = composer.has_replaced_bytes;
                return Ok(composer.root);
            }
            composer.take(event, position)?;
        }
    }

    /// Returns whether the last document has a `!!binary` value with invalid UTF-8, which became U+FFFD.
    pub(crate) fn has_replaced_bytes(&self) -> bool {
        self.has_replaced_bytes
    }

    /// Returns the position of the next document, or `None` at the end. Must be called after a document was read.
    pub(crate) fn next_start(&mut self) -> Result<Option<Position>, Error> {
        let (event, position) = self.parser.next_event()?;
        Ok((event != Event::StreamEnd).then_some(position))
    }
}

/// An unfinished list or object.
struct Open {
    position: Position,
    anchor: Option<OpenAnchor>,
    kind: OpenKind,
}

enum OpenKind {
    Sequence(Vec<Node>),
    Mapping { entries: Vec<Entry>, merged: Vec<std::ops::Range<usize>>, pending: Pending },
}

/// The expected next node of an object.
enum Pending {
    Key,
    Value(Key),
    Merge,
}

struct OpenAnchor {
    name: String,
    serial: usize,
    steps_before: usize,
}

/// The value of an anchor.
enum Anchored {
    /// Unfinished. An alias to it would contain itself.
    Open {
        serial: usize,
    },
    Done {
        node: Node,
        steps: usize,
        depth: usize,
        bytes: usize,
    },
}

/// Builds one document.
struct Composer {
    limits: Limits,
    unquoted: Unquoted,
    open: Vec<Open>,
    root: Option<Node>,
    anchors: HashMap<String, Anchored>,
    anchors_seen: usize,
    /// The numbers that go-yaml uses to reject excessive aliasing: visited nodes, and those inside an alias.
    steps: usize,
    alias_steps: usize,
    /// Numbers of nodes and bytes in copies, for the limits.
    copied_nodes: usize,
    copied_bytes: usize,
    has_replaced_bytes: bool,
}

impl Composer {
    fn new(limits: Limits, unquoted: Unquoted) -> Self {
        Self {
            limits,
            unquoted,
            open: Vec::new(),
            root: None,
            anchors: HashMap::new(),
            anchors_seen: 0,
            // go-yaml counts the document too.
            steps: 1,
            alias_steps: 0,
            copied_nodes: 0,
            copied_bytes: 0,
            has_replaced_bytes: false,
        }
    }

    fn take(&mut self, event: Event, position: Position) -> Result<(), Error> {
        match event {
            Event::Scalar { anchor, tag, text, plain } => {
                self.scalar(anchor, tag.as_deref(), text, plain, position)
            }
            Event::Alias { anchor } => self.alias(&anchor, position),
            Event::SequenceStart { anchor } => self.begin(anchor, OpenKind::Sequence(Vec::new()), position),
            Event::MappingStart { anchor } => {
                let kind =
                    OpenKind::Mapping { entries: Vec::new(), merged: Vec::new(), pending: Pending::Key };
                self.begin(anchor, kind, position)
            }
            Event::SequenceEnd | Event::MappingEnd => self.end(),
            Event::StreamEnd | Event::DocumentStart | Event::DocumentEnd => Ok(()),
        }
    }

    fn scalar(
        &mut self,
        anchor: Option<String>,
        tag: Option<&str>,
        value: String,
        plain: bool,
        position: Position,
    ) -> Result<(), Error> {
        if self.expects_key() && value == "<<" && (plain || tag == Some(MERGE_TAG)) {
            if let Some(Open { kind: OpenKind::Mapping { pending, .. }, .. }) = self.open.last_mut() {
                *pending = Pending::Merge;
            }
            return Ok(());
        }
        let anchor = self.anchor(anchor);
        self.step(position)?;
        let data = if plain && tag.is_none() && self.unquoted == Unquoted::Texts {
            unquoted_text(value)
        } else {
            read_scalar(tag, plain, value).map_err(|message| Error::at(position, message))?
        };
        if let (Some(BINARY_TAG), Data::String(text)) = (tag, &data) {
            self.has_replaced_bytes |= text.contains(char::REPLACEMENT_CHARACTER);
        }
        let node = Node { position, data };
        self.close_anchor(anchor, &node, position)?;
        self.attach(node)
    }

    fn alias(&mut self, name: &str, position: Position) -> Result<(), Error> {
        let (node, steps, depth, bytes) = match self.anchors.get(name) {
            None => return Err(Error::at(position, format!("alias to the unknown anchor `{name}`"))),
            Some(Anchored::Open { .. }) => {
                return Err(Error::at(position, format!("the value of the anchor `{name}` contains itself")));
            }
            Some(Anchored::Done { node, steps, depth, bytes }) => (node, *steps, *depth, *bytes),
        };
        if self.open.len() + depth > self.limits.depth_max {
            return Err(too_deep(position, self.limits));
        }
        self.steps += 1 + steps;
        self.alias_steps += steps;
        self.copied_bytes += bytes;
        if excessive_aliasing(self.steps, self.alias_steps) || self.copied_bytes > self.limits.alias_bytes_max
        {
            return Err(Error::limit(position, "the document contains excessive aliasing"));
        }
        if self.steps > self.limits.nodes_max {
            return Err(too_many(position, self.limits));
        }
        let node = node.clone();
        self.attach(node)
    }

    fn begin(&mut self, anchor: Option<String>, kind: OpenKind, position: Position) -> Result<(), Error> {
        if self.open.len() >= self.limits.depth_max {
            return Err(too_deep(position, self.limits));
        }
        let anchor = self.anchor(anchor);
        self.step(position)?;
        self.open.push(Open { position, anchor, kind });
        Ok(())
    }

    fn end(&mut self) -> Result<(), Error> {
        let Some(open) = self.open.pop() else { return Ok(()) };
        let data = match open.kind {
            OpenKind::Sequence(items) => Data::Sequence(items),
            OpenKind::Mapping { entries, merged, .. } if merged.is_empty() => Data::Mapping(entries),
            OpenKind::Mapping { entries, merged, .. } => Data::Mapping(settle_merges(entries, &merged)),
        };
        let node = Node { position: open.position, data };
        self.close_anchor(open.anchor, &node, open.position)?;
        self.attach(node)
    }

    fn expects_key(&self) -> bool {
        matches!(self.open.last(), Some(Open { kind: OpenKind::Mapping { pending: Pending::Key, .. }, .. }))
    }

    fn step(&mut self, position: Position) -> Result<(), Error> {
        self.steps += 1;
        if self.steps > self.limits.nodes_max {
            return Err(too_many(position, self.limits));
        }
        Ok(())
    }

    fn anchor(&mut self, name: Option<String>) -> Option<OpenAnchor> {
        let name = name?;
        self.anchors_seen += 1;
        let serial = self.anchors_seen;
        self.anchors.insert(name.clone(), Anchored::Open { serial });
        Some(OpenAnchor { name, serial, steps_before: self.steps })
    }

    /// Stores a copy of the node for aliases, unless a nested node has reused the name.
    fn close_anchor(
        &mut self,
        anchor: Option<OpenAnchor>,
        node: &Node,
        position: Position,
    ) -> Result<(), Error> {
        let Some(OpenAnchor { name, serial, steps_before }) = anchor else { return Ok(()) };
        if !matches!(self.anchors.get(&name), Some(Anchored::Open { serial: open }) if *open == serial) {
            return Ok(());
        }
        let size = Size::of(node);
        self.copied_nodes += size.nodes;
        self.copied_bytes += size.bytes;
        if self.copied_nodes > self.limits.nodes_max || self.copied_bytes > self.limits.alias_bytes_max {
            return Err(Error::limit(position, "the document contains excessive anchors"));
        }
        let done = Anchored::Done {
            node: node.clone(),
            steps: self.steps - steps_before,
            depth: size.depth,
            bytes: size.bytes,
        };
        self.anchors.insert(name, done);
        Ok(())
    }

    /// Adds a finished node to the current collection.
    fn attach(&mut self, node: Node) -> Result<(), Error> {
        let Some(open) = self.open.last_mut() else {
            check_number(&node)?;
            self.root = Some(node);
            return Ok(());
        };
        match &mut open.kind {
            OpenKind::Sequence(items) => {
                check_number(&node)?;
                items.push(node);
            }
            OpenKind::Mapping { entries, merged, pending } => {
                match std::mem::replace(pending, Pending::Key) {
                    Pending::Key => {
                        let position = node.position;
                        let text = key_text(node.data).map_err(|message| Error::at(position, message))?;
                        *pending = Pending::Value(Key { text, position });
                    }
                    Pending::Value(key) => {
                        check_number(&node)?;
                        entries.push(Entry { key, value: node });
                    }
                    Pending::Merge => {
                        let start = entries.len();
                        merge(entries, node)?;
                        merged.push(start..entries.len());
                    }
                }
            }
        }
        Ok(())
    }
}

/// Rejects infinity and NaN as values, because JSON cannot represent them. They may be keys.
fn check_number(node: &Node) -> Result<(), Error> {
    match &node.data {
        Data::Float(value) if !value.value().is_finite() => {
            Err(Error::at(node.position, "infinity and NaN have no place in JSON; quote it to get a string"))
        }
        _ => Ok(()),
    }
}

fn merge(entries: &mut Vec<Entry>, node: Node) -> Result<(), Error> {
    let refused =
        |position| Err(Error::at(position, "`<<` needs an object or a list of objects as its value"));
    match node.data {
        Data::Mapping(merged) => entries.extend(merged),
        Data::Sequence(items) => {
            // Of several the first wins, and later entries win over earlier ones, so the order is reversed.
            for item in items.into_iter().rev() {
                match item.data {
                    Data::Mapping(merged) => entries.extend(merged),
                    _ => return refused(item.position),
                }
            }
        }
        _ => return refused(node.position),
    }
    Ok(())
}

/// Removes entries that a merge overrides and merged entries that are overridden, so that only keys written twice are duplicates. As in
/// go-yaml the later one wins, even if that is the merged one.
fn settle_merges(entries: Vec<Entry>, merged: &[std::ops::Range<usize>]) -> Vec<Entry> {
    let mut ranges = merged.iter().peekable();
    let mut kept: Vec<Option<(Entry, bool)>> = Vec::with_capacity(entries.len());
    let mut indexes: HashMap<String, Vec<usize>> = HashMap::new();
    for (index, entry) in entries.into_iter().enumerate() {
        while ranges.peek().is_some_and(|range| range.end <= index) {
            ranges.next();
        }
        let is_merged = ranges.peek().is_some_and(|range| range.contains(&index));
        let earlier = indexes.entry(entry.key.text.clone()).or_default();
        // A merged entry removes all earlier ones, so it is the first of its key.
        let first_was_merged =
            earlier.first().and_then(|at| kept.get(*at)).is_some_and(|slot| matches!(slot, Some((_, true))));
        if is_merged || first_was_merged {
            for at in earlier.drain(..) {
                if let Some(slot) = kept.get_mut(at) {
                    *slot = None;
                }
            }
        }
        earlier.push(kept.len());
        kept.push(Some((entry, is_merged)));
    }
    kept.into_iter().flatten().map(|(entry, _)| entry).collect()
}

/// Returns whether go-yaml's ratio is exceeded: nearly all nodes of small documents may come from aliases, a tenth of very large ones.
fn excessive_aliasing(steps: usize, alias_steps: usize) -> bool {
    const SMALL_STEPS: f64 = 400_000.0;
    const LARGE_STEPS: f64 = 4_000_000.0;
    if alias_steps <= 100 || steps <= 1_000 {
        return false;
    }
    #[expect(clippy::cast_precision_loss, reason = "a ratio; both are far below 2^53")]
    let (steps, alias_steps) = (steps as f64, alias_steps as f64);
    let share = ((steps - SMALL_STEPS) / (LARGE_STEPS - SMALL_STEPS)).clamp(0.0, 1.0);
    alias_steps / steps > 0.99 - 0.89 * share
}

fn too_deep(position: Position, limits: Limits) -> Error {
    Error::too_deep(position, limits.depth_max)
}

fn too_many(position: Position, limits: Limits) -> Error {
    Error::limit(position, format!("the document has more than {} nodes", limits.nodes_max))
}

/// The size of a copy of a node.
struct Size {
    nodes: usize,
    depth: usize,
    bytes: usize,
}

impl Size {
    fn of(node: &Node) -> Self {
        let mut size = Self { nodes: 0, depth: 0, bytes: 0 };
        let mut rest = vec![(node, 0)];
        while let Some((node, depth)) = rest.pop() {
            size.nodes += 1;
            match &node.data {
                Data::String(text) => size.bytes += text.len(),
                Data::Sequence(items) => {
                    size.depth = size.depth.max(depth + 1);
                    rest.extend(items.iter().map(|item| (item, depth + 1)));
                }
                Data::Mapping(entries) => {
                    size.depth = size.depth.max(depth + 1);
                    size.bytes += entries.iter().map(|entry| entry.key.text.len()).sum::<usize>();
                    rest.extend(entries.iter().map(|entry| (&entry.value, depth + 1)));
                }
                Data::Null | Data::Bool(_) | Data::Integer(_) | Data::Unsigned(_) | Data::Float(_) => {}
            }
        }
        size
    }
}
