//! Creates a tree of hard links to files of the store.

use std::io;
use std::os::fd::{AsFd as _, OwnedFd};
use std::path::Path;
use std::thread::{self, Builder};

use rustix::fs::{Mode, OFlags, mkdirat, open, openat, symlinkat};

use super::contents::{BLOCK_BYTES, FileKey, FileNumber, IntakeNumber, NAME_BYTES};
use super::places::Linked;
use super::unnamed::{NewFiles, Place};
use super::{Own, failed, threads_for};
use crate::StoreError;
use crate::archive::ArchiveError;
use crate::digest::{Record, RecordKind};
use crate::modes::MODE_EXECUTABLE;
use crate::path::{parent, to_path};

impl Own {
    /// Creates a tree at an unused path from sorted records with claimed files. Those that are `new` are written into it. Its bytes besides
    /// its files are counted for the archive.
    pub(super) fn build(
        &self,
        root: &Path,
        records: &[Record],
        new: &mut NewFiles<'_>,
        intake: IntakeNumber,
        stop: &(dyn Fn() -> bool + Sync),
    ) -> Result<(), ArchiveError> {
        let directories = records.iter().filter(|record| record.kind == RecordKind::Directory).count();
        let count = |length| u64::try_from(length).unwrap_or(u64::MAX);
        self.grow(intake, count(records.len()) * NAME_BYTES + (count(directories) + 1) * BLOCK_BYTES)?;
        self.with_room(stop, || std::fs::create_dir(root)).map_err(StoreError::io("make", root))?;
        let directory = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let tree = open(root, directory, Mode::empty())
            .map_err(|error| StoreError::io("open", root)(error.into()))?;
        let making = Making { own: self, root, tree, intake, stop };
        making.directories(records)?;
        let threads = if new.is_empty() { threads_for(records.len()) } else { 1 };
        let mut parts = records.chunks(records.len().div_ceil(threads).max(1));
        let first = parts.next().unwrap_or_default();
        thread::scope(|scope| {
            let others: Vec<_> = parts
                .map(|part| (part, Builder::new().spawn_scoped(scope, || making.leaves(part, None))))
                .collect();
            making.leaves(first, Some(new))?;
            for (part, other) in others {
                match other {
                    Ok(other) => other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?,
                    // No thread could be started.
                    Err(_) => making.leaves(part, None)?,
                }
            }
            Ok(())
        })
    }
}

struct Making<'a> {
    own: &'a Own,
    root: &'a Path,
    tree: OwnedFd,
    intake: IntakeNumber,
    stop: &'a (dyn Fn() -> bool + Sync),
}

impl Making<'_> {
    /// Creates the directories. In the order of names parents come first.
    fn directories(&self, records: &[Record]) -> Result<(), ArchiveError> {
        let umask = self.own.places.umask;
        umask.mend(MODE_EXECUTABLE, |mode| std::fs::set_permissions(self.root, mode))?;
        for Record { path, .. } in records.iter().filter(|record| record.kind == RecordKind::Directory) {
            self.go_on()?;
            let made = self
                .own
                .with_room(self.stop, || {
                    Ok(mkdirat(&self.tree, &**path, Mode::from_raw_mode(MODE_EXECUTABLE))?)
                })
                .and_then(|()| {
                    let place = self.root.join(to_path(path));
                    umask.mend(MODE_EXECUTABLE, |mode| std::fs::set_permissions(place, mode))
                });
            made.map_err(|source| failed(path, source))?;
        }
        Ok(())
    }

    /// Makes the files and links.
    fn leaves(&self, records: &[Record], mut new: Option<&mut NewFiles<'_>>) -> Result<(), ArchiveError> {
        let numbers = self.numbers(records);
        let mut here = (Vec::new(), None);
        for (Record { path, kind }, number) in records.iter().zip(numbers) {
            self.go_on()?;
            let folder = parent(path);
            let name = &path[folder.len()..];
            let name = name.strip_prefix(b"/").unwrap_or(name);
            if *kind == RecordKind::Directory {
                continue;
            }
            if here.0 != folder {
                let opened = if folder.is_empty() { None } else { Some(self.open(folder)?) };
                here = (folder.to_owned(), opened);
            }
            let directory = here.1.as_ref().unwrap_or(&self.tree).as_fd();
            let made = self.own.with_room(self.stop, || match (kind, number) {
                (RecordKind::Link { target }, _) => {
                    symlinkat(&**target, directory, name)?;
                    Ok(Linked::Shared)
                }
                (kind, Some(number)) => {
                    let at = Place { tree: &self.tree, path, directory, name };
                    let put = new.as_mut().and_then(|new| new.put(number, &at));
                    put.unwrap_or_else(|| {
                        let executable = matches!(kind, RecordKind::Executable { .. });
                        self.own.places.link(number, executable, directory, name)
                    })
                }
                (_, None) => Err(io::ErrorKind::NotFound.into()),
            });
            match made {
                Ok(Linked::Shared) => {}
                Ok(Linked::Copied { bytes }) => self.own.grow(self.intake, bytes + BLOCK_BYTES)?,
                // A file that is removed from the store after its claim fails this archive; the next one restores it.
                Err(source) => return Err(failed(path, source)),
            }
        }
        Ok(())
    }

    fn open(&self, folder: &[u8]) -> Result<OwnedFd, ArchiveError> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        openat(&self.tree, folder, flags, Mode::empty()).map_err(|error| failed(folder, error.into()))
    }

    /// The locations of the files; `None` for other entries.
    fn numbers(&self, records: &[Record]) -> Vec<Option<FileNumber>> {
        let contents = self.own.contents();
        records.iter().map(|record| FileKey::of(&record.kind).and_then(|key| contents.number(key))).collect()
    }

    fn go_on(&self) -> Result<(), ArchiveError> {
        if (self.stop)() { Err(ArchiveError::Stopped) } else { Ok(()) }
    }
}
