//! The secret in the names of clones. Without it a name would follow from a URL, and a repository could lead git there: by a `gitdir:` file, a
//! `commondir` or `alternates`, which no check of a URL sees.

use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::path::Path;

use crate::SourceError;
use crate::cache_files::{new_file, private_folder};

/// The file in the cache directory.
const FILE: &str = "git.secret";

/// Bytes of the secret.
pub(crate) const SECRET_BYTES: usize = 32;

/// Returns the secret of a cache directory, and makes it if there is none or it is damaged. Without the old one, clones are fetched again. In
/// a directory that cannot be written to there are no clones without it; then it is one that no name was made with.
pub(crate) fn secret(cache_dir: &Path) -> Result<[u8; SECRET_BYTES], SourceError> {
    let path = cache_dir.join(FILE);
    match known(&path) {
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
    Ok(if written { secret } else { known(&path).unwrap_or(secret) })
}

fn known(path: &Path) -> io::Result<[u8; SECRET_BYTES]> {
    fs::read(path)?.try_into().map_err(|_| io::ErrorKind::InvalidData.into())
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
