//! The server's socket file.

use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

use tokio::net::{UnixListener, UnixStream};

/// Longest path of a socket: `sun_path` holds 108 bytes with the final NUL.
pub const SOCKET_PATH_BYTES_MAX: usize = 107;

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

/// Removes the socket file when the server ends.
#[derive(Debug)]
pub struct SocketGuard {
    path: PathBuf,
}

impl SocketGuard {
    /// Where the server listens.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for SocketGuard {
    fn drop(&mut self) {
        if let Err(error) = fs::remove_file(&self.path) {
            tracing::debug!(%error, path = %self.path.display(), "cannot remove the socket");
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
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(failed)?;
    }
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(failed(error)),
        Ok(metadata) if !metadata.file_type().is_socket() => {
            return Err(SocketError::NoSocket { path: path.to_path_buf() });
        }
        Ok(_) => match UnixStream::connect(path).await {
            Ok(_) => return Err(SocketError::InUse { path: path.to_path_buf() }),
            Err(_) => fs::remove_file(path).map_err(failed)?,
        },
    }
    let listener = UnixListener::bind(path).map_err(failed)?;
    Ok((listener, SocketGuard { path: path.to_path_buf() }))
}
