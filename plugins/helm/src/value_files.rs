//! Which files and URLs helm reads values from: the paths of parameters, resolved as Argo CD's native support does.
//!
//! A path is relative to the chart, or from the repository's root with a `/` in front. A first part `$name` means another source of the
//! application. What leads out of its repository is refused, without saying where it led. Patterns stand for the files that they match.

mod glob;
mod path;

use std::collections::BTreeSet;
use std::io;
use std::iter;
use std::path::{Path, PathBuf};

use rustix::io::Errno;
use tiphys_access::{NetworkUse, RunContext};
use tiphys_process::quote_text;
use tiphys_tree::{ContainmentError, check_links};

use crate::failure::go_words;
use crate::options::{AssignmentKind, HelmOptions, Missing};
use crate::substitution::BuildEnvironment;
use crate::template::reads_only;

pub(crate) use glob::{Bounds as GlobBounds, GlobError};
pub(crate) use path::{PathProblem, joined};

/// Where paths lead.
#[derive(Clone, Debug)]
pub(crate) struct Places<'a> {
    /// The application's folder.
    pub(crate) app_path: &'a Path,
    /// The repository's root.
    pub(crate) root: &'a Path,
    /// What variables stand for.
    pub(crate) environment: &'a BuildEnvironment,
    /// Other sources, allowed schemes.
    pub(crate) context: &'a RunContext,
    /// What one pattern may cost.
    pub(crate) glob_bounds: GlobBounds,
}

/// What helm is given.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Resolved {
    /// A URL, as it is written.
    Url(String),
    /// An absolute path, clean.
    Path(PathBuf),
}

/// Why a path cannot be used, in Argo CD's words.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ValueFileError {
    /// A path.
    #[error("error resolving value file path")]
    Path(#[source] PathProblem),
    /// A path in another source.
    #[error("error resolving value file path: error resolving value file path")]
    InOtherSource(#[source] PathProblem),
    /// A pattern that is not one.
    #[error("error expanding glob pattern {}", quote_text(pattern))]
    Pattern {
        /// As it is written.
        pattern: String,
        /// What is wrong with it.
        #[source]
        source: GlobError,
    },
    /// A pattern that nothing matches.
    #[error("values file glob {} matched no files", quote_text(pattern))]
    NoMatch {
        /// As it is written.
        pattern: String,
    },
    /// A pattern that matches what lies outside.
    #[error(
        "glob pattern {}: glob match {} resolved to outside repository root",
        quote_text(pattern),
        quote_text(found)
    )]
    MatchOutside {
        /// As it is written.
        pattern: String,
        /// What it matches.
        found: String,
    },
    /// A match that leads nowhere.
    #[error(
        "glob pattern {}: cannot resolve the glob match {}: {}",
        quote_text(pattern),
        quote_text(found),
        go_words(cause)
    )]
    MatchLost {
        /// As it is written.
        pattern: String,
        /// What it matches.
        found: String,
        /// The system's answer; it is part of the text.
        cause: io::Error,
    },
    /// A name that cannot be an argument.
    #[error("the value file {} has a name that is not UTF-8; rename it", path.display())]
    NotUtf8 {
        /// The file.
        path: PathBuf,
    },
}

/// Why a `set-file` path cannot be used, in Argo CD's words where it has some.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SetFileError {
    /// A name that is more than a name.
    #[error(
        "the name of the parameter set-file.{name} sets more than one value; write `\\,` for a comma and `\\=` for an equals sign that is \
         part of it, and one parameter for each value"
    )]
    SeveralValues {
        /// The name.
        name: String,
    },
    /// A path.
    #[error("error resolving helm value file path")]
    Path(#[source] PathProblem),
    /// A path in another source.
    #[error("error resolving set-file path: error resolving value file path")]
    InOtherSource(#[source] PathProblem),
    /// A name that cannot be an argument.
    #[error("the file {} has a name that is not UTF-8; rename it", path.display())]
    NotUtf8 {
        /// The file.
        path: PathBuf,
    },
}

/// Why another source cannot be used, in Argo CD's words.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RefError {
    /// Nobody has a `ref`.
    #[error("source referenced {}, but no source has a 'ref' field defined", quote_text(name))]
    None {
        /// With the dollar sign.
        name: String,
    },
    /// Others have.
    #[error(
        "source referenced {}, which is not one of the available sources ({})",
        quote_text(name),
        available.join(", ")
    )]
    Unknown {
        /// With the dollar sign.
        name: String,
        /// With the dollar sign, sorted.
        available: Vec<String>,
    },
    /// It could not be had.
    #[error("{reason}")]
    Unusable {
        /// Why.
        reason: String,
    },
    /// It has a link that leads out.
    #[error(transparent)]
    Links(ContainmentError),
}

impl Places<'_> {
    /// Refuses names of other sources that are not there, and looks for links that lead out in those that are used. Only an application
    /// with several sources has names; elsewhere they are variables like others.
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

    /// The value files in order: patterns expanded, each file once, at the place where it is named or else first matched.
    pub(crate) fn value_files(
        &self,
        files: &[String],
        missing: Missing,
    ) -> Result<Vec<String>, ValueFileError> {
        let files: Vec<&str> = files.iter().map(|file| self.as_helm_reads(file, missing)).collect();
        // A file that is named keeps its own place; a pattern leaves it out.
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

    /// Helm takes a value of `--values` for a line of a table, and the line's end is no part of it: `- |` in YAML makes such a name. A
    /// pattern, and a file that may be missing, Argo CD looks up before helm with all that is written.
    fn as_helm_reads<'f>(&self, file: &'f str, missing: Missing) -> &'f str {
        let line = file.trim_end_matches(['\r', '\n']);
        let is_pattern = || self.resolve(line).is_ok_and(|(resolved, base)| self.is_pattern(&resolved, base));
        if missing == Missing::Refuse && !is_pattern() { line } else { file }
    }

    /// The file or URL of a `set-file` parameter of this name. A backslash takes a sign's meaning away, as in helm's own option.
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

    /// What of the paths of parameters is a URL, whether or not it is allowed.
    pub(crate) fn urls(&self, options: &HelmOptions) -> Vec<String> {
        let value_files = options.value_files.iter().map(|file| self.environment.substitute(file));
        let set_files = options.assignments.iter().filter(|one| one.kind == AssignmentKind::File);
        let set_files = set_files.map(|one| unescaped(&self.environment.substitute(&one.value)));
        value_files.chain(set_files).filter(|text| tiphys_access::url_scheme(text).is_some()).collect()
    }

    /// What a value file is, and the folder that is no part of its pattern.
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

    /// The rest of a path that begins with the name of another source, and that source's folder.
    fn other_source<'p>(&self, file: &'p str) -> Option<(&'p str, &Path)> {
        let name = file.strip_prefix('$')?;
        let (name, rest) = name.split_at(name.find('/').unwrap_or(name.len()));
        Some((rest, &self.context.refs.get(name)?.path))
    }

    /// What a pattern matches, all of it inside of the repository.
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

    /// Whether what a person wrote of a path has signs of patterns.
    fn is_pattern(&self, resolved: &Resolved, base: &Path) -> bool {
        match resolved {
            Resolved::Url(_) => false,
            Resolved::Path(path) => self.split_pattern(path, base).1.contains(['*', '?', '[']),
        }
    }

    /// A resolved path as a folder that is meant literally and a pattern below it. Signs in the names of the application's own folders are no
    /// pattern: nobody wrote them as one.
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

/// A text without the backslashes that take a sign's meaning away.
fn unescaped(text: &str) -> String {
    let mut chars = text.chars();
    iter::from_fn(|| chars.next().map(|char| if char == '\\' { chars.next() } else { Some(char) }))
        .flatten()
        .collect()
}

/// The longest common beginning of a path with the application's folder, but at least the root.
fn literal_part(path: &Path, app_path: &Path, root: &Path) -> PathBuf {
    let common: PathBuf = path
        .components()
        .zip(app_path.components())
        .take_while(|(one, other)| one == other)
        .map(|(one, _)| one)
        .collect();
    if common.starts_with(root) { common } else { root.to_path_buf() }
}

/// Whether nothing is there. What cannot be looked at for another reason is helm's to complain of.
fn is_missing(path: &Path) -> bool {
    path.metadata().is_err_and(|error| error.kind() == io::ErrorKind::NotFound)
}

#[cfg(test)]
mod tests;
