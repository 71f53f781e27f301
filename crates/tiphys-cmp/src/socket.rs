//! The socket file of a server.

use std::fs::{self, File, Metadata, TryLockError};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use tiphys_plugin::config::check::SOCKET_PATH_BYTES_MAX;
use tokio::net::{UnixListener, UnixStream};
use tokio::time::{Instant, sleep};

/// How long to wait for another server that binds in the same directory, and the interval of the attempts.
const LOCK_WAIT_MAX: Duration = Duration::from_secs(5);
const LOCK_RETRY_INTERVAL: Duration = Duration::from_millis(10);

/// An error of [`bind`].
#[derive(Debug, thiserror::Error)]
pub enum SocketError {
    /// Linux allows 107 bytes.
    #[error(
        "socket path {path} has {bytes} bytes; at most {SOCKET_PATH_BYTES_MAX} are possible: shorten the plugin's name or version, or set ARGOCD_PLUGINSOCKFILEPATH to a shorter directory"
    )]
    TooLong {
        /// The path.
        path: PathBuf,
        /// Its length.
        bytes: usize,
    },
    /// Another server answers there.
    #[error(
        "socket {path} is in use by another plugin server; end it, or give this plugin another name or version"
    )]
    InUse {
        /// The path.
        path: PathBuf,
    },
    /// Another kind of file exists there.
    #[error("{path} is not a socket; remove it")]
    NotASocket {
        /// The path.
        path: PathBuf,
    },
    /// Another server may listen there, such as one of another user, but connecting fails with an unexpected error.
    #[error("cannot determine whether socket {path} is in use; end its server, or remove the file")]
    Unknown {
        /// The path.
        path: PathBuf,
        /// The error of connecting.
        #[source]
        source: io::Error,
    },
    /// The system refused.
    #[error("cannot listen on {path}")]
    Io {
        /// The path.
        path: PathBuf,
        /// The system's error.
        #[source]
        source: io::Error,
    },
}

/// Removes the socket file when it is dropped, if the file is still this server's.
#[derive(Debug)]
pub struct SocketGuard(SocketFile);

/// The path of a server's socket, and the file that it made there.
#[derive(Clone, Debug)]
pub struct SocketFile {
    path: PathBuf,
    id: FileId,
}

/// Why a server's socket is lost: callers reach another server, or none.
#[derive(Debug, thiserror::Error)]
pub enum SocketLost {
    /// Another file replaced it.
    #[error("another file replaced it")]
    Replaced,
    /// It does not exist, or its metadata cannot be read.
    #[error("it does not exist")]
    Gone(#[source] io::Error),
}

/// Identity of a file: device and inode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct FileId(u64, u64);

impl FileId {
    fn of(metadata: &Metadata) -> Self {
        Self(metadata.dev(), metadata.ino())
    }
}

impl SocketGuard {
    /// Returns the socket's path and file.
    pub fn file(&self) -> &SocketFile {
        &self.0
    }
}

impl SocketFile {
    /// Returns the path of the socket.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Checks that the file at the path is the one that the server made.
    pub fn check(&self) -> Result<(), SocketLost> {
        let found = fs::symlink_metadata(&self.path).map_err(SocketLost::Gone)?;
        if FileId::of(&found) == self.id { Ok(()) } else { Err(SocketLost::Replaced) }
    }
}

impl Drop for SocketGuard {
    fn drop(&mut self) {
        let removed = match self.0.check() {
            Ok(()) => fs::remove_file(&self.0.path),
            Err(SocketLost::Replaced) => Ok(()),
            Err(SocketLost::Gone(error)) => Err(error),
        };
        if let Err(error) = removed {
            tracing::debug!(%error, path = %self.0.path.display(), "cannot remove the socket");
        }
    }
}

/// Listens on a socket. Replaces the file of a dead server, never that of a running one. Creates the directory if it is missing.
pub async fn bind(path: &Path) -> Result<(UnixListener, SocketGuard), SocketError> {
    let bytes = path.as_os_str().as_bytes().len();
    if bytes > SOCKET_PATH_BYTES_MAX {
        return Err(SocketError::TooLong { path: path.to_path_buf(), bytes });
    }
    let failed = |source| SocketError::Io { path: path.to_path_buf(), source };
    let directory =
        path.parent().filter(|directory| !directory.as_os_str().is_empty()).unwrap_or(Path::new("."));
    fs::create_dir_all(directory).map_err(failed)?;
    // If two servers find one dead socket, the second must not remove the new socket of the first.
    let _lock = lock(directory).await.map_err(failed)?;
    remove_dead(path).await?;
    let listener = UnixListener::bind(path).map_err(failed)?;
    let id = FileId::of(&fs::symlink_metadata(path).map_err(failed)?);
    Ok((listener, SocketGuard(SocketFile { path: path.to_path_buf(), id })))
}

/// Locks a directory until the result is dropped, so that no other server binds in it. Leaves no lock file behind.
async fn lock(directory: &Path) -> io::Result<File> {
    let directory = File::open(directory)?;
    let until = Instant::now() + LOCK_WAIT_MAX;
    loop {
        match directory.try_lock() {
            Ok(()) => return Ok(directory),
            Err(TryLockError::WouldBlock) if Instant::now() < until => sleep(LOCK_RETRY_INTERVAL).await,
            Err(error) => return Err(error.into()),
        }
    }
}

/// Removes the socket of a dead server.
async fn remove_dead(path: &Path) -> Result<(), SocketError> {
    let failed = |source| SocketError::Io { path: path.to_path_buf(), source };
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(failed(error)),
        Ok(metadata) if !metadata.file_type().is_socket() => {
            return Err(SocketError::NotASocket { path: path.to_path_buf() });
        }
        Ok(_) => {}
    }
    let Err(error) = UnixStream::connect(path).await else {
        return Err(SocketError::InUse { path: path.to_path_buf() });
    };
    match error.kind() {
        // No server listens.
        io::ErrorKind::ConnectionRefused => fs::remove_file(path).map_err(failed),
        // Its server ended meanwhile.
        io::ErrorKind::NotFound => Ok(()),
        // The listen queue is full, so a server listens.
        io::ErrorKind::WouldBlock => Err(SocketError::InUse { path: path.to_path_buf() }),
        _ => Err(SocketError::Unknown { path: path.to_path_buf(), source: error }),
    }
}

#[cfg(test)]
mod tests;
