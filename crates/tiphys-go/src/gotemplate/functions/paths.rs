//! Paths with slashes.

use super::{Function, Type};
use crate::gotemplate::value::Value;

macro_rules! paths {
    ($(($name:literal, $os:literal, $body:expr)),+ $(,)?) => {
        pub(super) const FUNCTIONS: &[Function] = &[$(
            Function::new($name, &[Type::String], |call| Ok($body(&call.string(0)).into())),
            Function::new($os, &[Type::String], |call| Ok($body(&call.string(0)).into())),
        )+];
    };
}

/// A boolean that is the result of a function.
struct Flag(bool);

impl From<Flag> for Value {
    fn from(flag: Flag) -> Self {
        Self::Bool(flag.0)
    }
}

paths!(
    ("base", "osBase", base),
    ("dir", "osDir", dir),
    ("clean", "osClean", clean),
    ("ext", "osExt", ext),
    ("isAbs", "osIsAbs", |path: &[u8]| Flag(path.starts_with(b"/"))),
);

/// Returns the last element.
fn base(path: &[u8]) -> Vec<u8> {
    if path.is_empty() {
        return b".".to_vec();
    }
    let end = path.iter().rposition(|byte| *byte != b'/').map_or(0, |last| last + 1);
    let path = &path[..end];
    let start = path.iter().rposition(|byte| *byte == b'/').map_or(0, |slash| slash + 1);
    if path.is_empty() { b"/".to_vec() } else { path[start..].to_vec() }
}

/// Returns everything before the last element.
fn dir(path: &[u8]) -> Vec<u8> {
    let end = path.iter().rposition(|byte| *byte == b'/').map_or(0, |slash| slash + 1);
    clean(&path[..end])
}

/// Returns the suffix of the last element from its last dot.
fn ext(path: &[u8]) -> Vec<u8> {
    let last = path.iter().rposition(|byte| matches!(byte, b'.' | b'/'));
    last.filter(|last| path[*last] == b'.').map_or_else(Vec::new, |dot| path[dot..].to_vec())
}

/// Returns the shortest equivalent path.
fn clean(path: &[u8]) -> Vec<u8> {
    let is_absolute = path.starts_with(b"/");
    let mut elements: Vec<&[u8]> = Vec::new();
    for element in path.split(|byte| *byte == b'/') {
        match element {
            b"" | b"." => {}
            b".." => match elements.last() {
                Some(last) if *last != b".." => {
                    elements.pop();
                }
                _ if is_absolute => {}
                _ => elements.push(element),
            },
            element => elements.push(element),
        }
    }
    let joined = elements.join(&b'/');
    match (is_absolute, joined.is_empty()) {
        (true, _) => [b"/", &joined[..]].concat(),
        (false, true) => b".".to_vec(),
        (false, false) => joined,
    }
}
