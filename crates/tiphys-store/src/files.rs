//! The files of a store: finding and reading them.

use std::fmt;
use std::fs;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use ignore::{DirEntry, WalkBuilder};

use crate::place::FileName;

/// The maximum size of a file in bytes. All Applications of a cluster in one List are far smaller.
pub const FILE_BYTES_MAX: u64 = 64 << 20;

/// Name of the files that list what to ignore, in the syntax of `.gitignore`.
const IGNORE_FILE: &str = ".tiphysignore";

/// Name of the list of the files that a command wrote to a directory. The directory is output, so stores that contain it leave it out.
pub const OUTPUT_LIST: &str = ".tiphys-files";

/// Files of a git revision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PastInput {
    /// A directory with all or some files of the revision.
    pub root: PathBuf,
    /// The relative path of the directory or file in it.
    pub path: PathBuf,
    /// The work tree of the repository.
    pub work_tree: PathBuf,
    /// The revision as the user wrote it.
    pub revision: String,
}

impl PastInput {
    /// Returns the name of a file of the revision in git's notation.
    pub(crate) fn name(&self, path: &Path) -> FileName {
        FileName::past(&format!("{}:{}", self.revision, path.display()))
    }
}

/// Version of a file's content. Users see and pass the first 16 hexadecimal digits of the BLAKE3 digest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FileVersion([u8; blake3::OUT_LEN]);

/// The number of digest bytes that are shown.
const SHOWN_BYTES: usize = 8;

/// A file that may contain documents, or the reason why it cannot be read.
#[derive(Debug)]
pub(crate) struct Candidate {
    /// The file.
    pub(crate) path: PathBuf,
    /// The path with symbolic links resolved. Files with the same path are read once.
    pub(crate) real: PathBuf,
    /// The name to use in messages.
    pub(crate) name: FileName,
    pub(crate) problem: Option<io::Error>,
    /// Whether it is a symbolic link in a directory, which the caller did not name.
    is_link: bool,
}

impl FileVersion {
    /// Returns the version of this content.
    pub fn of(bytes: &[u8]) -> Self {
        Self(*blake3::hash(bytes).as_bytes())
    }
}

impl fmt::Display for FileVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().take(SHOWN_BYTES).try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl Candidate {
    fn new(path: PathBuf, real: PathBuf) -> Self {
        let name = FileName::file(&path);
        Self { path, real, name, problem: None, is_link: false }
    }

    /// Returns the file that a link in a directory leads to.
    pub(crate) fn link_target(&self) -> Option<&Path> {
        self.is_link.then_some(&self.real)
    }
}

/// Returns the YAML and JSON files of a directory, sorted by path. Hidden directories, the cases of plugins, directories with an
/// [`OUTPUT_LIST`] and paths matched by `.tiphysignore` files are skipped. Symbolic links to files are followed, links to directories are not. If `path` is a file, it is returned whatever its name.
pub(crate) fn candidates(path: &Path) -> Result<Vec<Candidate>, io::Error> {
    let root = fs::canonicalize(path)?;
    if !root.is_dir() {
        fs::File::open(path)?;
        return Ok(vec![Candidate::new(path.to_owned(), root)]);
    }
    let refused = Arc::new(OnceLock::new());
    let first_refused = Arc::clone(&refused);
    if let Some(list) = refused_list(path) {
        return Err(list_is_no_file(&list));
    }
    let walk = WalkBuilder::new(path)
        .standard_filters(false)
        .add_custom_ignore_filename(IGNORE_FILE)
        .filter_entry(move |entry| {
            if entry.depth() == 0 || !entry.file_type().is_some_and(|kind| kind.is_dir()) {
                return true;
            }
            let is_hidden = entry.file_name().as_encoded_bytes().starts_with(b".");
            if is_hidden || has_cases_of_plugin(entry.path()) || is_output(entry.path()) {
                return false;
            }
            // The walk would read the list when it enters the directory.
            refused_list(entry.path()).map(|list| drop(first_refused.set(list))).is_none()
        })
        .sort_by_file_name(std::ffi::OsStr::cmp)
        .build();
    let mut found = Vec::new();
    for entry in walk {
        match entry {
            Ok(entry) => found.extend(candidate(entry, path, &root)),
            Err(error) => {
                let path = path_of(&error).unwrap_or(path).to_owned();
                let problem = error.into_io_error().unwrap_or_else(|| io::Error::other("cannot be listed"));
                let candidate = Candidate::new(path.clone(), path);
                found.push(Candidate { problem: Some(problem), ..candidate });
            }
        }
    }
    match refused.get() {
        Some(list) => Err(list_is_no_file(list)),
        None => Ok(found),
    }
}

/// Returns the ignore list of a directory if it is not a regular file: a link may lead to any file of the user, and
/// opening a pipe blocks.
fn refused_list(directory: &Path) -> Option<PathBuf> {
    let list = directory.join(IGNORE_FILE);
    let is_refused = fs::symlink_metadata(&list).is_ok_and(|found| !found.is_file());
    is_refused.then_some(list)
}

fn list_is_no_file(list: &Path) -> io::Error {
    io::Error::other(format!("{} is not a regular file; replace it by one", list.display()))
}

/// Returns the files of a revision. A file is identified by its path in the work tree, so that it counts once even if it was checked out to
/// several trees.
pub(crate) fn past_candidates(input: &PastInput) -> Result<Vec<Candidate>, io::Error> {
    let root = fs::canonicalize(&input.root)?;
    let within = |path: &Path, root: &Path| path.strip_prefix(root).unwrap_or(path).to_path_buf();
    let found = candidates(&input.root.join(&input.path))?;
    Ok(found
        .into_iter()
        .map(|candidate| Candidate {
            real: input.work_tree.join(within(&candidate.real, &root)),
            name: input.name(&within(&candidate.path, &input.root)),
            ..candidate
        })
        .collect())
}

/// Returns a file below `folder`, whose resolved path is `root`, if it may contain documents.
fn candidate(entry: DirEntry, folder: &Path, root: &Path) -> Option<Candidate> {
    let kind = entry.file_type()?;
    if kind.is_dir() || !has_document_extension(entry.path()) {
        return None;
    }
    let real = if kind.is_symlink() {
        // A dangling link counts as missing.
        fs::canonicalize(entry.path()).ok().filter(|real| real.is_file())?
    } else if kind.is_file() {
        root.join(entry.path().strip_prefix(folder).ok()?)
    } else {
        return None;
    };
    Some(Candidate { is_link: kind.is_symlink(), ..Candidate::new(entry.into_path(), real) })
}

/// Returns the content of a file; `None` if it exceeds [`FILE_BYTES_MAX`].
pub(crate) fn read_bounded(path: &Path) -> io::Result<Option<Vec<u8>>> {
    let mut bytes = Vec::new();
    fs::File::open(path)?.take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes)?;
    Ok(Some(bytes).filter(|bytes| bytes.len() as u64 <= FILE_BYTES_MAX))
}

/// Whether this is the directory with the cases of a plugin, whose Applications are for `plugin test`.
fn has_cases_of_plugin(dir: &Path) -> bool {
    dir.file_name().is_some_and(|name| name == "testdata") && dir.with_file_name("plugin.yaml").is_file()
}

/// Whether a command writes to this directory. Only a regular file is a list, as for `--prune`.
fn is_output(dir: &Path) -> bool {
    fs::symlink_metadata(dir.join(OUTPUT_LIST)).is_ok_and(|list| list.is_file())
}

fn has_document_extension(path: &Path) -> bool {
    path.extension()
        .is_some_and(|extension| matches!(extension.as_encoded_bytes(), b"yaml" | b"yml" | b"json"))
}

/// Returns the path in an error of the directory walk.
fn path_of(error: &ignore::Error) -> Option<&Path> {
    match error {
        ignore::Error::WithPath { path, .. } => Some(path),
        ignore::Error::WithDepth { err, .. } | ignore::Error::WithLineNumber { err, .. } => path_of(err),
        _ => None,
    }
}
