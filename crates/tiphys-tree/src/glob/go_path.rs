//! Lexical path functions of Go's `path` package, on bytes.

use tiphys_go::glob::first_char;

/// Returns the shortest equivalent path if there are no links; `.` for an empty one.
pub(crate) fn clean(path: &[u8]) -> Vec<u8> {
    let rooted = path.starts_with(b"/");
    let mut parts: Vec<&[u8]> = Vec::new();
    for part in path.split(|byte| *byte == b'/') {
        match part {
            b"" | b"." => {}
            b".." if parts.last().is_some_and(|last| *last != b"..") => {
                parts.pop();
            }
            b".." if rooted => {}
            _ => parts.push(part),
        }
    }
    let mut clean = if rooted { vec![b'/'] } else { Vec::new() };
    clean.extend(parts.join(&b'/'));
    if clean.is_empty() { b".".to_vec() } else { clean }
}

/// Joins two paths with a slash and cleans the result; an empty one is omitted.
pub(crate) fn join(first: &[u8], second: &[u8]) -> Vec<u8> {
    match (first, second) {
        ([], []) => Vec::new(),
        ([], path) | (path, []) => clean(path),
        (first, second) => clean(&[first, b"/", second].concat()),
    }
}

/// Returns everything up to the last slash, cleaned; `.` if there is none.
pub(crate) fn directory(path: &[u8]) -> Vec<u8> {
    let end = path.iter().rposition(|byte| *byte == b'/').map_or(0, |slash| slash + 1);
    clean(&path[..end])
}

/// Returns the characters of a string as in Go's `range`.
pub(super) fn chars(mut bytes: &[u8]) -> impl Iterator<Item = char> {
    std::iter::from_fn(move || {
        let (first, length) = first_char(bytes)?;
        bytes = &bytes[length..];
        Some(first)
    })
}
