//! Go's `filepath.Glob`: the pattern is cut at its slashes, and each part is looked for in the hits of the part before.

use super::search::{Ended, Hit, Search};
use super::{GlobError, Place, go_match, go_path};
use crate::entries::Final;

/// Slashes that Go takes in a pattern before it calls it malformed.
const SEPARATORS_MAX: usize = 10_000;

/// Gives the paths that match a cleaned absolute pattern, in no order.
pub(super) fn glob(
    place: &Place<'_>,
    pattern: &[u8],
    search: &Search<'_>,
    hit: &mut Hit<'_>,
) -> Result<(), Ended> {
    // From the end of the pattern to its front, down to the part without special characters.
    let mut names: Vec<&[u8]> = Vec::new();
    let mut here = pattern;
    let first = loop {
        if names.len() == SEPARATORS_MAX {
            return Err(GlobError::Pattern.into());
        }
        go_match::matches(here, b"")?;
        if !is_special(here) {
            // A literal need only be there, and a broken link is there.
            let there = place.kind(here, Final::Keep).is_ok();
            return if there && hit(here).is_break() { Err(Ended::Enough) } else { Ok(()) };
        }
        let name_start = here.iter().rposition(|byte| *byte == b'/').map_or(0, |slash| slash + 1);
        names.push(&here[name_start..]);
        let directory = match &here[..name_start] {
            b"" => &b"."[..],
            b"/" => b"/",
            directory => &directory[..directory.len() - 1],
        };
        if !is_special(directory) {
            break directory.to_vec();
        }
        here = directory;
    };
    // Each with how many names there are to match below it. The one found last is looked in first, so that a hit comes early and what
    // waits is no more than is in the directories on the way.
    let mut todo = vec![(first, names.len())];
    while let Some((directory, left)) = todo.pop() {
        let Some(below) = left.checked_sub(1) else {
            if hit(&directory).is_break() {
                return Err(Ended::Enough);
            }
            continue;
        };
        look_in(place, &directory, names[below], search, &mut |path| todo.push((path, below)))?;
    }
    Ok(())
}

/// Gives what matches in one directory. Whatever cannot be read has no hits.
fn look_in(
    place: &Place<'_>,
    directory: &[u8],
    pattern: &[u8],
    search: &Search<'_>,
    hit: &mut dyn FnMut(Vec<u8>),
) -> Result<(), GlobError> {
    search.directory()?;
    let mut outcome = Ok(());
    let listed = place.list(directory, &mut |name, _| {
        if outcome.is_ok() {
            outcome = search.name().and_then(|()| go_match::matches(pattern, name)).map(|matches| {
                if matches {
                    hit(go_path::join(directory, name));
                }
            });
        }
    });
    // What could be read before an error counts.
    drop(listed);
    outcome
}

fn is_special(pattern: &[u8]) -> bool {
    pattern.iter().any(|byte| b"*?[\\".contains(byte))
}
