//! Texts as people may see them: without paths of this machine, and without what opens repositories.
//!
//! Errors say where something is with the paths that they have, and other programs say what they like. All of it goes through here before
//! anybody sees it: texts of helm where they come in, for what only they have, and each failure of a command once more as a whole.

use std::path::{Path, PathBuf};

use tiphys_access::Secret;
use tiphys_access::{credentials_end, redact_url};

use crate::home::Home;
use crate::template::{csv_text, file_text};

/// What stands for the folder of a repository in texts, as in Argo CD's.
const SOURCE_PLACEHOLDER: &str = "<path to cached source>";

/// What stands for helm's home in texts.
const HOME_PLACEHOLDER: &str = "<helm-home>";

/// What stands for the file of inline values in texts, as in Argo CD's.
pub(crate) const INLINE_PLACEHOLDER: &str = "<temp file with values from source.helm.values/valuesObject>";

/// Options whose value is not shown.
const SECRET_OPTIONS: [&str; 2] = ["--username", "--password"];

/// What stands for a secret.
pub(crate) const MASK: &str = "******";

/// Characters of a password or value that is looked for in texts. A shorter one would be found in words.
const SECRET_CHARS_MIN: usize = 6;

/// What is left out of texts.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cleaner {
    /// Paths, and what stands in their place.
    paths: Vec<(PathBuf, &'static str)>,
    /// Parts of URLs that open something, and what stands in their place.
    logins: Vec<(String, String)>,
}

impl Cleaner {
    /// Leaves out folders of sources.
    pub(crate) fn of_sources<'a>(folders: impl IntoIterator<Item = &'a Path>) -> Self {
        let paths = folders.into_iter().map(|folder| (folder.to_path_buf(), SOURCE_PLACEHOLDER));
        Self { paths: paths.collect(), logins: Vec::new() }
    }

    /// Leaves out logins and queries of URLs that helm gets as arguments, too, in each way in which such an argument is written.
    pub(crate) fn with_urls<'a>(mut self, urls: impl IntoIterator<Item = &'a str>) -> Self {
        let written = [str::to_owned, csv_text, file_text];
        for part in urls.into_iter().flat_map(secret_parts) {
            let masked = part.strip_prefix('/').map_or_else(|| "?***".to_owned(), masked_login);
            let shown = written.iter().map(|written| (written(part), written(&masked)));
            self.logins.extend(shown.filter(|(part, masked)| part != masked));
        }
        self
    }

    /// Leaves out the files of a run, too. What looks like the repository is shown as the repository.
    pub(crate) fn with_home(mut self, home: &Home) -> Self {
        let folder = home.path();
        // Programs follow the links on the way to their folder.
        let real = folder.canonicalize().unwrap_or_else(|_| folder.to_path_buf());
        for folder in [folder, &real] {
            self.paths.push((folder.to_path_buf(), HOME_PLACEHOLDER));
            self.paths.push((folder.join(Home::INLINE_VALUES), INLINE_PLACEHOLDER));
            self.paths.extend(Home::TREES.map(|tree| (folder.join(tree), SOURCE_PLACEHOLDER)));
        }
        self
    }

    /// A text with logins masked and paths replaced, longer ones first. The root of the file system and relative paths are left alone.
    pub(crate) fn cleaned(&self, text: &str) -> String {
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

/// What of a URL may open something: `/user:password@`, and `?` with what follows. One slash is enough: where a URL was taken for a path,
/// there is no second one.
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

/// A login before the host of a URL, with `@` at its end, behind a slash.
fn masked_login(login: &str) -> String {
    let masked = redact_url(&format!("https://{login}"));
    masked.strip_prefix("https:/").unwrap_or(&masked).to_owned()
}

/// A text of another program without these passwords and without those in URLs.
pub(crate) fn without_passwords<'a>(text: &str, passwords: impl IntoIterator<Item = &'a Secret>) -> String {
    masked_urls(&redacted(text, passwords.into_iter().map(Secret::expose).collect()))
}

/// A text of helm without these values.
pub(crate) fn without_values(text: &str, values: &[String]) -> String {
    redacted(text, values.iter().map(String::as_str).collect())
}

/// Replaces each secret that is long enough, the longest first: one may be a part of another.
fn redacted(text: &str, mut secrets: Vec<&str>) -> String {
    secrets.retain(|one| one.chars().count() >= SECRET_CHARS_MIN);
    secrets.sort_by_key(|one| std::cmp::Reverse(one.len()));
    secrets.into_iter().fold(text.to_owned(), |text, secret| text.replace(secret, MASK))
}

/// A text of a command, or of what it printed, without the values of options that carry secrets.
pub(crate) fn without_secret_options(text: &str) -> String {
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
        out.push_str(MASK);
        let end = rest[value..].find(' ').map_or(rest.len(), |length| value + length);
        rest = &rest[end..];
    }
    out.push_str(rest);
    out
}

/// A text with each run of `--api-versions VERSION ` replaced, as Argo CD does: the version ends at the next blank, whatever it is.
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

/// A text of another program with its URLs masked.
fn masked_urls(text: &str) -> String {
    let word = |piece: &str| {
        let word = piece.trim_end_matches(char::is_whitespace);
        let rest = &piece[word.len()..];
        [&if word.contains("://") { redact_url(word) } else { word.to_owned() }, rest].concat()
    };
    text.split_inclusive(char::is_whitespace).map(word).collect()
}

#[cfg(test)]
mod tests;
