//! "Did you mean": the known names that are nearest to an unknown one.

/// The known names nearest to `name`, nearest first, at most [`SUGGESTIONS_MAX`]; none if nothing is near.
///
/// Near means: at most a third of the longer name's characters have to be inserted, removed, replaced or swapped with their neighbour
/// (one at least), not counting the parts between dots with which both begin: of `web.port` and `web.host` little is alike. Letter case and the difference between `-`, `_` and `.` count for nothing. Of equal distance the earlier name in
/// byte order comes first, so that the answer does not depend on the order of `known`.
pub fn suggest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let mut near: Vec<(usize, &'a str)> = known
        .into_iter()
        .filter(|candidate| *candidate != name)
        .filter_map(|candidate| {
            let beginning = common_parts(name, candidate);
            let (wanted, candidate_folded) = (folded(&name[beginning..]), folded(&candidate[beginning..]));
            let allowed = (wanted.len().max(candidate_folded.len()) / 3).max(1);
            if wanted.len().abs_diff(candidate_folded.len()) > allowed {
                return None;
            }
            let distance = distance(&wanted, &candidate_folded);
            (distance <= allowed).then_some((distance, candidate))
        })
        .collect();
    near.sort_unstable();
    near.dedup();
    near.truncate(SUGGESTIONS_MAX);
    near.into_iter().map(|(_, candidate)| candidate).collect()
}

/// How many names [`suggest`] gives at most.
pub const SUGGESTIONS_MAX: usize = 3;

/// Longest name that is compared, in characters; longer ones are cut, which keeps the work of one comparison small.
const COMPARED_CHARS_MAX: usize = 128;

/// Bytes of the parts with which both names begin, each with the dot behind it.
fn common_parts(name: &str, other: &str) -> usize {
    let parts = name.split_inclusive('.').zip(other.split_inclusive('.'));
    parts.take_while(|(one, other)| one == other && one.ends_with('.')).map(|(part, _)| part.len()).sum()
}

fn folded(name: &str) -> Vec<char> {
    name.chars()
        .take(COMPARED_CHARS_MAX)
        .map(|c| match c {
            '_' | '.' => '-',
            c => c.to_ascii_lowercase(),
        })
        .collect()
}

/// Edit distance with swaps of neighbours (optimal string alignment).
fn distance(a: &[char], b: &[char]) -> usize {
    let mut before_last: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for (i, ca) in a.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, cb) in b.iter().enumerate() {
            let mut cost = (last[j] + usize::from(ca != cb)).min(last[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && *ca == b[j - 1] && a[i - 1] == *cb {
                cost = cost.min(before_last[j - 1] + 1);
            }
            row.push(cost);
        }
        before_last = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

#[cfg(test)]
mod tests;
