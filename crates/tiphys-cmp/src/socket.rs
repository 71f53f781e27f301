//! The server's socket file.

use std::fs::{self, File, Metadata, TryLockError};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use tiphys_plugin::config::check::SOCKET_PATH_BYTES_MAX;
use tokio::net::{UnixListener, UnixStream};
use tokio::time::{Instant, sleep};

/// How long another server may take to look at its socket in the same folder and to listen, and how often it is asked.
const FOLDER_LOCK_MAX: Duration = Duration::from_secs(5);
const FOLDER_LOCK_PAUSE: Duration = Duration::from_millis(10);

/// Why a socket could not be had.
#[derive(Debug, thiserror::Error)]
pub enum SocketError {
    /// Linux allows 107 bytes.
    #[error(
        "socket path {path} has {bytes} bytes; at most {SOCKET_PATH_BYTES_MAX} are possible: shorten the plugin's name or version, or set ARGOCD_PLUGINSOCKFILEPATH to a shorter folder"
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
    /// Something that is no socket is in the way.
    #[error("{path} is there and is no socket; remove it")]
    NoSocket {
        /// The path.
        path: PathBuf,
    },
    /// Somebody may listen there whom this server cannot ask, such as another user's server.
    #[error("whether socket {path} is in use cannot be found out; end its server, or remove the file")]
    Unknown {
        /// The path.
        path: PathBuf,
        /// What came of asking.
        #[source]
        source: io::Error,
    },
    /// The system refused.
    #[error("cannot listen on {path}")]
    Io {
        /// The path.
        path: PathBuf,
        /// Its answer.
        #[source]
        source: io::Error,
    },
}

/// Removes the socket file when the server ends, if it is still this server's.
#[derive(Debug)]
pub struct SocketGuard(SocketFile);

/// The path at which a server listens, and the file that it made there.
#[derive(Clone, Debug)]
pub struct SocketFile {
    path: PathBuf,
    id: FileId,
}

/// Why a socket is not its server's any more: callers reach another server, or none.
#[derive(Debug, thiserror::Error)]
pub enum SocketLost {
    /// Another file is at its path.
    #[error("another file is there")]
    Replaced,
    /// It cannot be looked at, or does not exist.
    #[error("it is gone")]
    Gone(#[source] io::Error),
}

/// Which file is at a path: its device and its number there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct FileId(u64, u64);

impl FileId {
    fn of(metadata: &Metadata) -> Self {
        Self(metadata.dev(), metadata.ino())
    }
}

impl SocketGuard {
    /// The socket's path and file.
    pub fn file(&self) -> &SocketFile {
        &self.0
    }
}

impl SocketFile {
    /// Where the server listens.
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

/// Listens on a socket. A dead server's file is replaced; a live server's is never stolen. The folder is made if it is missing.
pub async fn bind(path: &Path) -> Result<(UnixListener, SocketGuard), SocketError> {
    let bytes = path.as_os_str().as_bytes().len();
    if bytes > SOCKET_PATH_BYTES_MAX {
        return Err(SocketError::TooLong { path: path.to_path_buf(), bytes });
    }
    let failed = |source| SocketError::Io { path: path.to_path_buf(), source };
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    fs::create_dir_all(folder).map_err(failed)?;
    // Of two servers that find one dead socket, the second must not remove what the first has put in its place.
    let _alone = lock(folder).await.map_err(failed)?;
    make_room(path).await?;
    let listener = UnixListener::bind(path).map_err(failed)?;
    let id = FileId::of(&fs::symlink_metadata(path).map_err(failed)?);
    Ok((listener, SocketGuard(SocketFile { path: path.to_path_buf(), id })))
}

/// Keeps other servers from binding in a folder, until what is returned is dropped. No file stays behind.
async fn lock(folder: &Path) -> io::Result<File> {
    let folder = File::open(folder)?;
    let until = Instant::now() + FOLDER_LOCK_MAX;
    loop {
        match folder.try_lock() {
            Ok(()) => return Ok(folder),
            Err(TryLockError::WouldBlock) if Instant::now() < until => sleep(FOLDER_LOCK_PAUSE).await,
            Err(error) => return Err(error.into()),
        }
    }
}

/// Removes what a dead server has left at the path.
async fn make_room(path: &Path) -> Result<(), SocketError> {
    let failed = |source| SocketError::Io { path: path.to_path_buf(), source };
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(failed(error)),
        Ok(metadata) if !metadata.file_type().is_socket() => {
            return Err(SocketError::NoSocket { path: path.to_path_buf() });
        }
        Ok(_) => {}
    }
    let Err(error) = UnixStream::connect(path).await else {
        return Err(SocketError::InUse { path: path.to_path_buf() });
    };
    match error.kind() {
        // Nobody listens.
        io::ErrorKind::ConnectionRefused => fs::remove_file(path).map_err(failed),
        // Its server has ended in between.
        io::ErrorKind::NotFound => Ok(()),
        // More callers wait than the system lets wait, so somebody listens.
        io::ErrorKind::WouldBlock => Err(SocketError::InUse { path: path.to_path_buf() }),
        _ => Err(SocketError::Unknown { path: path.to_path_buf(), source: error }),
    }
}

#[cfg(test)]
mod tests;
