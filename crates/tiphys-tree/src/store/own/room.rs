//! Unpacks an archive, within the room that the trees in use leave.
//!
//! Everything in use counts against [`StoreBounds::bytes_max`](crate::StoreBounds): trees in use, and archives that are being read, with
//! their announced bytes. An archive gets room if it fits, or if nothing else is in use. It never waits later: one that grows over the limit
//! with others is rejected, because two that wait for each other would both keep what they have written.

use std::io::{self, Read};
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use tiphys_model::limits::Limit;

use super::fingerprint::Entries;
use super::{BLOCK_BYTES, CachedTree, NAME_BYTES, Own, Space};
use crate::archive::{self, ArchiveError, IncomingFile, Intake, Sink, unread};
use crate::store::seal::Seal;
use crate::store::session::Session;
use crate::store::{Staged, Tree, is_of_a_full_disk};
use crate::writer::Naming;
use crate::{EntryPath, StoreError, TreeKey, TreeLimits, TreeWriter, WriteError};

/// Files up to this size are read completely before they are written.
const WHOLE_FILE_BYTES_MAX: u64 = 64 * 1024;

/// Room for one archive in a store of one process. Released on drop; a created tree keeps its bytes.
#[derive(Debug)]
pub struct Room {
    own: Arc<Own>,
    /// Announced bytes that are not written yet.
    announced: u64,
    space: Space,
}

impl Own {
    /// Returns room for an archive of this announced size, if available.
    pub(in crate::store) fn room_now(self: &Arc<Self>, announced: u64) -> Option<Room> {
        let mut state = self.state();
        let in_use = self.bytes.load(Ordering::Relaxed).saturating_sub(state.unused_bytes());
        let needed = in_use.saturating_add(state.announced).saturating_add(announced);
        if needed > self.bounds.bytes_max && (in_use > 0 || state.rooms > 0) {
            return None;
        }
        state.rooms += 1;
        state.announced = state.announced.saturating_add(announced);
        let space = Space { total: Arc::clone(&self.bytes), bytes: 0 };
        Some(Room { own: Arc::clone(self), announced, space })
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        let mut state = self.own.state();
        state.rooms -= 1;
        state.announced -= self.announced;
    }
}

impl Room {
    /// Unpacks an archive (gzipped tar) as the tree of this name, which the caller derives from the archive's bytes. The archive is read to
    /// its last byte before the tree exists. A reader's error is returned as [`ArchiveError::Io`].
    ///
    /// # Errors
    ///
    /// [`ArchiveError::StoreFull`] if it brings the store over its limit while other trees are in use. If the file system is full, unused
    /// trees are evicted, so that the next archive has room.
    pub fn take_in(
        mut self,
        key: TreeKey,
        archive: &mut dyn Read,
        intake: &Intake<'_>,
    ) -> Result<Tree, ArchiveError> {
        let session = self.own.session.get()?;
        match self.unpack(&session, archive, intake) {
            Ok(cached) => Ok(self.own.keep(key, cached)),
            Err(error) => {
                if error.io().is_some_and(is_of_a_full_disk) {
                    self.own.make_room();
                }
                if error.io().is_some() && !session.is_there() {
                    return Err(StoreError::Removed { path: session.path().to_path_buf() }.into());
                }
                Err(error)
            }
        }
    }

    fn unpack(
        &mut self,
        session: &Arc<Session>,
        archive: &mut dyn Read,
        intake: &Intake<'_>,
    ) -> Result<CachedTree, ArchiveError> {
        let made = Instant::now();
        let staged = Staged::new(session.fresh_path())?;
        let limits =
            TreeLimits { entries_max: intake.limits.entries_max, bytes_max: intake.limits.bytes_max };
        let mut writer = TreeWriter::new(staged.tree(), limits, Naming::Given)?;
        writer.set_modes(intake.modes);
        self.grow(BLOCK_BYTES)?;
        let root = staged.tree();
        let mut sink = Unpacking {
            root: &root,
            writer: &writer,
            room: self,
            entries: Entries::default(),
            files: 0,
            content: Vec::new(),
        };
        let directories = archive::read(archive, intake, &mut sink)?.directories();
        let (mut entries, files) = (sink.entries, sink.files);
        let count = u64::try_from(directories.len()).unwrap_or(u64::MAX);
        self.grow(count.saturating_mul(NAME_BYTES + BLOCK_BYTES))?;
        for path in directories {
            entries.directory(&path);
        }
        writer.finish()?;
        let space =
            std::mem::replace(&mut self.space, Space { total: Arc::clone(&self.own.bytes), bytes: 0 });
        Ok(CachedTree {
            seal: Seal::of(&root).map_err(StoreError::io("seal", staged.place()))?,
            root: Arc::new(root),
            fingerprint: Some(entries.finish()),
            checked: Mutex::new(made),
            files,
            staged,
            space,
            session: Arc::clone(session),
        })
    }

    /// Counts bytes before they are written. Evicts unused trees first.
    fn grow(&mut self, bytes: u64) -> Result<(), ArchiveError> {
        let max = self.own.bounds.bytes_max;
        self.own.evict_while(|_| self.own.bytes.load(Ordering::Relaxed).saturating_add(bytes) > max);
        let mut state = self.own.state();
        let total = self.own.bytes.load(Ordering::Relaxed);
        if total.saturating_add(bytes) > max {
            let others = total.saturating_sub(state.unused_bytes()).saturating_sub(self.space.bytes);
            if others > 0 || state.rooms > 1 {
                return Err(ArchiveError::StoreFull { max, limit: Limit::STORE_BYTES_MAX });
            }
        }
        self.space.add(bytes);
        let announced = self.announced.min(bytes);
        self.announced -= announced;
        state.announced -= announced;
        Ok(())
    }
}

/// Writes the entries of an archive.
struct Unpacking<'a> {
    root: &'a PathBuf,
    writer: &'a TreeWriter,
    room: &'a mut Room,
    entries: Entries,
    files: u64,
    /// The content of one small file.
    content: Vec<u8>,
}

impl Unpacking<'_> {
    /// The error names the path in the tree: the path of the store means nothing to the sender of an archive.
    fn failed(&self, error: WriteError) -> ArchiveError {
        match error {
            WriteError::Io { path, source } => {
                let path = path.strip_prefix(self.root).map(PathBuf::from).unwrap_or(path);
                WriteError::Io { path, source }.into()
            }
            // The archive could not be read.
            WriteError::Content { source, .. } => unread(source),
            error => error.into(),
        }
    }

    fn unseen(path: &EntryPath<'_>) -> impl FnOnce(io::Error) -> ArchiveError {
        move |source| WriteError::Io { path: path.to_string().into(), source }.into()
    }
}

impl Sink for Unpacking<'_> {
    fn directory(&mut self, path: &EntryPath<'_>) -> Result<(), ArchiveError> {
        self.writer.directory(path).map_err(|error| self.failed(error))
    }

    fn link(&mut self, path: &EntryPath<'_>, target: &[u8]) -> Result<(), ArchiveError> {
        self.room.grow(NAME_BYTES)?;
        self.writer.link(path, target).map_err(|error| self.failed(error))?;
        self.entries.link(path.as_bytes(), &path.below(self.root)).map_err(Self::unseen(path))
    }

    fn file(&mut self, file: IncomingFile<'_>) -> Result<(), ArchiveError> {
        let IncomingFile { path, executable, bytes, content } = file;
        self.room.grow(
            bytes.div_ceil(BLOCK_BYTES).max(1).saturating_mul(BLOCK_BYTES).saturating_add(NAME_BYTES),
        )?;
        let written = if bytes > WHOLE_FILE_BYTES_MAX {
            self.writer.write_from(path, executable, content)
        } else {
            self.content.resize(usize::try_from(bytes).unwrap_or(usize::MAX), 0);
            content.read_exact(&mut self.content).map_err(unread)?;
            self.writer.write_whole(path, executable, &self.content)
        };
        let written = written.map_err(|error| self.failed(error))?;
        self.files += 1;
        self.entries.file(path.as_bytes(), &written).map_err(Self::unseen(path))
    }
}
