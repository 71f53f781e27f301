//! The repositories of this machine that `file://` URLs may name.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use tiphys_model::access::{RepoUrl, percent_decode};
use tiphys_tree::{Location, locations};

use crate::SourceError;
use crate::url::{RemoteUrl, Transport};

/// Suffixes that git tries for the directory of a URL (`enter_repo`).
const SUFFIXES: [&str; 4] = ["", ".git", "/.git", ".git/.git"];

/// Files of a repository that refer to the directory of another one.
const LEADING_AWAY: [&str; 3] = ["commondir", "objects/info/alternates", "objects/info/http-alternates"];

/// Refuses a `file://` URL of a repository that is not below one of these directories, or that may refer to files elsewhere: by symbolic
/// links, a `gitdir: …` file, `commondir` or `alternates`. Nothing outside of the directories is opened.
pub(crate) fn require_allowed(url: &RemoteUrl, directories: &[PathBuf]) -> Result<(), SourceError> {
    let Some(path) = directory(url) else { return Ok(()) };
    let allowed: Vec<Location> = directories.iter().flat_map(|directory| locations(directory)).collect();
    let is_allowed =
        |Location { place, .. }: &Location| allowed.iter().any(|dir| place.starts_with(&dir.place));
    let within = |path: &Path| locations(path).iter().all(is_allowed);
    let is_own = |path: &PathBuf| {
        within(path)
            && path.is_dir()
            && !LEADING_AWAY.iter().any(|file| path.join(file).symlink_metadata().is_ok())
            && ["objects", "refs"].iter().all(|part| within(&path.join(part)))
    };
    if !within(&path) || !existing(&path).iter().all(is_own) {
        return Err(SourceError::FileRepository { repository: url.address.clone() });
    }
    Ok(())
}

/// Refuses a `file://` URL of a repository in this directory. Symbolic links are followed.
pub(crate) fn refuse_within(url: &RemoteUrl, cache: &Path) -> Result<(), SourceError> {
    let Some(path) = directory(url) else { return Ok(()) };
    let cache = locations(cache).pop();
    let is_in_cache =
        |location: &Location| cache.as_ref().is_some_and(|cache| location.place.starts_with(&cache.place));
    let is_inside = |path: &Path| locations(path).iter().any(is_in_cache);
    if is_inside(&path) || existing(&path).iter().any(|path| is_inside(path)) {
        return Err(SourceError::InCache { repository: url.address.clone() });
    }
    Ok(())
}

/// Returns the directory of a `file://` URL as git passes it to the system: decoded, without a host.
fn directory(url: &RemoteUrl) -> Option<PathBuf> {
    if url.transport != Transport::File {
        return None;
    }
    let address = RepoUrl::new(&url.address);
    let path = format!("/{}", percent_decode(address.without_scheme()));
    // Git removes slashes at the end before it appends a suffix.
    Some(Path::new(&path).components().collect())
}

/// Returns the path of the directory and those that git tries instead, if they exist.
fn existing(path: &Path) -> Vec<PathBuf> {
    let with = |suffix| {
        let mut path = OsString::from(path);
        path.push(suffix);
        PathBuf::from(path)
    };
    SUFFIXES.iter().map(with).filter(|path| path.exists()).collect()
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::{refuse_within, require_allowed};
    use crate::url::RemoteUrl;

    #[test]
    fn file_urls_are_held_against_directories_as_git_reads_them() {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let root = dir.path().canonicalize().expect("it exists");
        let inside = root.join("inside");
        fs::create_dir_all(inside.join("repository")).expect("a directory");
        fs::create_dir_all(root.join("outside/other")).expect("a directory");
        symlink(root.join("outside/other"), inside.join("link")).expect("a link");
        symlink(root.join("outside/other"), inside.join("suffix.git")).expect("a link");
        symlink(&inside, root.join("alias")).expect("a link");
        symlink("../alias", inside.join("chain")).expect("a link");
        symlink(".", inside.join("near")).expect("a link");
        fs::write(inside.join("file"), "gitdir: ../outside/other\n").expect("a file");
        for (repository, file) in [("common", "commondir"), ("alternates.git", "objects/info/alternates")] {
            let file = inside.join(repository).join(file);
            fs::create_dir_all(file.parent().expect("it has a parent")).expect("a directory");
            fs::write(file, "../../outside/other\n").expect("a file");
        }
        fs::create_dir(inside.join("linked")).expect("a directory");
        symlink(root.join("outside/other"), inside.join("linked/objects")).expect("a link");
        // A URL whose `ROOT` is the temporary directory, and whether it is within `inside`.
        let cases = [
            ("file://ROOT/inside", true),
            ("FILE://ROOT/inside/repository", true),
            ("file://ROOT/inside/not-there", true),
            ("file://ROOT/inside/../inside/repository", true),
            ("file://ROOT/inside/%2e%2e/outside/other", false),
            ("file://ROOT/insideother", false),
            ("file://ROOT/outside/other", false),
            ("file://ROOT/outside/not-there", false),
            ("file://ROOT/inside/link", false),
            ("file://ROOT/inside/link/../other", false),
            ("file://ROOT/inside/link/../not-there", false),
            ("file://ROOT/inside/link/../../inside/repository", true),
            ("file://ROOT/inside/chain/repository", false),
            ("file://ROOT/inside/near/repository", true),
            ("file://ROOT/inside/not-there/../repository", true),
            ("file://ROOT/inside/suffix", false),
            ("file://ROOT/inside/file", false),
            ("file://ROOT/inside/common", false),
            ("file://ROOT/inside/alternates", false),
            ("file://ROOT/inside/linked", false),
        ];
        for (url, expected) in cases {
            let url = RemoteUrl::parse(&url.replace("ROOT", root.to_str().expect("UTF-8"))).expect("a URL");
            let allowed = require_allowed(&url, std::slice::from_ref(&inside)).is_ok();
            assert_eq!(allowed, expected, "{}", url.address);
        }
        for (path, expected) in [
            ("alias/repository", true),
            ("inside", true),
            ("inside/link/../other", true),
            ("outside/../inside/repository", true),
            ("outside/other", false),
            ("inside/../outside/other", false),
        ] {
            let url = RemoteUrl::parse(&format!("file://{}/{path}", root.display())).expect("a URL");
            assert_eq!(refuse_within(&url, &inside).is_err(), expected, "{path}");
        }
        let remote = RemoteUrl::parse("https://git.example.org/inside").expect("a URL");
        assert!(require_allowed(&remote, &[]).is_ok());
    }
}
