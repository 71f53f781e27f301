//! Go's `filepath.Glob`: the pattern is cut at its slashes, and each part is looked for in the hits of the part before.

use super::{GlobError, Place, go_match, go_path};
use crate::entries::Final;

/// Slashes that Go takes in a pattern before it calls it malformed.
const SEPARATORS_MAX: usize = 10_000;

/// The paths that match a cleaned absolute pattern, in no order.
pub(super) fn glob(place: &Place<'_>, pattern: &[u8]) -> Result<Vec<Vec<u8>>, GlobError> {
    // From the end of the pattern to its front, down to the part without special characters.
    let mut names: Vec<&[u8]> = Vec::new();
    let mut here = pattern;
    let mut found = loop {
        if names.len() == SEPARATORS_MAX {
            return Err(GlobError::Pattern);
        }
        go_match::matches(here, b"")?;
        if !is_special(here) {
            // A literal need only be there, and a broken link is there.
            let there = place.kind(here, Final::Keep).is_ok();
            return Ok(if there { vec![here.to_vec()] } else { Vec::new() });
        }
        let name_start = here.iter().rposition(|byte| *byte == b'/').map_or(0, |slash| slash + 1);
        names.push(&here[name_start..]);
        let directory = match &here[..name_start] {
            b"" => &b"."[..],
            b"/" => b"/",
            directory => &directory[..directory.len() - 1],
        };
        if !is_special(directory) {
            break vec![directory.to_vec()];
        }
        here = directory;
    };
    while let Some(name) = names.pop() {
        let mut next = Vec::new();
        for directory in &found {
            look_in(place, directory, name, &mut next)?;
        }
        found = next;
    }
    Ok(found)
}

/// Adds what matches in one directory. Whatever cannot be read has no hits.
fn look_in(
    place: &Place<'_>,
    directory: &[u8],
    pattern: &[u8],
    hits: &mut Vec<Vec<u8>>,
) -> Result<(), GlobError> {
    let mut outcome = Ok(());
    let listed = place.list(directory, &mut |name, _| match go_match::matches(pattern, name) {
        Ok(true) => hits.push(go_path::join(directory, name)),
        Ok(false) => {}
        Err(error) => outcome = Err(error),
    });
    // What could be read before an error counts.
    drop(listed);
    outcome
}

fn is_special(pattern: &[u8]) -> bool {
    pattern.iter().any(|byte| b"*?[\\".contains(byte))
}
