//! Redaction: removes paths of this machine and credentials from messages.
//!
//! Errors contain paths, and output of other programs can contain anything. Helm's output is redacted when it is read, for secrets that
//! only the caller knows. Each failure of a command is redacted once more as a whole.

use std::path::{Path, PathBuf};

use tiphys_model::access::{credentials_end, redact_url};

use crate::exact_value::{ExactValue, quotations};
use crate::home::Home;
use crate::template::{csv_text, file_text};

/// Replaces the directory of a repository, as in Argo CD.
const SOURCE_PLACEHOLDER: &str = "<path to cached source>";

/// Replaces helm's home.
pub(crate) const HOME_PLACEHOLDER: &str = "<helm-home>";

/// Replaces the file of inline values, as in Argo CD.
pub(crate) const INLINE_PLACEHOLDER: &str = "<temp file with values from source.helm.values/valuesObject>";

/// Options with a secret value.
const SECRET_OPTIONS: [&str; 2] = ["--username", "--password"];

/// Replaces a secret.
pub(crate) const REDACTED: &str = "******";

/// Minimum length of a password or value that is redacted outside URLs. Shorter ones occur in words.
const SECRET_CHARS_MIN: usize = 6;

/// Minimum length of an exact value, or one of its lines, that is redacted.
const EXACT_CHARS_MIN: usize = 4;

/// Start of the line that replaces the middle of output above its limit.
const CUT: &str = "\n[… ";

/// Redacts paths and credentials.
#[derive(Clone, Debug, Default)]
pub(crate) struct Redactor {
    /// Paths and their replacements.
    paths: Vec<(PathBuf, &'static str)>,
    /// Secret parts of URLs and their replacements.
    logins: Vec<(String, String)>,
}

impl Redactor {
    /// Redacts directories of sources.
    pub(crate) fn new<'a>(folders: impl IntoIterator<Item = &'a Path>) -> Self {
        let paths = folders.into_iter().map(|folder| (folder.to_path_buf(), SOURCE_PLACEHOLDER));
        Self { paths: paths.collect(), logins: Vec::new() }
    }

    /// Also redacts credentials and queries of URLs that are arguments of helm, in all notations of such an argument.
    pub(crate) fn with_urls<'a>(mut self, urls: impl IntoIterator<Item = &'a str>) -> Self {
        let written = [str::to_owned, csv_text, file_text];
        for part in urls.into_iter().flat_map(secret_parts) {
            let masked = part.strip_prefix('/').map_or_else(|| "?***".to_owned(), redacted_credentials);
            let shown = written.iter().map(|written| (written(part), written(&masked)));
            self.logins.extend(shown.filter(|(part, masked)| part != masked));
        }
        self
    }

    /// Also redacts the files of a run. Copies of the repository are shown as the repository.
    pub(crate) fn with_home(mut self, home: &Home) -> Self {
        let folder = home.path();
        // Programs resolve links in the path of their directory.
        let real = folder.canonicalize().unwrap_or_else(|_| folder.to_path_buf());
        for folder in [folder, &real] {
            self.paths.push((folder.to_path_buf(), HOME_PLACEHOLDER));
            self.paths.push((folder.join(Home::INLINE_VALUES), INLINE_PLACEHOLDER));
            self.paths.extend(Home::TREES.map(|tree| (folder.join(tree), SOURCE_PLACEHOLDER)));
        }
        self
    }

    /// Redacts credentials, then paths, longer ones first. The root of the file system and relative paths are not replaced.
    pub(crate) fn redact(&self, text: &str) -> String {
        let is_worth = |path: &Path| path.is_absolute() && path.parent().is_some();
        let mut known: Vec<(&str, &str)> = self
            .paths
            .iter()
            .filter(|(path, _)| is_worth(path))
            .filter_map(|(path, shown)| Some((path.to_str()?, *shown)))
            .collect();
        known.sort_by_key(|(path, _)| std::cmp::Reverse(path.len()));
        let text =
            self.logins.iter().fold(text.to_owned(), |text, (part, masked)| text.replace(part, masked));
        known.iter().fold(text, |text, (path, shown)| text.replace(path, shown))
    }
}

/// Returns the secret parts of a URL: `/user:password@`, and `?` with the query. One slash is enough, since the second is missing where a
/// URL was taken for a path.
fn secret_parts(url: &str) -> impl Iterator<Item = &str> {
    const SLASHES: &str = "//";
    let login = url.find(SLASHES).and_then(|at| {
        let begin = at + SLASHES.len();
        Some((begin - 1, begin + credentials_end(&url[begin..])? + 1))
    });
    let rest = &url[login.map_or(0, |(_, end)| end)..];
    let query = rest.find('?').map(|at| &rest[at..]).filter(|query| query.len() > 1);
    login.map(|(begin, end)| &url[begin..end]).into_iter().chain(query)
}

/// Redacts `/user:password@`.
fn redacted_credentials(login: &str) -> String {
    let masked = redact_url(&format!("https://{login}"));
    masked.strip_prefix("https:/").unwrap_or(&masked).to_owned()
}

/// Redacts these values and exact values in the output of another program.
pub(crate) fn without_values(text: &str, values: &[String], exact: &[ExactValue]) -> String {
    let exact = quotations(exact);
    let exact: Vec<&str> =
        exact.iter().map(String::as_str).filter(|one| is_long(one, EXACT_CHARS_MIN)).collect();
    let text = without_cut(text, &exact);
    let values = values.iter().map(String::as_str).filter(|one| is_long(one, SECRET_CHARS_MIN));
    redacted(&text, values.chain(exact).collect())
}

/// Redacts the secrets, the longest first: one may contain another.
fn redacted(text: &str, mut secrets: Vec<&str>) -> String {
    secrets.sort_by_key(|one| std::cmp::Reverse(one.len()));
    secrets.into_iter().fold(text.to_owned(), |text, secret| text.replace(secret, REDACTED))
}

fn is_long(text: &str, chars_min: usize) -> bool {
    text.chars().nth(chars_min - 1).is_some()
}

/// Redacts the parts of secrets on both sides of where output above its limit was cut.
fn without_cut(text: &str, secrets: &[&str]) -> String {
    let Some(at) = text.find(CUT) else { return text.to_owned() };
    let (head, cut) = text.split_at(at);
    let (cut, tail) = cut.split_at(CUT.len() + cut[CUT.len()..].find('\n').map_or(0, |at| at + 1));
    // Half of a character is replaced by this one.
    let head = head.trim_end_matches('\u{fffd}');
    let tail = tail.trim_start_matches('\u{fffd}');
    let lengths = |secret: &str, text: &str| (EXACT_CHARS_MIN..=secret.len().min(text.len())).rev();
    let of_head = |secret: &&str| {
        lengths(secret, head).find(|length| secret.get(..*length).is_some_and(|part| head.ends_with(part)))
    };
    let of_tail = |secret: &&str| {
        let part = |length: &usize| secret.get(secret.len() - length..);
        lengths(secret, tail).find(|length| part(length).is_some_and(|part| tail.starts_with(part)))
    };
    let redacted = |length: Option<usize>| (length.unwrap_or(0), length.map_or("", |_| REDACTED));
    let (head_bytes, head_end) = redacted(secrets.iter().filter_map(of_head).max());
    let (tail_bytes, tail_start) = redacted(secrets.iter().filter_map(of_tail).max());
    [&head[..head.len() - head_bytes], head_end, cut, tail_start, &tail[tail_bytes..]].concat()
}

/// Redacts the values of secret options in a command or its output.
pub(crate) fn without_secrets(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    loop {
        let found = SECRET_OPTIONS
            .iter()
            .filter_map(|option| {
                let at =
                    rest.match_indices(option).find(|(at, _)| rest[at + option.len()..].starts_with(' '))?.0;
                Some((at, at + option.len() + 1))
            })
            .min();
        let Some((_, value)) = found else { break };
        out.push_str(&rest[..value]);
        out.push_str(REDACTED);
        let end = rest[value..].find(' ').map_or(rest.len(), |length| value + length);
        rest = &rest[end..];
    }
    out.push_str(rest);
    out
}

/// Removes the placeholder of a repository's directory, so that paths begin in the repository.
pub(crate) fn without_placeholder(text: &str) -> String {
    text.replace(&format!("{SOURCE_PLACEHOLDER}/"), "")
}

/// Replaces each run of `--api-versions VERSION `, as Argo CD does: the version ends at the next space.
pub(crate) fn without_api_versions(text: &str) -> String {
    const OPTION: &str = "--api-versions ";
    let one = |text: &str| -> Option<usize> {
        let version = text.strip_prefix(OPTION)?.find(' ').filter(|length| *length > 0)?;
        Some(OPTION.len() + version + 1)
    };
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(OPTION) {
        let (before, run) = rest.split_at(at);
        out.push_str(before);
        let mut end = 0;
        while let Some(length) = one(&run[end..]) {
            end += length;
        }
        if end == 0 {
            out.push_str(OPTION);
            end = OPTION.len();
        } else {
            out.push_str("<api versions removed> ");
        }
        rest = &run[end..];
    }
    out.push_str(rest);
    out
}

/// Redacts URLs in the output of another program.
pub(crate) fn redact_urls(text: &str) -> String {
    let word = |piece: &str| {
        let word = piece.trim_end_matches(char::is_whitespace);
        let rest = &piece[word.len()..];
        [&if word.contains("://") { redact_url(word) } else { word.to_owned() }, rest].concat()
    };
    text.split_inclusive(char::is_whitespace).map(word).collect()
}

#[cfg(test)]
mod tests;
