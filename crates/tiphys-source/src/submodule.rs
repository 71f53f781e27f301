//! The submodules in `.gitmodules` and their URLs.

#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::path::Path;

use tiphys_tree::RepoPath;

use tiphys_model::access::RepoUrl;

use crate::SourceError;
use crate::git::{Git, Place};
use crate::url::{RemoteUrl, Transport};

/// Maximum size of `.gitmodules` in bytes.
pub(crate) const GITMODULES_BYTES_MAX: usize = 1024 * 1024;

/// Maximum depth of nested submodules.
pub(crate) const SUBMODULE_DEPTH_MAX: usize = 16;

/// Maximum number of submodules of one tree, nested ones included.
pub(crate) const SUBMODULES_MAX: usize = 1000;

/// One submodule of `.gitmodules`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Submodule {
    /// Its name, also that of its repository in `.git/modules`.
    pub(crate) name: String,
    /// Its path in the superproject.
    pub(crate) path: RepoPath,
    /// The URL as written. None if it is missing.
    pub(crate) url: Option<String>,
    /// Whether it has `update = none`. `git submodule update` leaves it out, too.
    pub(crate) left_out: bool,
}

/// Parses `.gitmodules` with git.
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

/// Parses `key LF value NUL …`.
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

/// The fields of a submodule as written.
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

/// Returns the URL of a submodule. One that begins with `./` or `../` is relative to the superproject's.
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
