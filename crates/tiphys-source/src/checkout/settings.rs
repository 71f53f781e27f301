//! What converts the files of a repository beside the attributes of its commits: its configuration and `info/attributes`.

use std::fs;
use std::path::Path;

use crate::SourceError;
use crate::git::{Git, Place};
use crate::local::{Expect, ask};

/// One of these is in every list of attributes that converts files where lines end as on Linux. `crlf` is a value of `eol`.
const CONVERTING: [&str; 3] = ["crlf", "ident", "working-tree-encoding"];

/// Words that git reads as false.
const FALSE: [&str; 3] = ["false", "no", "off"];

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
    pub(super) crlf: CrlfFiles,
    /// `$GIT_DIR/info/attributes`.
    pub(super) attributes: Vec<u8>,
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

    /// Returns what of the settings is part of a tree's key. None for those of a server.
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

/// Whether attributes may convert files where lines end as on Linux.
pub(crate) fn attributes_convert(attributes: &[u8]) -> bool {
    let text = String::from_utf8_lossy(attributes);
    CONVERTING.iter().any(|word| text.contains(word))
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
