//! Edits of YAML and JSON texts that preserve every other byte.
//!
//! A text is parsed with the byte range of every part ([`crate::reader::spans`]). The changes are applied to a draft of the object
//! ([`draft`]), which tracks for each part whether it is unchanged. Differences become byte patches ([`emit`]) in the style of the
//! surrounding text ([`habits`], [`render`]). The result is parsed again and compared with the intended value ([`check`]). A result that
//! differs is never returned.

mod check;
mod draft;
mod emit;
mod habits;
mod lines;
mod patch;
mod render;
mod value;

use std::ops::Range;
use std::str::Utf8Error;

use crate::reader::spans::{Id, Tree, Use};
use crate::text::{is_utf16, without_bom};
use crate::{Data, Error, Position};

use check::Intended;
use draft::Draft;
use emit::Emitter;
use habits::Manner;
use lines::Lines;

pub use value::NewValue;

/// One step of a path to a value.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Step {
    /// The value of an object's key. Case-sensitive.
    Key(String),
    /// An item of a list, from 0.
    Index(usize),
}

/// The part of a text that is edited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// The value of the first document, which may be empty or missing.
    FirstDocument,
    /// The outermost value with this [`crate::Node::position`]: a document or a part of one.
    At(Position),
}

/// A change of the target's value. Paths begin at the target.
#[derive(Clone, Debug, PartialEq)]
pub enum Change {
    /// Replaces the value at the path, or adds the last key. Missing objects on the path are created, and so are lists whose item 0 is set;
    /// `null` counts as missing. An index equal to the length of the list appends. If a list or object replaces another one, only the parts
    /// that differ change.
    Set {
        /// Path to the value.
        path: Vec<Step>,
        /// The new value.
        value: NewValue,
    },
    /// Removes a key, with its duplicates, or an item. An object or list that becomes empty is written as `{}` or `[]`.
    Remove {
        /// Path to the key or item.
        path: Vec<Step>,
    },
}

/// The reason why a text cannot be edited.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum EditError {
    /// Invalid YAML.
    #[error("the text cannot be parsed")]
    Unreadable(#[source] Error),
    /// The text is UTF-16.
    #[error("the text is UTF-16 and cannot be changed; convert it to UTF-8")]
    Utf16,
    /// No value begins at the position of the target.
    #[error("no value begins at {0}; parse the text again")]
    NoTarget(Position),
    /// A path goes through a value that is not an object or list.
    #[error("`{path}`{} is {found}, expected {wanted}", place_words(*position))]
    WrongType {
        /// The path of the value.
        path: String,
        /// Its position in the text; `None` if an earlier change created or changed it.
        position: Option<Position>,
        /// The type that was found, with an article.
        found: &'static str,
        /// The required type, with an article.
        wanted: &'static str,
    },
    /// The key or item to remove, or the item to set, does not exist.
    #[error("`{path}` not found")]
    Missing {
        /// The path of the key or item.
        path: String,
    },
    /// The change would also change other values, or have no effect, because of an anchor or a merge.
    #[error(
        "the anchor `{anchor}` at {position} shares its value with {used}, so that it cannot be changed in one place alone; edit \
         the file by hand"
    )]
    Shared {
        /// The anchor.
        anchor: String,
        /// Position of the shared value.
        position: Position,
        /// Position of an alias to it.
        used: Position,
    },
    /// The change is not possible in the style of the text.
    #[error(
        "the object at {position} is written in a way that cannot be changed without changing more; edit it by hand"
    )]
    NotPossible {
        /// Position of the target.
        position: Position,
    },
}

/// Applies changes in order to a part of a YAML or JSON text, and returns the new text.
///
/// Every byte outside of the changed parts is preserved: comments, order, quotes, blank lines, indentation, line ends, a byte-order mark, a
/// missing final line break, other documents. New parts follow their neighbours: in flow or block style, quoted like the replaced scalar if
/// possible, else quoted only where a YAML 1.1 or 1.2 parser would not read a string. Comments and empty lines are treated as follows:
///
/// * The comment after a replaced value stays.
/// * A removed item or entry takes these comments along: after it, below it with deeper indentation, and directly above it with the same
///   indentation, up to the first empty line. Of the empty lines on both sides, those below stay.
/// * An addition to a list or an object follows its last item or entry and comments directly below that are indented deeper than the list
///   or object. An empty line precedes it if one is between all the others.
///
/// An alias whose value changes is replaced by the value, written out. A value with an anchor that is used elsewhere can only be changed if
/// its aliases keep their values.
///
/// The result is parsed again: it has exactly the intended value, and the rest of the text has its old value. If that is impossible, the
/// error is [`EditError::Shared`] or [`EditError::NotPossible`].
pub fn edit(text: &[u8], target: Target, changes: &[Change]) -> Result<Vec<u8>, EditError> {
    if is_utf16(text) {
        return Err(EditError::Utf16);
    }
    let content = without_bom(text);
    let mark = text.get(..text.len() - content.len()).unwrap_or_default();
    let content =
        std::str::from_utf8(content).map_err(|error| EditError::Unreadable(not_utf8(content, error)))?;
    let tree = Tree::read(content).map_err(EditError::Unreadable)?;
    let target_id = locate(&tree, target)?;
    let mut intended = Intended::new(&tree, target)?;
    let node = intended.target().clone();
    let mut draft = Draft::of(target_id.map(|_| &node), target_id);
    for change in changes {
        draft.apply(change, &tree).map_err(draft::Refusal::into_error)?;
    }
    intended.apply(changes);
    let not_possible = || {
        let position = target_id.map_or(Position::START, |id| tree[id].position);
        EditError::NotPossible { position }
    };
    let lines = Lines::of(content);
    let mut touched = Vec::new();
    // The content below may not allow the preferred style.
    for manner in [Manner::Neat, Manner::Safe] {
        let Ok(patches) = Emitter::new(content, &lines, &tree, manner).patches(&draft) else { continue };
        for result in patches.results(content) {
            // U+FEFF inside the text must not become a byte-order mark.
            let begins_alike = !mark.is_empty() || !result.starts_with('\u{FEFF}');
            if begins_alike && intended.is_value_of(&result, &tree) {
                return Ok([mark, result.as_bytes()].concat());
            }
        }
        touched = patches.ranges();
    }
    Err(shared(&tree, target_id, &draft.changed(), &touched).unwrap_or_else(not_possible))
}

/// Returns the error for the first invalid byte.
fn not_utf8(bytes: &[u8], error: Utf8Error) -> Error {
    let before = String::from_utf8_lossy(bytes.get(..error.valid_up_to()).unwrap_or_default());
    let lines = before.matches('\n').count();
    let columns = before.rsplit('\n').next().unwrap_or_default().chars().count();
    Error::at(Position::START.offset(lines, columns), "invalid UTF-8")
}

/// Returns the span of the target; `None` for the first document of an empty text.
fn locate(tree: &Tree, target: Target) -> Result<Option<Id>, EditError> {
    match target {
        Target::FirstDocument => Ok(tree.documents.first().map(|document| document.root)),
        Target::At(position) => {
            // Spans of keys also match, but a value at the same position comes first.
            let found = tree.find(position).ok_or(EditError::NoTarget(position))?;
            Ok(Some(found))
        }
    }
}

/// Returns the error for the first shared value that a change affects: in its value or in its bytes.
fn shared(tree: &Tree, target: Option<Id>, changed: &[Id], bytes: &[Range<usize>]) -> Option<EditError> {
    let is_touched = |id: Id| {
        let span = &tree[id];
        changed.contains(&id) || bytes.iter().any(|range| range.start <= span.end && range.end >= span.start)
    };
    // A merge in the target may also hide the new value, or provide one that was removed.
    let within = target.map_or(0..0, |id| tree[id].start..tree[id].end);
    let hides = |used: &&Use| used.is_merge && within.contains(&used.offset);
    let used =
        tree.uses.iter().find(|used| is_touched(used.target)).or_else(|| tree.uses.iter().find(hides))?;
    let target = &tree[used.target];
    let anchor = target.anchor.clone().unwrap_or_default();
    Some(EditError::Shared { anchor, position: target.position, used: used.position })
}

/// Formats a path for messages.
fn path_text(path: &[Step]) -> String {
    path.iter().fold(String::new(), |text, step| match step {
        Step::Key(key) if text.is_empty() => key.clone(),
        Step::Key(key) => text + "." + key,
        Step::Index(index) => text + "[" + &index.to_string() + "]",
    })
}

/// Returns ` at 2:6`, or an empty string.
fn place_words(position: Option<Position>) -> String {
    position.map(|position| format!(" at {position}")).unwrap_or_default()
}

/// Returns the type of a value with an article.
fn type_words(data: &Data) -> &'static str {
    match data {
        Data::Null => "null",
        Data::Bool(_) => "a boolean",
        Data::Integer(_) | Data::Unsigned(_) | Data::Float(_) => "a number",
        Data::String(_) => "a string",
        Data::Sequence(_) => "a list",
        Data::Mapping(_) => "an object",
    }
}

#[cfg(test)]
mod tests;
