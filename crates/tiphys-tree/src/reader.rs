//! Reads entries below a directory that others may change: no link in a path is followed.

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::path::Path;

use rustix::fs::{FileType, Mode, OFlags, fstat, open, openat, readlinkat};
use rustix::io::Errno;

use crate::EntryPath;
use crate::path::{is_slash, parent};

/// Files up to this size are read completely; larger ones in pieces.
pub(crate) const WHOLE_FILE_BYTES_MAX: u64 = 1024 * 1024;

/// An entry.
#[derive(Debug)]
pub(crate) enum Found {
    Directory,
    /// A link with its target.
    Link(Vec<u8>),
    /// An open, unread file.
    File {
        executable: bool,
        bytes: u64,
        file: File,
    },
    /// Nothing, a socket, pipe or device, or something behind a link.
    Nothing,
}

/// Reads entries by path. Fastest if successive paths share a directory, because the parents of the last entry stay open.
#[derive(Debug)]
pub(crate) struct DirectoryReader {
    root: OwnedFd,
    /// The parents of the last entry, outermost first.
    open: Vec<(Vec<u8>, OwnedFd)>,
}

impl DirectoryReader {
    /// Opens a directory. Links in its own path are followed.
    pub(crate) fn open(root: &Path) -> io::Result<Self> {
        let root = open(root, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
        Ok(Self { root, open: Vec::new() })
    }

    /// Reads the entry at a path.
    pub(crate) fn find<'p>(&mut self, path: impl Into<EntryPath<'p>>) -> io::Result<Found> {
        let path = path.into();
        let Some(name) = path.file_name() else { return Ok(Found::Directory) };
        match self.find_in_parent(parent(path.as_bytes()), name) {
            // Git lists the entries of its index, even if the file or a parent does not exist.
            Err(Errno::NOENT | Errno::NOTDIR) => Ok(Found::Nothing),
            answer => Ok(answer?),
        }
    }

    fn find_in_parent(&mut self, directory: &[u8], name: &[u8]) -> Result<Found, Errno> {
        let directory = self.enter(directory)?;
        // Without NONBLOCK opening a pipe would block.
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = match openat(directory, name, flags, Mode::empty()) {
            Ok(file) => file,
            Err(Errno::LOOP | Errno::MLINK) => {
                return Ok(Found::Link(readlinkat(directory, name, Vec::new())?.into_bytes()));
            }
            // A socket, or a device that does not exist.
            Err(Errno::NXIO | Errno::NODEV) => return Ok(Found::Nothing),
            Err(error) => return Err(error),
        };
        let stat = fstat(&file)?;
        Ok(match FileType::from_raw_mode(stat.st_mode) {
            FileType::Directory => Found::Directory,
            FileType::RegularFile => Found::File {
                executable: stat.st_mode & 0o100 != 0,
                bytes: u64::try_from(stat.st_size).unwrap_or(0),
                file: File::from(file),
            },
            _ => Found::Nothing,
        })
    }

    /// Opens a directory step by step, from the deepest open one.
    fn enter(&mut self, directory: &[u8]) -> Result<BorrowedFd<'_>, Errno> {
        let on_the_way = |open: &[u8]| {
            directory.strip_prefix(open).is_some_and(|rest| rest.is_empty() || rest.starts_with(b"/"))
        };
        while self.open.last().is_some_and(|(open, _)| !on_the_way(open)) {
            self.open.pop();
        }
        let mut done = self.open.last().map_or(0, |(open, _)| open.len());
        while done < directory.len() {
            let start = if done == 0 { 0 } else { done + 1 };
            let end =
                directory[start..].iter().position(is_slash).map_or(directory.len(), |slash| start + slash);
            let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            let outer = self.open.last().map_or(&self.root, |(_, directory)| directory);
            let inner = match openat(outer, &directory[start..end], flags, Mode::empty()) {
                // An entry behind a link is not in this directory.
                Err(Errno::LOOP | Errno::MLINK) => return Err(Errno::NOTDIR),
                answer => answer?,
            };
            self.open.push((directory[..end].to_owned(), inner));
            done = end;
        }
        Ok(self.open.last().map_or(self.root.as_fd(), |(_, directory)| directory.as_fd()))
    }
}

/// Appends the content of a file to a buffer. `bytes` is the size in its metadata, which may have changed.
pub(crate) fn append_whole(file: &mut File, bytes: u64, buffer: &mut Vec<u8>) -> io::Result<()> {
    let start = buffer.len();
    // One byte more than expected, so that a short read is known to be the last one.
    let expected = usize::try_from(bytes).unwrap_or(usize::MAX).saturating_add(1);
    buffer.resize(start.saturating_add(expected), 0);
    let mut end = start;
    loop {
        match file.read(&mut buffer[end..]) {
            Ok(read) => {
                end += read;
                if end < buffer.len() {
                    buffer.truncate(end);
                    return Ok(());
                }
                buffer.resize(end + expected.max(4096), 0);
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}
