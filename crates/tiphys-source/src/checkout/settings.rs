//! Settings that convert the files of a repository beside the attributes of its commits: its configuration, `info/attributes`, and the
//! attributes of the user.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use crate::SourceError;
use crate::git::{Git, Place};
use crate::local::{Expect, ask};

/// One of these is in every list of attributes that converts files where lines end as on Linux. `crlf` is a value of `eol`.
const CONVERTING: [&str; 3] = ["crlf", "ident", "working-tree-encoding"];

/// The setting of a file with attributes, as git prints it.
const ATTRIBUTES_FILE: &str = "core.attributesfile";

/// Words that git reads as false.
const FALSE: [&str; 3] = ["false", "no", "off"];

/// The configuration of a repository for checkouts.
pub(crate) struct CheckoutConfiguration {
    crlf: CrlfFiles,
    /// The file with the user's attributes (`core.attributesFile`).
    attributes: Option<PathBuf>,
    /// Whether a checkout leaves out files (`core.sparseCheckout`).
    pub(crate) is_sparse: bool,
    /// Whether a checkout has the modes and links of its commit (`core.fileMode`, `core.symlinks`).
    pub(crate) has_exact_modes: bool,
}

impl CheckoutConfiguration {
    /// Reads the configuration of a repository.
    pub(crate) async fn read(git: &Git, dir: &Path, place: Place<'_>) -> Result<Self, SourceError> {
        let values = [
            "config",
            "--null",
            "--get-regexp",
            r"^core\.(autocrlf|eol|sparsecheckout|attributesfile|filemode|symlinks)$",
        ];
        let values = ask(git, git.local(dir, place, values), Expect::Answer).await?;
        let attributes = if values.contains(ATTRIBUTES_FILE) {
            // Git replaces `~` in it.
            let file = ["config", "--null", "--path", "--get", ATTRIBUTES_FILE];
            let file = ask(git, git.local(dir, place, file), Expect::Answer).await?;
            file.strip_suffix('\0').map(|file| dir.join(file))
        } else {
            git.user_attributes()
        };
        Ok(Self { attributes, ..Self::parse(&values) })
    }

    /// Parses the output of `git config --null --get-regexp`.
    fn parse(output: &str) -> Self {
        let (mut auto_crlf, mut eol, mut is_sparse) = (String::new(), String::new(), false);
        let mut has_exact_modes = true;
        for item in output.split('\0').filter(|item| !item.is_empty()) {
            let (key, value) = item.split_once('\n').unwrap_or((item, "true"));
            let value = value.to_ascii_lowercase();
            match key {
                "core.autocrlf" => auto_crlf = value,
                "core.eol" => eol = value,
                "core.sparsecheckout" => is_sparse = is_true(&value),
                "core.filemode" | "core.symlinks" => has_exact_modes &= is_true(&value),
                _ => {}
            }
        }
        Self { crlf: CrlfFiles::new(&auto_crlf, &eol), attributes: None, is_sparse, has_exact_modes }
    }
}

/// The settings of a repository that convert files beside the attributes of its commits. The default is that of a server.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct CheckoutSettings {
    pub(super) crlf: CrlfFiles,
    /// `$GIT_DIR/info/attributes`.
    pub(super) attributes: Vec<u8>,
    /// The attributes of the user, which those of a commit override.
    pub(super) user_attributes: Vec<u8>,
}

impl CheckoutSettings {
    /// Reads a repository's `info/attributes` and the attributes of the user, and adds what its configuration sets.
    pub(crate) fn read(
        configuration: &CheckoutConfiguration,
        attributes: &Path,
    ) -> Result<Self, SourceError> {
        let user_attributes = configuration.attributes.as_deref().map(read_if_possible).transpose()?;
        Ok(Self {
            crlf: configuration.crlf,
            attributes: read_if_possible(attributes)?,
            user_attributes: user_attributes.unwrap_or_default(),
        })
    }

    /// Reads the settings of the repository in a `.git` directory.
    pub(crate) async fn of_git_dir(git: &Git, git_dir: &Path) -> Result<Self, SourceError> {
        let configuration = CheckoutConfiguration::read(git, git_dir, Place::Bare(git_dir)).await?;
        Self::read(&configuration, &git_dir.join("info/attributes"))
    }

    /// Returns what of the settings is part of a tree's key. None for those of a server.
    pub(crate) fn bytes(&self) -> Option<Vec<u8>> {
        let (auto_crlf, eol) = self.crlf.values();
        let text = format!("{auto_crlf}\0{eol}\0{}\0", self.attributes.len());
        let parts = [text.as_bytes(), &self.attributes, &self.user_attributes];
        (*self != Self::default()).then(|| parts.concat())
    }

    /// Returns the attributes beside those of commits.
    pub(crate) fn attributes(&self) -> [&[u8]; 2] {
        [&self.attributes, &self.user_attributes]
    }

    /// Whether files may be converted without attributes of their commit.
    pub(crate) fn may_convert(&self) -> bool {
        self.crlf != CrlfFiles::None || self.attributes().into_iter().any(attributes_convert)
    }
}

/// Whether attributes may convert files where lines end as on Linux.
pub(crate) fn attributes_convert(attributes: &[u8]) -> bool {
    let text = String::from_utf8_lossy(attributes);
    CONVERTING.iter().any(|word| text.contains(word))
}

/// Returns the content of a file. Empty if it does not exist or may not be read, as for git.
fn read_if_possible(file: &Path) -> Result<Vec<u8>, SourceError> {
    let is_ignored =
        |kind| matches!(kind, ErrorKind::NotFound | ErrorKind::NotADirectory | ErrorKind::PermissionDenied);
    match fs::read(file) {
        Err(error) if is_ignored(error.kind()) => Ok(Vec::new()),
        read => read.map_err(|source| SourceError::Read { path: file.to_path_buf(), source }),
    }
}

/// The files in which git ends lines with CRLF, beside those with the attribute `eol=crlf`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum CrlfFiles {
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
    pub(super) fn values(self) -> (&'static str, &'static str) {
        match self {
            Self::None => ("false", "lf"),
            Self::WithAttribute => ("false", "crlf"),
            Self::AllText => ("true", "lf"),
        }
    }
}

/// Whether git reads the lower-case value of a boolean as true.
fn is_true(value: &str) -> bool {
    !FALSE.contains(&value) && !value.trim_start_matches('0').is_empty()
}
