//! Resolves the value files and URLs in parameters, as Argo CD's native support does.
//!
//! A path is relative to the chart, or to the repository's root with a leading `/`. A leading `$name` is another source of the application.
//! A path that leads out of its repository is an error that does not show the target. Patterns expand to the files that they match.

mod glob;
mod path;

use std::collections::BTreeSet;
use std::io;
use std::iter;
use std::path::{Path, PathBuf};

use rustix::io::Errno;
use tiphys_go::strconv::quote;
use tiphys_model::access::{NetworkUse, RunContext};
use tiphys_tree::{ContainmentError, check_links};

use crate::failure::go_words;
use crate::options::{AssignmentKind, HelmOptions, Missing};
use crate::substitution::BuildEnvironment;
use crate::template::reads_only;

pub(crate) use glob::{Bounds as GlobBounds, GlobError};
pub(crate) use path::{PathProblem, joined};

/// Resolves paths.
#[derive(Clone, Debug)]
pub(crate) struct Places<'a> {
    /// The application's directory.
    pub(crate) app_path: &'a Path,
    /// The repository's root.
    pub(crate) root: &'a Path,
    /// Values of variables.
    pub(crate) environment: &'a BuildEnvironment,
    /// Other sources, permitted schemes.
    pub(crate) context: &'a RunContext,
    /// Limits of one pattern.
    pub(crate) glob_bounds: GlobBounds,
}

/// A resolved value file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Resolved {
    /// A URL, as written.
    Url(String),
    /// An absolute, clean path.
    Path(PathBuf),
}

/// Errors of value files, in Argo CD's words.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ValueFileError {
    /// An invalid path.
    #[error("error resolving value file path")]
    Path(#[source] PathProblem),
    /// An invalid path in another source.
    #[error("error resolving value file path: error resolving value file path")]
    InOtherSource(#[source] PathProblem),
    /// An invalid pattern.
    #[error("error expanding glob pattern {}", quote(pattern))]
    Pattern {
        /// As written.
        pattern: String,
        #[source]
        source: GlobError,
    },
    /// A pattern without matches.
    #[error("values file glob {} matched no files", quote(pattern))]
    NoMatch {
        /// As written.
        pattern: String,
    },
    /// A match outside the repository.
    #[error(
        "glob pattern {}: glob match {} resolved to outside repository root",
        quote(pattern),
        quote(found)
    )]
    MatchOutside {
        /// As written.
        pattern: String,
        found: String,
    },
    /// A match that cannot be resolved.
    #[error(
        "glob pattern {}: cannot resolve the glob match {}: {}",
        quote(pattern),
        quote(found),
        go_words(cause)
    )]
    MatchLost {
        /// As written.
        pattern: String,
        found: String,
        /// Part of the message.
        cause: io::Error,
    },
    /// A name that cannot be an argument.
    #[error("the value file {} has a name that is not UTF-8; rename it", path.display())]
    NotUtf8 { path: PathBuf },
}

/// Errors of `set-file`, in Argo CD's words where it has some.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SetFileError {
    /// A name that contains another assignment.
    #[error(
        "the name of the parameter set-file.{name} sets more than one value; write `\\,` for a comma and `\\=` for an equals sign that is \
         part of it, and one parameter for each value"
    )]
    SeveralValues { name: String },
    /// An invalid path.
    #[error("error resolving helm value file path")]
    Path(#[source] PathProblem),
    /// An invalid path in another source.
    #[error("error resolving set-file path: error resolving value file path")]
    InOtherSource(#[source] PathProblem),
    /// A name that cannot be an argument.
    #[error("the file {} has a name that is not UTF-8; rename it", path.display())]
    NotUtf8 { path: PathBuf },
}

/// Errors of other sources, in Argo CD's words.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RefError {
    /// No source has a `ref`.
    #[error("source referenced {}, but no source has a 'ref' field defined", quote(name))]
    None {
        /// With the dollar sign.
        name: String,
    },
    /// No source has this `ref`.
    #[error(
        "source referenced {}, which is not one of the available sources ({})",
        quote(name),
        available.join(", ")
    )]
    Unknown {
        /// With the dollar sign.
        name: String,
        /// With the dollar sign, sorted.
        available: Vec<String>,
    },
    /// The source is unavailable.
    #[error("{reason}")]
    Unusable { reason: String },
    /// It contains a link that leads out.
    #[error(transparent)]
    Links(ContainmentError),
}

impl Places<'_> {
    /// Rejects unknown names of other sources, and used sources with links that lead out. Only an application with several sources has
    /// names; otherwise they are ordinary variables.
    pub(crate) fn check_refs<'p>(&self, paths: impl IntoIterator<Item = &'p str>) -> Result<(), RefError> {
        if !self.context.source.multiple {
            return Ok(());
        }
        let mut looked_at = BTreeSet::new();
        for path in paths.into_iter().filter(|path| path.starts_with('$')) {
            let first = path.split('/').next().unwrap_or_default();
            let name = &first[1..];
            if let Some(reason) = self.context.ref_errors.get(name) {
                return Err(RefError::Unusable { reason: reason.clone() });
            }
            let Some(tree) = self.context.refs.get(name) else { return Err(self.unknown_ref(first)) };
            if looked_at.insert(name) {
                check_links(&tree.path).map_err(RefError::Links)?;
            }
        }
        Ok(())
    }

    /// Returns the value files in order: patterns expanded, each file once, where it is named or else first matched.
    pub(crate) fn value_files(
        &self,
        files: &[String],
        missing: Missing,
    ) -> Result<Vec<String>, ValueFileError> {
        let files: Vec<&str> = files.iter().map(|file| self.as_helm_reads(file, missing)).collect();
        // A named file keeps its place; patterns omit it.
        let mut named = BTreeSet::new();
        for file in &files {
            if let Ok((resolved, base)) = self.resolve(file)
                && !self.is_pattern(&resolved, base)
            {
                named.insert(resolved);
            }
        }
        let mut found: Vec<Resolved> = Vec::new();
        for file in files {
            let (resolved, base) = self.resolve(file)?;
            let Resolved::Path(path) = &resolved else {
                found.push(resolved);
                continue;
            };
            if self.is_pattern(&resolved, base) {
                let matches = self.matches(file, path, base, missing)?;
                found.extend(matches.into_iter().map(Resolved::Path).filter(|one| !named.contains(one)));
            } else if missing == Missing::Refuse || !is_missing(path) {
                found.push(resolved);
            }
        }
        let mut seen = BTreeSet::new();
        found.retain(|one| seen.insert(one.clone()));
        found
            .into_iter()
            .map(|one| one.into_text().map_err(|path| ValueFileError::NotUtf8 { path }))
            .collect()
    }

    /// Helm parses a value of `--values` as a CSV line, without its end of line: `- |` in YAML makes such a name. Argo CD looks up patterns
    /// and optional files before helm, with the end of line.
    fn as_helm_reads<'f>(&self, file: &'f str, missing: Missing) -> &'f str {
        let line = file.trim_end_matches(['\r', '\n']);
        let is_pattern = || self.resolve(line).is_ok_and(|(resolved, base)| self.is_pattern(&resolved, base));
        if missing == Missing::Refuse && !is_pattern() { line } else { file }
    }

    /// Returns the file or URL of a `set-file` parameter of this name. A backslash escapes a character, as in helm's own option.
    pub(crate) fn set_file(&self, name: &str, file: &str) -> Result<String, SetFileError> {
        let written = |text: &str| unescaped(&self.environment.substitute(text));
        let resolved = match self.other_source(file) {
            Some((rest, tree)) => {
                self.look_up(tree, tree, &written(rest)).map_err(SetFileError::InOtherSource)?
            }
            None => self.look_up(self.app_path, self.root, &written(file)).map_err(SetFileError::Path)?,
        };
        let text = resolved.into_text().map_err(|path| SetFileError::NotUtf8 { path })?;
        if reads_only(name, &text) {
            Ok(text)
        } else {
            Err(SetFileError::SeveralValues { name: name.to_owned() })
        }
    }

    /// Returns the URLs among the paths of parameters, permitted or not.
    pub(crate) fn urls(&self, options: &HelmOptions) -> Vec<String> {
        let value_files = options.value_files.iter().map(|file| self.environment.substitute(file));
        let set_files = options.assignments.iter().filter(|one| one.kind == AssignmentKind::File);
        let set_files = set_files.map(|one| unescaped(&self.environment.substitute(&one.value)));
        value_files.chain(set_files).filter(|text| tiphys_model::access::url_scheme(text).is_some()).collect()
    }

    /// Resolves a value file, and returns the directory that is not part of its pattern.
    fn resolve(&self, file: &str) -> Result<(Resolved, &Path), ValueFileError> {
        match self.other_source(file) {
            Some((rest, tree)) => {
                let rest = self.environment.substitute(rest);
                Ok((self.look_up(tree, tree, &rest).map_err(ValueFileError::InOtherSource)?, tree))
            }
            None => Ok((self.in_own_source(file).map_err(ValueFileError::Path)?, self.root)),
        }
    }

    fn in_own_source(&self, file: &str) -> Result<Resolved, PathProblem> {
        self.look_up(self.app_path, self.root, &self.environment.substitute(file))
    }

    fn look_up(&self, from: &Path, root: &Path, file: &str) -> Result<Resolved, PathProblem> {
        match path::resolve(from, root, file, &self.context.values_file_schemes)? {
            Resolved::Url(_) if self.context.network == NetworkUse::None => Err(PathProblem::NoNetwork),
            resolved => Ok(resolved),
        }
    }

    /// Splits a path that starts with the name of another source into the rest and that source's directory.
    fn other_source<'p>(&self, file: &'p str) -> Option<(&'p str, &Path)> {
        let name = file.strip_prefix('$')?;
        let (name, rest) = name.split_at(name.find('/').unwrap_or(name.len()));
        Some((rest, &self.context.refs.get(name)?.path))
    }

    /// Returns the matches of a pattern, all of them inside the repository.
    fn matches(
        &self,
        file: &str,
        path: &Path,
        base: &Path,
        missing: Missing,
    ) -> Result<Vec<PathBuf>, ValueFileError> {
        let pattern = || file.to_owned();
        let (literal, rest) = self.split_pattern(path, base);
        let found = glob::find(base, &literal, &rest, self.glob_bounds)
            .map_err(|source| ValueFileError::Pattern { pattern: pattern(), source })?;
        if found.is_empty() && missing == Missing::Refuse {
            return Err(ValueFileError::NoMatch { pattern: pattern() });
        }
        let lost = |path: &Path, cause| ValueFileError::MatchLost {
            pattern: pattern(),
            found: path.to_string_lossy().into_owned(),
            cause,
        };
        for path in &found {
            let Err(error) = path::real(base, path) else { continue };
            let cause = match error {
                ContainmentError::OutOfBounds { .. } => {
                    let found = path.to_string_lossy().into_owned();
                    return Err(ValueFileError::MatchOutside { pattern: pattern(), found });
                }
                ContainmentError::Missing { .. } => Errno::NOENT.into(),
                ContainmentError::TooManyLinks { .. } => Errno::LOOP.into(),
                ContainmentError::Io { source, .. } => source,
            };
            return Err(lost(path, cause));
        }
        Ok(found)
    }

    /// Whether the user's part of a path has pattern characters.
    fn is_pattern(&self, resolved: &Resolved, base: &Path) -> bool {
        match resolved {
            Resolved::Url(_) => false,
            Resolved::Path(path) => self.split_pattern(path, base).1.contains(['*', '?', '[']),
        }
    }

    /// Splits a resolved path into a literal directory and a pattern below it. Pattern characters in the application's own directories are
    /// literal: the user did not write them as a pattern.
    fn split_pattern(&self, path: &Path, base: &Path) -> (PathBuf, String) {
        let literal = literal_part(path, self.app_path, base);
        let rest = path.strip_prefix(&literal).unwrap_or(path);
        (literal, rest.to_string_lossy().into_owned())
    }

    fn unknown_ref(&self, name: &str) -> RefError {
        let known: BTreeSet<&String> =
            self.context.refs.keys().chain(self.context.ref_errors.keys()).collect();
        let name = name.to_owned();
        if known.is_empty() {
            RefError::None { name }
        } else {
            RefError::Unknown { name, available: known.iter().map(|name| format!("${name}")).collect() }
        }
    }
}

impl Resolved {
    fn into_text(self) -> Result<String, PathBuf> {
        match self {
            Self::Url(url) => Ok(url),
            Self::Path(path) => path.into_os_string().into_string().map_err(PathBuf::from),
        }
    }
}

/// Removes escapes.
fn unescaped(text: &str) -> String {
    let mut chars = text.chars();
    iter::from_fn(|| chars.next().map(|char| if char == '\\' { chars.next() } else { Some(char) }))
        .flatten()
        .collect()
}

/// Returns the longest common prefix of a path and the application's directory, but at least the root.
fn literal_part(path: &Path, app_path: &Path, root: &Path) -> PathBuf {
    let common: PathBuf = path
        .components()
        .zip(app_path.components())
        .take_while(|(one, other)| one == other)
        .map(|(one, _)| one)
        .collect();
    if common.starts_with(root) { common } else { root.to_path_buf() }
}

/// Whether a file does not exist. Helm reports other errors.
fn is_missing(path: &Path) -> bool {
    path.metadata().is_err_and(|error| error.kind() == io::ErrorKind::NotFound)
}

#[cfg(test)]
mod tests;
