//! Go's `filepath.Glob`: the pattern is split at its slashes, and each part is matched in the results of the previous one.

use tiphys_go::glob::{MalformedPattern, go_match};
use tiphys_go::path::join;

use super::search::{Ended, Hit, Search};
use super::{GlobError, Place};
use crate::entries::Final;

/// Maximum number of slashes in a pattern; Go calls more malformed.
const SEPARATORS_MAX: usize = 10_000;

/// Passes on the paths that match a clean absolute pattern, in no order.
pub(super) fn glob(
    place: &Place<'_>,
    pattern: &[u8],
    search: &Search<'_>,
    hit: &mut Hit<'_>,
) -> Result<(), Ended> {
    // From the end of the pattern to the part without special characters.
    let mut names: Vec<&[u8]> = Vec::new();
    let mut here = pattern;
    let first = loop {
        if names.len() == SEPARATORS_MAX {
            return Err(GlobError::from(MalformedPattern).into());
        }
        go_match(here, b"").map_err(GlobError::from)?;
        if !is_special(here) {
            // A literal only has to exist; a broken link does.
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
    // Each with the number of remaining names. The last one found is searched first, so that a match is found early and few wait.
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

/// Passes on the matches in one directory. An unreadable directory has none.
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
            outcome = search.name().and_then(|()| Ok(go_match(pattern, name)?)).map(|matches| {
                if matches {
                    hit(join(directory, name));
                }
            });
        }
    });
    // Names that were read before an error count.
    drop(listed);
    outcome
}

fn is_special(pattern: &[u8]) -> bool {
    pattern.iter().any(|byte| b"*?[\\".contains(byte))
}
