//! Submodules: what `.gitmodules` says, and which URL that is.

#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::path::Path;

use tiphys_tree::RepoPath;

use tiphys_access::RepoUrl;

use crate::SourceError;
use crate::git::{Git, Place};
use crate::url::{RemoteUrl, Transport};

/// Bytes that `.gitmodules` may have.
pub(crate) const GITMODULES_BYTES_MAX: usize = 1024 * 1024;

/// Submodules within submodules.
pub(crate) const SUBMODULE_DEPTH_MAX: usize = 16;

/// Submodules of one tree, those of submodules among them.
pub(crate) const SUBMODULES_MAX: usize = 1000;

/// One submodule of `.gitmodules`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Submodule {
    /// Its name, under which a work tree keeps its repository.
    pub(crate) name: String,
    /// Where it is mounted, in its superproject.
    pub(crate) path: RepoPath,
    /// As it is written; none if it is missing.
    pub(crate) url: Option<String>,
    /// `update = none`: it is left out, as `git submodule update` does.
    pub(crate) left_out: bool,
}

/// Reads `.gitmodules` with git's own parser.
pub(crate) async fn read(git: &Git, text: Vec<u8>, repository: &str) -> Result<Vec<Submodule>, SourceError> {
    if text.len() > GITMODULES_BYTES_MAX {
        let problem =
            format!(".gitmodules of repository {repository} has more than {GITMODULES_BYTES_MAX} bytes");
        return Err(SourceError::SubmoduleConfiguration { problem });
    }
    let mut call = git.local(
        Path::new("/"),
        Place::Nowhere,
        ["config", "--file", "-", "--no-includes", "--null", "--list"],
    );
    call.stdin = Some(text);
    let output =
        git.run(call).await.map_err(|problem| problem.into_error(repository, "reading .gitmodules of"))?;
    if output.code != Some(0) {
        let said = crate::git::shown(&output.stderr, &[]);
        let problem = format!(".gitmodules of repository {repository} cannot be read: {said}");
        return Err(SourceError::SubmoduleConfiguration { problem });
    }
    parse(&String::from_utf8_lossy(&output.stdout), repository)
}

/// Reads `key LF value NUL …`.
fn parse(listing: &str, repository: &str) -> Result<Vec<Submodule>, SourceError> {
    let mut modules: Vec<Written> = Vec::new();
    let mut places: HashMap<&str, usize> = HashMap::new();
    for item in listing.split('\0').filter(|item| !item.is_empty()) {
        let (key, value) = item.split_once('\n').unwrap_or((item, ""));
        let Some((name, setting)) = key.strip_prefix("submodule.").and_then(|key| key.rsplit_once('.'))
        else {
            continue;
        };
        let place = *places.entry(name).or_insert_with(|| {
            modules.push(Written { name: name.to_owned(), ..Written::default() });
            modules.len() - 1
        });
        let Some(module) = modules.get_mut(place) else { continue };
        match setting {
            "path" => module.path = Some(value.to_owned()),
            "url" => module.url = Some(value.to_owned()),
            "update" => module.left_out = value == "none",
            _ => {}
        }
    }
    // Git takes no notice of one without a path.
    modules
        .into_iter()
        .filter(|module| module.path.is_some())
        .map(|module| module.check(repository))
        .collect()
}

/// One submodule as it is written.
#[derive(Default)]
struct Written {
    name: String,
    path: Option<String>,
    url: Option<String>,
    left_out: bool,
}

impl Written {
    fn check(self, repository: &str) -> Result<Submodule, SourceError> {
        let Self { name, path, url, left_out } = self;
        let path = RepoPath::new(&path.unwrap_or_default()).ok().filter(|path| !path.is_root());
        let Some(path) = path else {
            let problem =
                format!("submodule {name:?} of repository {repository} has no path that can be used");
            return Err(SourceError::SubmoduleConfiguration { problem });
        };
        Ok(Submodule { name, path, url, left_out })
    }
}

/// The URL of a submodule; one that begins with `./` or `../` is relative to its superproject's.
pub(crate) fn absolute_url(superproject: &RemoteUrl, url: &str) -> Result<String, &'static str> {
    let joined = if url.starts_with("./") || url.starts_with("../") {
        join(superproject.address.trim_end_matches('/'), url)?
    } else {
        url.to_owned()
    };
    // A repository on a server must not make us read repositories of this machine.
    let is_file = RemoteUrl::parse(&joined)?.transport == Transport::File;
    if is_file && superproject.transport != Transport::File {
        return Err("a submodule of a remote repository may not have a file URL");
    }
    Ok(joined)
}

fn join(base: &str, url: &str) -> Result<String, &'static str> {
    // Nothing may climb over the host.
    let fixed = RepoUrl::new(base).path_start();
    let (mut base, mut rest) = (base, url);
    loop {
        if let Some(after) = rest.strip_prefix("./") {
            rest = after;
        } else if let Some(after) = rest.strip_prefix("../") {
            let cut = base.rfind('/').filter(|slash| *slash >= fixed);
            base = match cut {
                Some(slash) => &base[..slash],
                None if base.len() > fixed && base[..fixed].ends_with(':') => &base[..fixed],
                None => return Err("its relative URL climbs over the server's root"),
            };
            rest = after;
        } else {
            break;
        }
    }
    let separator = if base.ends_with(':') { "" } else { "/" };
    Ok(format!("{base}{separator}{rest}"))
}
