//! Files of commits that git converts when it checks them out: line endings, `$Id$`, encodings. Git converts them itself, in a scratch
//! repository, because its rules are those of gitattributes(5) and of its C library.

use std::collections::{BTreeMap, HashSet};
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use gix_hash::ObjectId;
use tiphys_limits::Limit;
use tiphys_tree::{RepoPath, RunDir, TreeLimits, WriteError};

use crate::SourceError;
use crate::git::{Git, Place, shown};
use crate::local::{Expect, ask};
use crate::objects::Objects;
use crate::sources::blocking;

/// The file with the attributes of a directory's files.
pub const ATTRIBUTES_FILE: &str = ".gitattributes";

/// One of these is in every list of attributes that converts files where lines end as on Linux. `crlf` is a value of `eol`.
const CONVERTING: [&str; 3] = ["crlf", "ident", "working-tree-encoding"];

/// The attributes that convert files where lines end as on Linux.
const ATTRIBUTES: [&str; 3] = ["eol", "ident", "working-tree-encoding"];

/// Words that git reads as false.
const FALSE: [&str; 3] = ["false", "no", "off"];

/// The files in which git ends lines with CRLF, beside those with the attribute `eol=crlf`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum CrlfFiles {
    /// None: the settings of a server, and `core.autocrlf=input` with any `core.eol`.
    #[default]
    None,
    /// Those with the attribute `text` (`core.eol=crlf`).
    WithAttribute,
    /// All text files (`core.autocrlf=true`).
    AllText,
}

impl CrlfFiles {
    /// Reads the values of `core.autocrlf` and `core.eol`, of which the first takes precedence.
    fn new(auto_crlf: &str, eol: &str) -> Self {
        match (auto_crlf, eol) {
            ("input", _) => Self::None,
            (value, _) if is_true(value) => Self::AllText,
            (_, "crlf") => Self::WithAttribute,
            _ => Self::None,
        }
    }

    /// Returns the values of `core.autocrlf` and `core.eol`.
    fn values(self) -> (&'static str, &'static str) {
        match self {
            Self::None => ("false", "lf"),
            Self::WithAttribute => ("false", "crlf"),
            Self::AllText => ("true", "lf"),
        }
    }
}

/// The configuration of a repository for checkouts.
pub(crate) struct CheckoutConfiguration {
    crlf: CrlfFiles,
    /// Whether a checkout leaves out files (`core.sparseCheckout`).
    pub(crate) is_sparse: bool,
}

impl CheckoutConfiguration {
    /// Reads the configuration of a repository.
    pub(crate) async fn read(git: &Git, dir: &Path, place: Place<'_>) -> Result<Self, SourceError> {
        let args = ["config", "--null", "--get-regexp", r"^core\.(autocrlf|eol|sparsecheckout)$"];
        ask(git, git.local(dir, place, args), Expect::Answer).await.map(|output| Self::parse(&output))
    }

    /// Parses the output of `git config --null`.
    fn parse(output: &str) -> Self {
        let (mut auto_crlf, mut eol, mut is_sparse) = (String::new(), String::new(), false);
        for item in output.split('\0').filter(|item| !item.is_empty()) {
            let (key, value) = item.split_once('\n').unwrap_or((item, "true"));
            let value = value.to_ascii_lowercase();
            match key {
                "core.autocrlf" => auto_crlf = value,
                "core.eol" => eol = value,
                "core.sparsecheckout" => is_sparse = is_true(&value),
                _ => {}
            }
        }
        Self { crlf: CrlfFiles::new(&auto_crlf, &eol), is_sparse }
    }
}

/// The settings of a repository that convert files beside the attributes of its commits. The default is that of a server.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct CheckoutSettings {
    crlf: CrlfFiles,
    /// `$GIT_DIR/info/attributes`.
    attributes: Vec<u8>,
}

impl CheckoutSettings {
    /// Reads a repository's `info/attributes`, and adds what its configuration sets.
    pub(crate) fn read(
        configuration: &CheckoutConfiguration,
        attributes: &Path,
    ) -> Result<Self, SourceError> {
        let attributes = match fs::read(attributes) {
            Ok(content) => content,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Vec::new(),
            Err(source) => return Err(SourceError::Read { path: attributes.to_path_buf(), source }),
        };
        Ok(Self { crlf: configuration.crlf, attributes })
    }

    /// Reads the settings of the repository in a `.git` directory.
    pub(crate) async fn of_git_dir(git: &Git, git_dir: &Path) -> Result<Self, SourceError> {
        let configuration = CheckoutConfiguration::read(git, git_dir, Place::Bare(git_dir)).await?;
        Self::read(&configuration, &git_dir.join("info/attributes"))
    }

    /// Returns bytes that differ for different settings. None for those of a server.
    pub(crate) fn bytes(&self) -> Option<Vec<u8>> {
        let (auto_crlf, eol) = self.crlf.values();
        let text = format!("{auto_crlf}\0{eol}\0");
        (*self != Self::default()).then(|| [text.as_bytes(), &self.attributes].concat())
    }

    /// Whether files may be converted without attributes of their commit.
    pub(crate) fn may_convert(&self) -> bool {
        self.crlf != CrlfFiles::None || attributes_convert(&self.attributes)
    }
}

/// Whether git reads the lower-case value of a boolean as true.
fn is_true(value: &str) -> bool {
    !FALSE.contains(&value) && !value.trim_start_matches('0').is_empty()
}

/// Whether attributes may convert files where lines end as on Linux.
pub(crate) fn attributes_convert(attributes: &[u8]) -> bool {
    let text = String::from_utf8_lossy(attributes);
    CONVERTING.iter().any(|word| text.contains(word))
}

/// A commit's files to be checked out, as far as git converts them.
pub(crate) struct CheckoutRequest {
    pub(crate) objects: Objects,
    pub(crate) settings: CheckoutSettings,
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
    scratch: RunDir,
    request: CheckoutRequest,
    budget: &mut ConversionBudget,
) -> Result<CheckedOut, SourceError> {
    let repository = Scratch::new(git, scratch.path(), &request)?;
    let entry = |(path, id): (&RepoPath, &ObjectId)| format!("100644 {id}\t{}\0", path.as_str());
    let index = request.files.iter().map(entry).collect::<Vec<_>>().concat();
    repository.run(&["update-index", "-z", "--index-info"], index).await?;
    let all = || request.files.keys();
    let files: Vec<RepoPath> = if request.settings.crlf == CrlfFiles::None {
        let args = [&["check-attr", "--cached", "--stdin", "-z"], &ATTRIBUTES[..]].concat();
        let output = repository.run(&args, terminated(all())).await?;
        let converted = converted(&String::from_utf8_lossy(&output));
        all().filter(|path| converted.contains(path.as_str())).cloned().collect()
    } else {
        all().cloned().collect()
    };
    if !files.is_empty() {
        let (objects, ids) = (request.objects.clone(), request.ids(&files));
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
    fn new(git: &'a Git, dir: &Path, request: &'a CheckoutRequest) -> Result<Self, SourceError> {
        let CheckoutRequest { objects, settings, .. } = request;
        let (git_dir, work_tree) = (dir.join("git"), dir.join("work-tree"));
        for folder in [&git_dir.join("refs"), &git_dir.join("info"), &work_tree, &dir.join("files")] {
            fs::create_dir_all(folder).map_err(SourceError::cache("create", folder))?;
        }
        for (name, content) in
            [("HEAD", &b"ref: refs/heads/main\n"[..]), ("info/attributes", &settings.attributes)]
        {
            let file = git_dir.join(name);
            fs::write(&file, content).map_err(SourceError::cache("write", &file))?;
        }
        let env = [
            ("GIT_WORK_TREE", work_tree.as_os_str()),
            ("GIT_INDEX_FILE", git_dir.join("index").as_os_str()),
            ("GIT_OBJECT_DIRECTORY", objects.folder().as_os_str()),
            // The user's configuration has programs of filters, and attributes.
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
        Ok(Self { git, name: objects.repository(), git_dir, work_tree, env, config })
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
