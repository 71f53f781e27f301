//! Packs a tree into an archive.

use std::ffi::OsString;
use std::fs;
use std::io::{self, Read as _, Write};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::GzEncoder;
use rustix::fs::{Mode, OFlags};
use tar::{Builder, EntryType, Header};

use super::ArchiveError;

/// Bytes of the header field for a name, and for a link's target.
const NAME_BYTES: usize = 100;
/// Bytes of the header field for the directories of a name.
const PREFIX_BYTES: usize = 155;
/// Fast compression: the archive is sent over a socket of the same machine.
const LEVEL: u32 = 1;

/// Packs the tree below `root`: depth first, sorted by name, links as links, headers without times, owners and owner names, so that equal
/// trees give equal bytes.
///
/// Names of directories have no final slash, and the first entry is `.`. Sockets, pipes and devices are omitted. The format is USTAR, with
/// PAX records for names that are long or not ASCII.
pub fn pack(root: &Path, out: &mut dyn Write) -> Result<(), ArchiveError> {
    let mut archive = Builder::new(GzEncoder::new(out, Compression::new(LEVEL)));
    // Reversed, so that the last item is the next in order.
    let mut todo = vec![PathBuf::new()];
    while let Some(path) = todo.pop() {
        let place = if path.as_os_str().is_empty() { root.to_path_buf() } else { root.join(&path) };
        let failed = |source| unreadable(&place, &source);
        let metadata = fs::symlink_metadata(&place).map_err(failed)?;
        let kind = metadata.file_type();
        let mut header = Header::new_ustar();
        header.set_mode(metadata.permissions().mode() & 0o777);
        header.set_mtime(0);
        header.set_uid(0);
        header.set_gid(0);
        header.set_size(0);
        let name = if path.as_os_str().is_empty() { &b"."[..] } else { path.as_os_str().as_bytes() };
        if kind.is_dir() {
            header.set_entry_type(EntryType::Directory);
            append(&mut archive, header, name, b"", &mut io::empty())?;
            let mut names: Vec<OsString> = Vec::new();
            for entry in fs::read_dir(&place).map_err(failed)? {
                names.push(entry.map_err(failed)?.file_name());
            }
            names.sort_unstable_by(|a, b| b.cmp(a));
            todo.extend(names.into_iter().map(|name| path.join(name)));
        } else if kind.is_symlink() {
            header.set_entry_type(EntryType::Symlink);
            let target = fs::read_link(&place).map_err(failed)?;
            append(&mut archive, header, name, target.as_os_str().as_bytes(), &mut io::empty())?;
        } else if kind.is_file() {
            let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            let file =
                rustix::fs::open(&place, flags, Mode::empty()).map_err(|error| failed(error.into()))?;
            header.set_entry_type(EntryType::Regular);
            header.set_size(metadata.len());
            let content = &mut io::BufReader::new(fs::File::from(file)).take(metadata.len());
            append(&mut archive, header, name, b"", content)?;
            if content.limit() > 0 {
                let message = format!("{} became shorter while it was packed", place.display());
                return Err(ArchiveError::malformed(message));
            }
        }
    }
    archive.into_inner()?.finish()?.flush()?;
    Ok(())
}

/// Writes one entry, with its names in the header if they fit, else in PAX records in front of it.
fn append<W: Write>(
    archive: &mut Builder<W>,
    mut header: Header,
    name: &[u8],
    target: &[u8],
    content: &mut dyn io::Read,
) -> io::Result<()> {
    let mut records = Vec::new();
    if let Some(fields) = header.as_ustar_mut() {
        if let Some((prefix, name)) = split(name).filter(|_| name.is_ascii()) {
            fields.prefix[..prefix.len()].copy_from_slice(prefix);
            fields.name[..name.len()].copy_from_slice(name);
        } else {
            records.push(("path", name));
            fill_with_ascii(&mut fields.name, name);
        }
        if target.is_ascii() && target.len() <= NAME_BYTES {
            fields.linkname[..target.len()].copy_from_slice(target);
        } else {
            records.push(("linkpath", target));
            fill_with_ascii(&mut fields.linkname, target);
        }
    }
    if !records.is_empty() {
        archive.append_pax_extensions(records)?;
    }
    header.set_cksum();
    archive.append(&header, content)
}

/// Splits a name at a slash so that both parts fit their fields; the first part of a short name is empty.
fn split(name: &[u8]) -> Option<(&[u8], &[u8])> {
    if name.len() <= NAME_BYTES {
        return Some((b"", name));
    }
    let first = name.len() - NAME_BYTES - 1;
    let slash = first + name[first..].iter().position(|byte| *byte == b'/')?;
    (slash <= PREFIX_BYTES).then(|| (&name[..slash], &name[slash + 1..]))
}

/// Fills in what a reader without PAX sees: the beginning of the name without non-ASCII bytes.
fn fill_with_ascii(field: &mut [u8], name: &[u8]) {
    for (slot, byte) in field.iter_mut().zip(name.iter().filter(|byte| byte.is_ascii())) {
        *slot = *byte;
    }
}

fn unreadable(place: &Path, error: &io::Error) -> ArchiveError {
    ArchiveError::malformed(format!("cannot read {}: {error}", place.display()))
}
