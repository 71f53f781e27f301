//! Files of commits that git converts when it checks them out: line endings, `$Id$`, encodings. Git converts them itself, in a scratch
//! repository, because its rules are those of gitattributes(5) and of its C library.

mod settings;

use std::collections::{BTreeMap, HashSet};
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use gix_hash::ObjectId;
use tiphys_model::limits::Limit;
use tiphys_tree::{RepoPath, RunDir, Store, TreeLimits, WriteError};

use crate::SourceError;
use crate::git::{Git, Place, shown};
use crate::objects::Objects;
use crate::sources::blocking;

use settings::CrlfFiles;
pub(crate) use settings::{CheckoutConfiguration, CheckoutSettings, attributes_convert};

/// The file with the attributes of a directory's files.
pub const ATTRIBUTES_FILE: &str = ".gitattributes";

/// The attributes that convert files where lines end as on Linux.
const ATTRIBUTES: [&str; 3] = ["eol", "ident", "working-tree-encoding"];

/// The objects of a repository, and how git checks out the files among them.
#[derive(Clone)]
pub(crate) struct CheckoutSource {
    pub(crate) objects: Objects,
    pub(crate) settings: CheckoutSettings,
}

/// A commit's files to be checked out, as far as git converts them.
pub(crate) struct CheckoutRequest {
    pub(crate) source: CheckoutSource,
    /// Files with their paths in the repository, each `.gitattributes` that applies to them included.
    pub(crate) files: BTreeMap<RepoPath, ObjectId>,
}

impl CheckoutRequest {
    fn ids(&self, files: &[RepoPath]) -> Vec<ObjectId> {
        files.iter().filter_map(|file| self.files.get(file).copied()).collect()
    }
}

/// The bytes of all files that git may convert for one tree, as they are stored. The conversion may enlarge a file a few times.
pub(crate) struct ConversionBudget {
    bytes_max: u64,
    bytes: u64,
}

impl ConversionBudget {
    pub(crate) fn new(limits: TreeLimits) -> Self {
        Self { bytes_max: limits.bytes_max, bytes: 0 }
    }

    fn take(&mut self, bytes: u64) -> Result<(), WriteError> {
        self.bytes = self.bytes.saturating_add(bytes);
        let max = self.bytes_max;
        if self.bytes > max {
            return Err(WriteError::TooManyBytes { max, limit: Limit::TREE_BYTES_MAX });
        }
        Ok(())
    }
}

/// Files as git checked them out.
pub(crate) struct CheckedOut {
    pub(crate) files: Vec<RepoPath>,
    scratch: RunDir,
}

impl CheckedOut {
    /// Returns the directory of the files. It exists as long as this value.
    pub(crate) fn root(&self) -> PathBuf {
        self.scratch.path().join("files")
    }
}

/// Checks out those files that git may convert. No other configuration of the repository or the user is read, so that no program of a filter
/// runs, as on a server that does not have it.
pub(crate) async fn check_out(
    git: &Git,
    store: Arc<Store>,
    request: CheckoutRequest,
    budget: &mut ConversionBudget,
) -> Result<CheckedOut, SourceError> {
    let settings = request.source.settings.clone();
    let scratch = blocking(move || scratch_dir(&store, &settings)).await?;
    let repository = Scratch::new(git, scratch.path(), &request);
    let entry = |(path, id): (&RepoPath, &ObjectId)| format!("100644 {id}\t{}\0", path.as_str());
    let index = request.files.iter().map(entry).collect::<Vec<_>>().concat();
    repository.run(&["update-index", "-z", "--index-info"], index).await?;
    let all = || request.files.keys();
    let files: Vec<RepoPath> = if request.source.settings.crlf == CrlfFiles::None {
        let args = [&["check-attr", "--cached", "--stdin", "-z"], &ATTRIBUTES[..]].concat();
        let output = repository.run(&args, terminated(all())).await?;
        let converted = converted(&String::from_utf8_lossy(&output));
        all().filter(|path| converted.contains(path.as_str())).cloned().collect()
    } else {
        all().cloned().collect()
    };
    if !files.is_empty() {
        let (objects, ids) = (request.source.objects.clone(), request.ids(&files));
        let bytes = move || {
            let reader = objects.reader();
            Ok(ids.into_iter().filter_map(|id| reader.bytes_of(id)).sum())
        };
        budget.take(blocking(bytes).await?)?;
        let args = ["checkout-index", "-z", "--stdin", "--prefix=../files/"];
        repository.run(&args, terminated(files.iter())).await?;
    }
    Ok(CheckedOut { files, scratch })
}

/// Returns paths as git reads them with `-z`.
fn terminated<'p>(paths: impl Iterator<Item = &'p RepoPath>) -> String {
    paths.flat_map(|path| [path.as_str(), "\0"]).collect()
}

/// Returns the paths that git converts, from the output of `git check-attr -z`.
fn converted(output: &str) -> HashSet<String> {
    let fields: Vec<&str> = output.split('\0').collect();
    let converts = |attribute, value| match attribute {
        "eol" => value == "crlf",
        "ident" => value == "set",
        _ => value != "unspecified",
    };
    fields
        .as_chunks::<3>()
        .0
        .iter()
        .filter(|[_, attribute, value]| converts(*attribute, *value))
        .map(|[path, ..]| (*path).to_owned())
        .collect()
}

/// Creates a directory with an empty repository.
fn scratch_dir(store: &Store, settings: &CheckoutSettings) -> Result<RunDir, SourceError> {
    let scratch = store.run_dir()?;
    for folder in ["git/refs", "git/info", "git/.config/git", "work-tree", "files"] {
        let folder = scratch.path().join(folder);
        fs::create_dir_all(&folder).map_err(SourceError::cache("create", &folder))?;
    }
    for (name, content) in [
        ("git/HEAD", &b"ref: refs/heads/main\n"[..]),
        ("git/info/attributes", &settings.attributes),
        ("git/.config/git/attributes", &settings.user_attributes),
    ] {
        let file = scratch.path().join(name);
        fs::write(&file, content).map_err(SourceError::cache("write", &file))?;
    }
    Ok(scratch)
}

/// An empty repository that reads the objects of another one.
struct Scratch<'a> {
    git: &'a Git,
    /// The name of the other repository for errors.
    name: &'a str,
    git_dir: PathBuf,
    work_tree: PathBuf,
    env: Vec<(OsString, OsString)>,
    config: Vec<(String, String)>,
}

impl<'a> Scratch<'a> {
    /// Returns the repository in a directory of [`scratch_dir`].
    fn new(git: &'a Git, dir: &Path, request: &'a CheckoutRequest) -> Self {
        let CheckoutSource { objects, settings } = &request.source;
        let (git_dir, work_tree) = (dir.join("git"), dir.join("work-tree"));
        let env = [
            ("GIT_WORK_TREE", work_tree.as_os_str()),
            ("GIT_INDEX_FILE", git_dir.join("index").as_os_str()),
            ("GIT_OBJECT_DIRECTORY", objects.folder().as_os_str()),
            // The user's configuration has programs of filters. The attributes are those of the settings.
            ("HOME", git_dir.as_os_str()),
            ("GIT_CONFIG_NOSYSTEM", "1".as_ref()),
            ("GIT_ATTR_NOSYSTEM", "1".as_ref()),
        ]
        .map(|(name, value)| (name.into(), value.to_os_string()));
        let (auto_crlf, eol) = settings.crlf.values();
        let config = [
            ("core.autocrlf", auto_crlf),
            ("core.eol", eol),
            // Names that only Windows or macOS cannot have are valid in trees, too.
            ("core.protectNTFS", "false"),
            ("core.protectHFS", "false"),
        ]
        .map(|(key, value)| (key.to_owned(), value.to_owned()));
        let (env, config) = (env.to_vec(), config.to_vec());
        Self { git, name: objects.repository(), git_dir, work_tree, env, config }
    }

    /// Runs git, and returns its standard output.
    async fn run(&self, args: &[&str], stdin: String) -> Result<Vec<u8>, SourceError> {
        let mut call = self.git.local(&self.work_tree, Place::Bare(&self.git_dir), args.iter().copied());
        call.env.clone_from(&self.env);
        call.config.clone_from(&self.config);
        call.stdin = Some(stdin.into_bytes());
        let output = self.git.run(call).await;
        let output = output.map_err(|problem| problem.into_error(self.name, "converting files of"))?;
        if output.code != Some(0) {
            let detail = format!("git cannot convert files: {}", shown(&output.stderr, &[]));
            return Err(SourceError::Objects { repository: self.name.to_owned(), detail });
        }
        Ok(output.stdout)
    }
}
