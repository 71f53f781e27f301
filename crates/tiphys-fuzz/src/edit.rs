//! Any bytes are changed in any way or refused; a result has exactly the intended values.

use serde_json::{Value, json};
use tiphys_yaml::{Change, Node, Step, Target, edit, read_document, read_documents};

/// Bytes that say what is changed; the text follows.
const CHOICES: usize = 12;

/// Decisions made from bytes.
struct Choices<'a>(std::slice::Iter<'a, u8>);

impl Choices<'_> {
    fn next(&mut self, count: usize) -> usize {
        usize::from(self.0.next().copied().unwrap_or_default()) % count.max(1)
    }
}

/// The way to some part of a value, as steps and as a JSON pointer.
fn way(choices: &mut Choices<'_>, mut value: &Value) -> (Vec<Step>, String) {
    let mut path = Vec::new();
    let mut pointer = String::new();
    for _ in 0..choices.next(5) {
        match value {
            Value::Object(map) if !map.is_empty() => {
                let (key, inner) = map.iter().nth(choices.next(map.len())).expect("it has keys");
                pointer = format!("{pointer}/{}", key.replace('~', "~0").replace('/', "~1"));
                path.push(Step::Key(key.clone()));
                value = inner;
            }
            Value::Array(items) if !items.is_empty() => {
                let index = choices.next(items.len());
                pointer = format!("{pointer}/{index}");
                path.push(Step::Index(index));
                value = &items[index];
            }
            _ => break,
        }
    }
    (path, pointer)
}

/// A change, applied to the value.
fn change(choices: &mut Choices<'_>, root: &mut Value) -> Change {
    let new = [
        json!("yes"),
        json!("one\ntwo\n"),
        json!([{"name": "a", "string": "1"}]),
        json!({"k": {"l": []}}),
        json!(""),
        json!(null),
        json!(" a: #b\u{85}\u{7f}\u{2028}'\""),
        json!(1.5),
    ][choices.next(8)]
    .clone();
    let (mut path, pointer) = way(choices, root);
    let value = root.pointer_mut(&pointer).expect("it was there");
    match (choices.next(3), value) {
        (0, Value::Object(map)) if !map.is_empty() => {
            let key = map.keys().nth(choices.next(map.len())).expect("it has keys").clone();
            map.remove(&key);
            path.push(Step::Key(key));
            Change::Remove { path }
        }
        (0, Value::Array(items)) if !items.is_empty() => {
            let index = choices.next(items.len());
            items.remove(index);
            path.push(Step::Index(index));
            Change::Remove { path }
        }
        (1, Value::Object(map)) => {
            map.insert("new".to_owned(), new.clone());
            path.push(Step::Key("new".to_owned()));
            Change::Set { path, value: new.into() }
        }
        (1, Value::Array(items)) => {
            path.push(Step::Index(items.len()));
            items.push(new.clone());
            Change::Set { path, value: new.into() }
        }
        (_, value) => {
            *value = new.clone();
            Change::Set { path, value: new.into() }
        }
    }
}

/// The first bytes say what is changed.
pub(crate) fn body(bytes: &[u8]) {
    let (choices, text) = bytes.split_at(bytes.len().min(CHOICES));
    let Ok(first) = read_document(text) else { return };
    let Ok(before) = read_documents(text) else {
        assert!(edit(text, Target::FirstDocument, &[]).is_err());
        return;
    };
    let mut intended = first.as_ref().map_or(Value::Null, Node::to_value);
    let mut choices = Choices(choices.iter());
    let count = 1 + choices.next(3);
    let changes: Vec<Change> = (0..count).map(|_| change(&mut choices, &mut intended)).collect();
    if let Ok(after) = edit(text, Target::FirstDocument, &changes) {
        let read = read_document(&after).expect("a result can be read");
        assert_eq!(read.as_ref().map_or(Value::Null, Node::to_value), intended);
        // The first document may be null before or after, and is left out then.
        let others = |documents: &[Node], has_first: bool| -> Vec<Value> {
            documents.iter().skip(usize::from(has_first)).map(Node::to_value).collect()
        };
        let documents = read_documents(&after).expect("a result can be read");
        assert_eq!(others(&documents, read.is_some()), others(&before, first.is_some()));
    }
}
