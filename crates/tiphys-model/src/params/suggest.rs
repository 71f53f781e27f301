//! "Did you mean" suggestions: the known names that end in an unknown one, and those most similar to it.

/// Returns the known names that end in a dot and `name`, at most ten, and then those most similar to `name`, the most similar
/// first, at most [`SUGGESTIONS_MAX`].
///
/// Names are similar if their edit distance, with transpositions, is at most a third of the longer name (at least one). Common leading
/// parts between dots are not counted: `web.port` and `web.host` differ much. Letter case and the difference between `-`, `_` and `.` are
/// ignored. Ties are sorted by byte order, so the result does not depend on the order of `known`.
pub fn suggest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let is_ending =
        |candidate: &str| candidate.strip_suffix(name).is_some_and(|before| before.ends_with('.'));
    let known = known.into_iter().filter(|candidate| *candidate != name && !name.is_empty());
    let (mut endings, others): (Vec<&str>, Vec<&str>) = known.partition(|candidate| is_ending(candidate));
    endings.sort_unstable();
    endings.dedup();
    endings.truncate(ENDINGS_MAX);
    let mut near: Vec<(usize, &'a str)> = others
        .into_iter()
        .filter_map(|candidate| {
            let prefix = common_prefix(name, candidate);
            let (wanted, candidate_folded) = (folded(&name[prefix..]), folded(&candidate[prefix..]));
            let (length, other) = (wanted.chars().count(), candidate_folded.chars().count());
            let allowed = (length.max(other) / 3).max(1);
            if length.abs_diff(other) > allowed {
                return None;
            }
            let distance = strsim::osa_distance(&wanted, &candidate_folded);
            (distance <= allowed).then_some((distance, candidate))
        })
        .collect();
    near.sort_unstable();
    near.dedup();
    near.truncate(SUGGESTIONS_MAX);
    endings.into_iter().chain(near.into_iter().map(|(_, candidate)| candidate)).collect()
}

/// Maximum number of similar names that [`suggest`] returns.
pub const SUGGESTIONS_MAX: usize = 3;

/// Maximum number of names that end in the unknown one.
const ENDINGS_MAX: usize = 10;

/// Maximum length of compared names in characters; longer names are truncated to limit the cost of a comparison.
const COMPARED_CHARS_MAX: usize = 128;

/// Returns the length in bytes of the common leading parts, including the dot after each.
fn common_prefix(name: &str, other: &str) -> usize {
    let parts = name.split_inclusive('.').zip(other.split_inclusive('.'));
    parts.take_while(|(one, other)| one == other && one.ends_with('.')).map(|(part, _)| part.len()).sum()
}

fn folded(name: &str) -> String {
    name.chars()
        .take(COMPARED_CHARS_MAX)
        .map(|c| match c {
            '_' | '.' => '-',
            c => c.to_ascii_lowercase(),
        })
        .collect()
}

#[cfg(test)]
mod tests;
