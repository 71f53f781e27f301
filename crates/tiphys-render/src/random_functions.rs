//! Charts whose output may differ from run to run: those that call functions for the time, random values, keys or the cluster.

use std::collections::BTreeSet;

use tiphys_api::ApplicationSource;
use tiphys_tree::archive::{self, ArchiveLimits, Intake};
use tiphys_tree::{Depth, Modes, RepoPath, Tree};

/// Functions of Helm's templates. Those for dates use the current time for an argument that is no date, and the
/// order of `keys` and `values` is random. Sorted.
const FUNCTIONS: [&str; 38] = [
    "ago",
    "bcrypt",
    "date",
    "dateInZone",
    "date_in_zone",
    "durationRound",
    "encryptAES",
    "env",
    "expandenv",
    "genCA",
    "genCAWithKey",
    "genPrivateKey",
    "genSelfSignedCert",
    "genSelfSignedCertWithKey",
    "genSignedCert",
    "genSignedCertWithKey",
    "getHostByName",
    "htmlDate",
    "htmlDateInZone",
    "htpasswd",
    "keys",
    "lookup",
    "mustDateModify",
    "mustToDate",
    "must_date_modify",
    "now",
    "randAlpha",
    "randAlphaNum",
    "randAscii",
    "randBytes",
    "randInt",
    "randNumeric",
    "shuffle",
    "toDate",
    "unixEpoch",
    "uuid",
    "uuidv4",
    "values",
];

/// Functions of a random order, and the one that makes it another.
const UNORDERED: [&str; 2] = ["keys", "values"];
const SORT: &str = "sortAlpha";

/// The function that evaluates a template in a string, and those that may make the string of parts.
const EVALUATE: &str = "tpl";
const COMPOSE: [&str; 13] = [
    "b32dec",
    "b64dec",
    "cat",
    "join",
    "nospace",
    "print",
    "printf",
    "println",
    "regexReplaceAll",
    "regexReplaceAllLiteral",
    "replace",
    "substr",
    "trunc",
];

/// Escapes of values in YAML and JSON that may hide the beginning of an action, in lower case.
const HIDDEN_BRACES: [&[u8]; 2] = [br"\u007b", br"\x7b"];

/// Maximum bytes of a file that is looked at. A larger one counts as one that calls such a function.
const FILE_BYTES_MAX: u64 = 16 << 20;

/// Limits of a packaged dependency.
const PACKAGE: ArchiveLimits =
    ArchiveLimits { packed_bytes_max: FILE_BYTES_MAX, entries_max: 10_000, bytes_max: 64 << 20 };

/// The first bytes of a packaged dependency.
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// Maximum packages within each other.
const DEPTH_MAX: usize = 4;

/// Whether a chart, its dependencies, its values or the source may call such a function. Any file counts, because templates can evaluate
/// all of them. What cannot be read counts, too.
pub(crate) fn calls_random_functions(trees: &[Tree], source: &ApplicationSource) -> bool {
    let Ok(written) = serde_json::to_vec(source) else { return true };
    if names_one(&written) {
        return true;
    }
    trees.iter().any(|tree| {
        let Ok(files) = tree.files(&RepoPath::default(), Depth::Recursive) else { return true };
        files.iter().any(|path| match tree.read(path, FILE_BYTES_MAX) {
            Ok(content) => content.is_some_and(|content| file_names_one(&content, DEPTH_MAX)),
            Err(_) => true,
        })
    })
}

fn file_names_one(content: &[u8], depth: usize) -> bool {
    if !content.starts_with(&GZIP) {
        return names_one(content);
    }
    let intake = Intake { modes: Modes::Plain, limits: PACKAGE, stop: &|| false };
    match archive::files(&mut &*content, &intake, &|_| true) {
        Ok(files) if depth > 0 => files.values().any(|content| file_names_one(content, depth - 1)),
        Ok(_) | Err(_) => true,
    }
}

/// Whether an action may call such a function: one in a template, or in a string that is evaluated. An action without an end counts.
fn names_one(content: &[u8]) -> bool {
    let mut rest = content;
    while let Some(begin) = rest.windows(2).position(|two| two == b"{{") {
        let action = &rest[begin + 2..];
        match end_of_action(action) {
            Some(end) if !calls_one(&action[..end]) => rest = &action[end..],
            _ => return true,
        }
    }
    HIDDEN_BRACES
        .iter()
        .any(|hidden| content.windows(hidden.len()).any(|part| part.eq_ignore_ascii_case(hidden)))
}

/// Returns the position of the `}}` outside of strings.
fn end_of_action(text: &[u8]) -> Option<usize> {
    let mut quote = None;
    let mut escaped = false;
    for (at, byte) in text.iter().enumerate() {
        match quote {
            Some(open) => {
                if *byte == open && !escaped {
                    quote = None;
                }
                escaped = *byte == b'\\' && open != b'`' && !escaped;
            }
            None if matches!(byte, b'"' | b'`') => quote = Some(*byte),
            None if text[at..].starts_with(b"}}") => return Some(at),
            None => {}
        }
    }
    None
}

/// Whether an action has the name of such a function as a word that is no field and no variable, also in a string; or an escape that may
/// hide one; or evaluates a string that it makes of parts.
fn calls_one(action: &[u8]) -> bool {
    if action.windows(2).any(|two| two[0] == b'\\' && matches!(two[1], b'u' | b'U' | b'x' | b'\n' | b'\r')) {
        return true;
    }
    let words: BTreeSet<&str> = words(action).collect();
    let is_sorted = words.contains(SORT);
    let is_random =
        |word: &str| FUNCTIONS.binary_search(&word).is_ok() && !(is_sorted && UNORDERED.contains(&word));
    words.iter().any(|word| is_random(word))
        || (words.contains(EVALUATE) && COMPOSE.iter().any(|word| words.contains(word)))
}

/// Returns the words of an action. In a value with escapes, a word may begin after the letter of one: `\nnow`.
fn words(action: &[u8]) -> impl Iterator<Item = &str> {
    let is_of_word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    // Each part is a word and the byte after it.
    let parts = action.split_inclusive(move |byte| !is_of_word(byte));
    let words = parts.scan(b' ', move |before, part| {
        let end = part.iter().rposition(is_of_word).map_or(0, |last| last + 1);
        let word = std::str::from_utf8(&part[..end]).unwrap_or_default();
        Some((std::mem::replace(before, part.last().copied().unwrap_or_default()), word))
    });
    words
        .filter(|(before, word)| !matches!(before, b'.' | b'$') && !word.is_empty())
        .flat_map(|(before, word)| [word, if before == b'\\' { &word[1..] } else { word }])
}

#[cfg(test)]
mod tests;
