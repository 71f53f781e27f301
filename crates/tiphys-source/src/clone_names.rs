//! The secret in the directory names of clones. Without it, the directory of a repository could be derived from its URL, and a malicious
//! repository could refer to it in a `gitdir:` file, `commondir` or `alternates`, which the checks of URLs do not see.

use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::path::Path;

use tiphys_tree::{FileOwner, open_file, read_to_bound};

use crate::SourceError;
use crate::cache_files::{new_file, private_folder};

/// Name of the file in the cache directory.
const FILE: &str = "git.secret";

/// Length of the secret in bytes.
pub(crate) const SECRET_BYTES: usize = 32;

/// Returns the secret of a cache directory. Creates it if it does not exist, or replaces it if it is damaged; clones are then fetched again.
/// A secret that cannot be stored is returned too: without one, a read-only cache contains no clones.
pub(crate) fn secret(cache_dir: &Path) -> Result<[u8; SECRET_BYTES], SourceError> {
    let path = cache_dir.join(FILE);
    match read(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) if error.kind() == io::ErrorKind::InvalidData => {
            fs::remove_file(&path).map_err(SourceError::cache("replace the damaged file", &path))?;
            tracing::warn!("{} was damaged and is replaced; repositories are fetched again", path.display());
        }
        found => return found.map_err(SourceError::cache("read", &path)),
    }
    let mut secret = [0; SECRET_BYTES];
    let random = File::open("/dev/urandom").and_then(|mut random| random.read_exact(&mut secret));
    random.map_err(SourceError::cache("make", &path))?;
    let write = || -> io::Result<()> {
        let mut file = new_file(cache_dir)?;
        file.write_all(&secret)?;
        file.persist_noclobber(&path).map_err(|error| error.error)?;
        Ok(())
    };
    let written = private_folder(cache_dir).is_ok() && write().is_ok();
    // Another process may have been first.
    Ok(if written { secret } else { read(&path).unwrap_or(secret) })
}

fn read(path: &Path) -> io::Result<[u8; SECRET_BYTES]> {
    let file = open_file(path, FileOwner::Repository, File::options().read(true))?;
    let secret = read_to_bound(file, SECRET_BYTES as u64)?.unwrap_or_default();
    secret.try_into().map_err(|_| io::ErrorKind::InvalidData.into())
}

#[cfg(test)]
mod tests {
    use super::{FILE, secret};

    #[test]
    fn secret_is_made_once_and_replaced_if_damaged() {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let cache = dir.path().join("cache");
        let first = secret(&cache).expect("it is made");
        assert_eq!(secret(&cache).expect("it is read"), first);
        assert_ne!(secret(&dir.path().join("other")).expect("it is made"), first);
        std::fs::write(cache.join(FILE), "short").expect("it can be written");
        let second = secret(&cache).expect("it is replaced");
        assert_ne!(second, first);
        assert_eq!(secret(&cache).expect("it is read"), second);
    }
}
