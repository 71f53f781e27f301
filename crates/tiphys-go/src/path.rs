//! Paths with slashes as Go's package [`path`](https://pkg.go.dev/path) changes them, on bytes.

/// Returns the last element; `.` for an empty path.
pub fn base(path: &[u8]) -> Vec<u8> {
    if path.is_empty() {
        return b".".to_vec();
    }
    let end = path.iter().rposition(|byte| *byte != b'/').map_or(0, |last| last + 1);
    let path = &path[..end];
    let start = path.iter().rposition(|byte| *byte == b'/').map_or(0, |slash| slash + 1);
    if path.is_empty() { b"/".to_vec() } else { path[start..].to_vec() }
}

/// Returns everything up to the last slash, cleaned; `.` if there is none.
pub fn directory(path: &[u8]) -> Vec<u8> {
    let end = path.iter().rposition(|byte| *byte == b'/').map_or(0, |slash| slash + 1);
    clean(&path[..end])
}

/// Returns the suffix of the last element from its last dot.
pub fn extension(path: &[u8]) -> Vec<u8> {
    let last = path.iter().rposition(|byte| matches!(byte, b'.' | b'/'));
    last.filter(|last| path[*last] == b'.').map_or_else(Vec::new, |dot| path[dot..].to_vec())
}

/// Returns the shortest equivalent path if there are no links; `.` for an empty one.
pub fn clean(path: &[u8]) -> Vec<u8> {
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

/// Joins two paths with a slash and cleans the result; an empty one is omitted.
pub fn join(first: &[u8], second: &[u8]) -> Vec<u8> {
    match (first, second) {
        ([], []) => Vec::new(),
        ([], path) | (path, []) => clean(path),
        (first, second) => clean(&[first, b"/", second].concat()),
    }
}
