//! Archives with fixed owners, modes, order and time.

use std::io;

use flate2::Compression;
use flate2::write::GzEncoder;
use tar::{Builder, Header};

use super::target::Architecture;

/// A file of a release.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct File {
    /// Path in the archive's directory.
    pub(super) path: String,
    /// Permissions.
    pub(super) mode: u32,
    /// Content.
    pub(super) content: Vec<u8>,
}

impl File {
    /// Creates an executable file.
    pub(super) fn program(path: impl Into<String>, content: Vec<u8>) -> Self {
        Self { path: path.into(), mode: 0o755, content }
    }

    /// Creates a file that all users may read.
    pub(super) fn data(path: impl Into<String>, content: Vec<u8>) -> Self {
        Self { path: path.into(), mode: 0o644, content }
    }
}

/// Returns the name of an archive without its extension, which is also that of the only directory in it.
pub(super) fn name(version: &str, architecture: Architecture) -> String {
    format!("tiphys-{version}-linux-{}", architecture.name())
}

/// Packs files into the directory `name`. The result depends only on the arguments: the header of gzip has no name and no time.
pub(super) fn pack(name: &str, files: &[File], time: u64) -> io::Result<Vec<u8>> {
    let mut files: Vec<&File> = files.iter().collect();
    files.sort_by(|one, other| one.path.cmp(&other.path));
    let mut archive = Builder::new(GzEncoder::new(Vec::new(), Compression::best()));
    for file in files {
        let mut header = Header::new_gnu();
        header.set_uid(0);
        header.set_gid(0);
        header.set_mode(file.mode);
        header.set_mtime(time);
        header.set_size(file.content.len() as u64);
        archive.append_data(&mut header, format!("{name}/{}", file.path), file.content.as_slice())?;
    }
    archive.into_inner()?.finish()
}
