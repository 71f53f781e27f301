//! Files that are too large to stay in memory while their digest is computed.
//!
//! The digest of such a file is known after its last byte, too late to decide whether to write it. So a file that begins like a known one
//! of the same size is compared with it, and is written from the first difference.

use std::fs::File;
use std::io::{self, Read, Write as _};

use super::contents::{Beginning, FileKey, FileNumber, IntakeNumber, Leaving, blocks};
use super::untouched::mark;
use super::{Own, failed};
use crate::archive::{ArchiveError, IncomingFile, unread};

/// Bytes read, compared and written at once.
const PIECE_BYTES: usize = 64 * 1024;

impl Own {
    /// Claims a large file, and writes it if it is missing.
    pub(super) fn take_large(
        &self,
        file: IncomingFile<'_>,
        intake: IntakeNumber,
        stop: &(dyn Fn() -> bool + Sync),
    ) -> Result<FileKey, ArchiveError> {
        let IncomingFile { path, executable, bytes, content } = file;
        let failed = |source| failed(path.as_bytes(), source);
        let mut piece = vec![0; PIECE_BYTES];
        let mut read = fill(content, &mut piece).map_err(unread)?;
        let beginning = Beginning::of(&piece[..read], bytes, executable);
        let mut twin = Twin::find(self, beginning).map_err(failed)?;
        if let Some(twin) = &mut twin {
            while read > 0 && twin.goes_on_with(&piece[..read]).map_err(failed)? {
                read = fill(content, &mut piece).map_err(unread)?;
            }
        }
        if read == 0
            && let Some(key) = twin.take().and_then(|twin| twin.claimed.keep())
        {
            return Ok(key);
        }
        self.grow(intake, blocks(bytes))?;
        let mut new = New::create(self, executable, stop).map_err(failed)?;
        if let Some(twin) = &mut twin {
            twin.copy_to(&mut new).map_err(failed)?;
        }
        while read > 0 {
            new.write(&piece[..read]).map_err(failed)?;
            read = fill(content, &mut piece).map_err(unread)?;
        }
        Ok(new.claim(intake, beginning, executable, bytes))
    }
}

/// Reads until the buffer is full or the input ends.
fn fill(content: &mut dyn Read, buffer: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while filled < buffer.len() {
        match content.read(&mut buffer[filled..]) {
            Ok(0) => break,
            Ok(read) => filled += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}

/// A claim that is released on drop.
struct Claimed<'a> {
    own: &'a Own,
    key: Option<FileKey>,
}

impl Claimed<'_> {
    /// Returns the claim without releasing it.
    fn keep(mut self) -> Option<FileKey> {
        self.key.take()
    }
}

impl Drop for Claimed<'_> {
    fn drop(&mut self) {
        if let Some(key) = self.key {
            let mut leaving = Leaving::default();
            self.own.contents().release([key], &mut leaving);
            self.own.remover.remove(leaving);
        }
    }
}

/// A known file with the same beginning.
struct Twin<'a> {
    claimed: Claimed<'a>,
    number: FileNumber,
    file: File,
    /// Number of equal bytes so far.
    equal: u64,
    buffer: Vec<u8>,
}

impl<'a> Twin<'a> {
    fn find(own: &'a Own, beginning: Beginning) -> io::Result<Option<Self>> {
        let Some((key, number)) = own.contents().claim_large(beginning) else { return Ok(None) };
        let claimed = Claimed { own, key: Some(key) };
        if own.is_gone(key, number) {
            return Ok(None);
        }
        let file = own.places.open(number)?;
        Ok(Some(Self { claimed, number, file, equal: 0, buffer: vec![0; PIECE_BYTES] }))
    }

    /// Whether the next bytes are equal.
    fn goes_on_with(&mut self, piece: &[u8]) -> io::Result<bool> {
        let read = fill(&mut self.file, &mut self.buffer[..piece.len()])?;
        let same = self.buffer[..read] == *piece;
        if same {
            self.equal += u64::try_from(read).unwrap_or(u64::MAX);
        }
        Ok(same)
    }

    /// Copies the equal bytes.
    fn copy_to(&mut self, new: &mut New<'_>) -> io::Result<()> {
        let mut file = self.claimed.own.places.open(self.number)?.take(self.equal);
        loop {
            match fill(&mut file, &mut self.buffer)? {
                0 => return Ok(()),
                read => new.write(&self.buffer[..read])?,
            }
        }
    }
}

/// A file that is being written, unknown to other threads; removed on drop if it is not claimed.
struct New<'a> {
    own: &'a Own,
    stop: &'a (dyn Fn() -> bool + Sync),
    number: Option<FileNumber>,
    file: File,
    hasher: blake3::Hasher,
}

impl<'a> New<'a> {
    fn create(own: &'a Own, executable: bool, stop: &'a (dyn Fn() -> bool + Sync)) -> io::Result<Self> {
        let number = own.contents().fresh_number();
        let file = own.with_room(stop, || own.places.create(number, executable))?;
        Ok(Self { own, stop, number: Some(number), file, hasher: blake3::Hasher::new() })
    }

    fn write(&mut self, mut piece: &[u8]) -> io::Result<()> {
        self.hasher.update(piece);
        while !piece.is_empty() {
            match self.own.with_room(self.stop, || self.file.write(piece)) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(written) => piece = &piece[written..],
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Claims the written file, or the same file that another thread wrote meanwhile.
    fn claim(mut self, intake: IntakeNumber, beginning: Beginning, executable: bool, bytes: u64) -> FileKey {
        let key = FileKey { digest: *self.hasher.finalize().as_bytes(), executable };
        let mut leaving = Leaving::default();
        if let Some(number) = self.number.take() {
            // Without the mark it counts as changed, and is written again when needed.
            let _unmarked = mark(&self.file, executable)
                .and_then(|()| self.own.places.inodes.written(&self.file, key.digest));
            let mut contents = self.own.contents();
            contents.take_grown(intake);
            contents.claim_written(key, bytes, number, beginning, &mut leaving);
        }
        self.own.remover.remove(leaving);
        key
    }
}

impl Drop for New<'_> {
    fn drop(&mut self) {
        if let Some(number) = self.number {
            self.own.places.remove(number);
        }
    }
}
