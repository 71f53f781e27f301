//! Messages between the parent and the launcher, over the launcher's standard input and output.
//!
//! A frame is four bytes for the length (little endian), and the payload. Both ends are the same executable, so there is no version.
//! Paths and output are bytes, so the format is not JSON.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use bytes::Bytes;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::spec::{CommandSpec, Containment, Ended, Limits, View};

/// Bytes of the length in front of a payload.
pub(crate) const HEADER_BYTES: usize = 4;

/// A request of the parent. The parent requests the end of the run by closing the pipe, even within a request. The launcher then ends every
/// process, removes the view, and sends [`Event::Gone`]. A request for the end could be stuck behind others if the launcher is stopped.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Request {
    /// The first request, sent once.
    SetUp {
        /// The view of the commands.
        view: View,
        /// Limits of every command.
        limits: Limits,
        /// How the processes of the run are found at its end.
        containment: Containment,
    },
    /// Executes a command.
    Execute(CommandSpec),
}

/// An answer of the launcher.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Event {
    /// The view is set up.
    Ready {
        /// The root as the commands see it.
        #[serde(with = "path")]
        root: PathBuf,
        /// The roots of the other trees, in order.
        #[serde(with = "paths")]
        others: Vec<PathBuf>,
        /// Why the trees were copied although an overlay was requested. Empty if they were not.
        copied_because: String,
    },
    /// The view could not be set up. Everything is removed and the launcher exits.
    SetUpFailed {
        /// The reason.
        message: String,
    },
    /// The command could not be started.
    NotStarted {
        /// `errno`, 0 if unknown.
        errno: i32,
        /// The message. Empty for the system's message.
        message: String,
    },
    /// A part of the command's standard output.
    Stdout(Bytes),
    /// The command ended, or is about to be ended with the run.
    Finished {
        /// How it ended.
        ended: Ended,
        /// Standard error, limited.
        stderr: Vec<u8>,
    },
    /// Every process ended and everything is removed.
    Gone {
        /// The processes and files that could not be ended or removed. Empty if there are none.
        message: String,
    },
}

/// Encodes a message as a frame.
pub(crate) fn encode(message: &impl Serialize) -> io::Result<Vec<u8>> {
    let mut frame = postcard::to_extend(message, vec![0; HEADER_BYTES]).map_err(io::Error::other)?;
    let length = u32::try_from(frame.len() - HEADER_BYTES).map_err(|_too_long| {
        io::Error::new(io::ErrorKind::InvalidInput, "message to the launcher is larger than 4 GiB")
    })?;
    frame[..HEADER_BYTES].copy_from_slice(&length.to_le_bytes());
    Ok(frame)
}

/// Returns the payload length of a header.
pub(crate) fn payload_bytes(header: [u8; HEADER_BYTES]) -> usize {
    u32::from_le_bytes(header) as usize
}

/// Decodes the payload of a frame.
pub(crate) fn decode<M: DeserializeOwned>(payload: &[u8]) -> io::Result<M> {
    match postcard::take_from_bytes(payload) {
        Ok((message, [])) => Ok(message),
        _ => Err(io::Error::new(
            io::ErrorKind::InvalidData,
            "malformed message between tiphys and its launcher",
        )),
    }
}

/// A path as bytes: serde encodes only UTF-8 paths.
pub(crate) mod path {
    use super::{Deserialize, Deserializer, OsString, Path, PathBuf, Serialize, Serializer};

    pub(crate) fn serialize<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
        path.as_os_str().serialize(serializer)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<PathBuf, D::Error> {
        OsString::deserialize(deserializer).map(PathBuf::from)
    }
}

/// Paths as bytes.
pub(crate) mod paths {
    use super::{Deserialize, Deserializer, OsString, PathBuf, Serializer};

    pub(crate) fn serialize<S: Serializer>(paths: &[PathBuf], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(paths.iter().map(|path| path.as_os_str()))
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<PathBuf>, D::Error> {
        let paths = Vec::<OsString>::deserialize(deserializer)?;
        Ok(paths.into_iter().map(PathBuf::from).collect())
    }
}

#[cfg(test)]
mod tests;
