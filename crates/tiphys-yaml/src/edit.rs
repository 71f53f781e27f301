//! Changes of YAML and JSON texts that keep every other byte.
//!
//! A text is read with the place of every part ([`crate::reader::spans`]). The changes are applied to a draft of the object
//! ([`draft`]), which knows for each part whether it is as in the text. What is different becomes patches of bytes ([`emit`]), in
//! the style of what stands around it ([`habits`], [`render`]). The result is read again and compared with the intended value
//! ([`check`]); nothing that differs is ever returned.

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

/// One step on the way to a value.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Step {
    /// To the value of an object's key, letter case included.
    Key(String),
    /// To an item of a list, counted from 0.
    Index(usize),
}

/// What of a text is changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// The value of the first document, which may be empty or not there at all.
    FirstDocument,
    /// The outermost value that begins here, as [`crate::Node::position`] says: a document or a part of one.
    At(Position),
}

/// A change of the target's value. Paths begin at the target.
#[derive(Clone, Debug, PartialEq)]
pub enum Change {
    /// Replaces the value at the path, or adds the last key. Objects that are missing on the way are made, and so are lists whose
    /// item 0 is set; `null` counts as missing. An index that is the list's length appends. A list or an object that replaces one
    /// changes only the parts that differ.
    Set {
        /// To the value.
        path: Vec<Step>,
        /// What it becomes.
        value: NewValue,
    },
    /// Removes a key, if it was written twice both, or an item. What becomes empty is left as `{}` or `[]`.
    Remove {
        /// To the key or the item.
        path: Vec<Step>,
    },
}

/// Why a text was not changed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum EditError {
    /// The text is no YAML.
    #[error("the text cannot be read")]
    Unreadable(#[source] Error),
    /// The text is UTF-16.
    #[error("the text is UTF-16; convert it to UTF-8, then it can be changed")]
    Utf16,
    /// Nothing begins where the target should.
    #[error("no value begins at {0}; read the text again")]
    NoTarget(Position),
    /// A change goes through something that is no object or no list.
    #[error("`{path}`{} is {found}, where {wanted} is needed", place_words(*position))]
    WrongType {
        /// The place in the object.
        path: String,
        /// The place in the text; `None` if an earlier change made it, or changed something in it.
        position: Option<Position>,
        /// What it is, with an article.
        found: &'static str,
        /// What it should be, with an article.
        wanted: &'static str,
    },
    /// What is to be removed, or the item that is to be set, is not there.
    #[error("there is no `{path}`")]
    Missing {
        /// The place in the object.
        path: String,
    },
    /// The change would change something else, or not have the effect, because a value is shared.
    #[error(
        "the anchor `{anchor}` at {position} shares its value with {used}, so that it cannot be changed in one place alone; edit \
         the file by hand"
    )]
    Shared {
        /// The anchor.
        anchor: String,
        /// Where the shared value stands.
        position: Position,
        /// Where it is used.
        used: Position,
    },
    /// The way in which the text is written leaves no room for the change.
    #[error(
        "the object at {position} is written in a way that cannot be changed without changing more; edit it by hand"
    )]
    NotPossible {
        /// Where the target begins.
        position: Position,
    },
}

/// Applies changes, one after the other, to a part of a YAML or JSON text, and gives the new text.
///
/// Every byte outside of what changes stays: comments, order, quoting, blank lines, indentation, line ends, a byte-order mark, a
/// missing final line break, other documents. What is new is written as its neighbours are: in brackets or by indentation,
/// quoted as the text that it replaces if that can hold it, else quoted only where some reader of YAML 1.1 or 1.2 would take it
/// for something else than a text. Comments and empty lines go as follows:
///
/// * The comment behind a value that is replaced stays.
/// * An item or entry that is removed takes the comments behind it, below it and indented deeper, and directly above it and
///   indented as it is (up to the first empty line) along. Of the empty lines on both sides those below it stay.
/// * What is added to a list or an object goes behind the last item or entry, and behind comments directly below that are
///   indented deeper than the list or object; with an empty line before it if there is one between all the others.
///
/// An alias in whose value something changes is replaced by the value, written out. A value with an anchor that is used
/// elsewhere can only be changed if the uses keep their values.
///
/// The result is read again: it has exactly the intended value, and everything else in the text has the value that it had; if
/// that cannot be had, [`EditError::Shared`] or [`EditError::NotPossible`] says so.
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
    // What stands below can keep something from looking well.
    for manner in [Manner::Neat, Manner::Safe] {
        let Ok(patches) = Emitter::new(content, &lines, &tree, manner).patches(&draft) else { continue };
        for result in patches.results(content) {
            // What was a character within the text must not become a byte-order mark.
            let begins_alike = !mark.is_empty() || !result.starts_with('\u{FEFF}');
            if begins_alike && intended.is_value_of(&result, &tree) {
                return Ok([mark, result.as_bytes()].concat());
            }
        }
        touched = patches.ranges();
    }
    Err(shared(&tree, target_id, &draft.changed(), &touched).unwrap_or_else(not_possible))
}

/// The place of the first byte that is no UTF-8.
fn not_utf8(bytes: &[u8], error: Utf8Error) -> Error {
    let before = String::from_utf8_lossy(bytes.get(..error.valid_up_to()).unwrap_or_default());
    let lines = before.matches('\n').count();
    let columns = before.rsplit('\n').next().unwrap_or_default().chars().count();
    Error::at(Position::START.offset(lines, columns), "invalid UTF-8")
}

/// The span of the target; `None` for the first document of a text that has none.
fn locate(tree: &Tree, target: Target) -> Result<Option<Id>, EditError> {
    match target {
        Target::FirstDocument => Ok(tree.documents.first().map(|document| document.root)),
        Target::At(position) => {
            // A key is no value; it is found only if nothing else begins there.
            let found = tree.find(position).ok_or(EditError::NoTarget(position))?;
            Ok(Some(found))
        }
    }
}

/// The first shared value that a change touched: one in which something changes, or whose bytes do.
fn shared(tree: &Tree, target: Option<Id>, changed: &[Id], bytes: &[Range<usize>]) -> Option<EditError> {
    let is_touched = |id: Id| {
        let span = &tree[id];
        changed.contains(&id) || bytes.iter().any(|range| range.start <= span.end && range.end >= span.start)
    };
    // A merge within the target may also hide the new value, or bring one that is to be removed.
    let within = target.map_or(0..0, |id| tree[id].start..tree[id].end);
    let hides = |used: &&Use| used.is_merge && within.contains(&used.offset);
    let used =
        tree.uses.iter().find(|used| is_touched(used.target)).or_else(|| tree.uses.iter().find(hides))?;
    let target = &tree[used.target];
    let anchor = target.anchor.clone().unwrap_or_default();
    Some(EditError::Shared { anchor, position: target.position, used: used.position })
}

/// A path as error texts write it.
fn path_text(path: &[Step]) -> String {
    path.iter().fold(String::new(), |text, step| match step {
        Step::Key(key) if text.is_empty() => key.clone(),
        Step::Key(key) => text + "." + key,
        Step::Index(index) => text + "[" + &index.to_string() + "]",
    })
}

/// ` at 2:6`, or nothing.
fn place_words(position: Option<Position>) -> String {
    position.map(|position| format!(" at {position}")).unwrap_or_default()
}

/// The type of a value in words with an article.
fn type_words(data: &Data) -> &'static str {
    match data {
        Data::Null => "null",
        Data::Bool(_) => "a boolean",
        Data::Integer(_) | Data::Unsigned(_) | Data::Float(_) => "a number",
        Data::String(_) => "a text",
        Data::Sequence(_) => "a list",
        Data::Mapping(_) => "an object",
    }
}

#[cfg(test)]
mod tests;
