//! Charts whose output may differ from run to run: those that call functions for the time, random values, keys or the cluster.

use std::collections::BTreeSet;

use tiphys_api::ApplicationSource;
use tiphys_tree::archive::{self, ArchiveLimits, Intake};
use tiphys_tree::{Depth, Modes, RepoPath, Tree};

/// Functions of Helm's templates. Those for dates use the current time for an argument that is no date.
const FUNCTIONS: [&str; 33] = [
    "ago",
    "bcrypt",
    "date",
    "dateInZone",
    "date_in_zone",
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
    "lookup",
    "mustDateModify",
    "must_date_modify",
    "now",
    "randAlpha",
    "randAlphaNum",
    "randAscii",
    "randBytes",
    "randInt",
    "randNumeric",
    "shuffle",
    "unixEpoch",
    "uuid",
    "uuidv4",
];

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

/// Whether an action of a template has the name of such a function as a word, in a string of the action, too.
fn names_one(content: &[u8]) -> bool {
    let functions = BTreeSet::from(FUNCTIONS.map(str::as_bytes));
    let begins = content.windows(2).enumerate().filter(|(_, two)| *two == b"{{").map(|(at, _)| at + 2);
    begins.map(|begin| action(&content[begin..])).any(|action| {
        let mut words = action.split(|byte| !byte.is_ascii_alphanumeric() && *byte != b'_');
        words.any(|word| functions.contains(word))
    })
}

/// Returns the action at the beginning of a text: up to `}}` outside of its strings.
fn action(text: &[u8]) -> &[u8] {
    let mut quote = None;
    let mut escaped = false;
    for (at, byte) in text.iter().enumerate() {
        match quote {
            Some(open) => {
                let ends = *byte == open || (*byte == b'\n' && open != b'`');
                if ends && !escaped {
                    quote = None;
                }
                escaped = *byte == b'\\' && open != b'`' && !escaped;
            }
            None if matches!(byte, b'"' | b'`') => quote = Some(*byte),
            None if text[at..].starts_with(b"}}") => return &text[..at],
            None => {}
        }
    }
    text
}

#[cfg(test)]
mod tests;
