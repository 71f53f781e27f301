//! `tiphys cmp-server --install DIR`: the program in a folder that an init container shares with the plugins' containers.

#[cfg(test)]
mod tests;

use std::fs::{self, File, Permissions};
use std::io;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;
use std::process::ExitCode;

use crate::error::ServiceError;
use crate::output;
use crate::settings::Process;

/// The name by which the program is a plugin server (`spec/cmp.md` 1.9).
const SERVER: &str = "argocd-cmp-server";

/// The name that git calls under a plugin that is given credentials (`spec/cmp.md` 4.5).
const ASKPASS: &str = "argocd";

/// Everybody may run the program: the plugin's container may have a user of its own.
const MODE: u32 = 0o755;

/// What a program that is not whole yet is called.
const UNFINISHED: &str = ".argocd-cmp-server.";

/// What became of the link for git.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Link {
    /// It leads to the program.
    Ours,
    /// Something else has the name, such as Argo CD's own program, and stays.
    Foreign,
}

/// Puts the program into the folder, and says so.
pub(crate) fn run(dir: &Path, host: &Process) -> Result<ExitCode, ServiceError> {
    let link = install(&host.executable, &host.absolute(dir))?;
    let place = dir.join(SERVER);
    let told = match link {
        Link::Ours => format!("installed {}, and {ASKPASS} beside it as a link to it", place.display()),
        Link::Foreign => {
            format!(
                "installed {}; {ASKPASS} beside it is another program and stays as it is",
                place.display()
            )
        }
    };
    output::note(&told);
    Ok(ExitCode::SUCCESS)
}

/// Copies a program into a folder, which is made if it is missing. Whoever looks there sees the old file or the new one, also where the
/// old one is the program itself, or runs.
fn install(program: &Path, dir: &Path) -> Result<Link, ServiceError> {
    let failed = |error: io::Error| {
        ServiceError::invalid_input(format!("--install: cannot write to {}: {error}", dir.display()))
            .with_hint("give it a folder that this user may write to, such as an emptyDir volume")
    };
    let unread = |error: io::Error| {
        ServiceError::invalid_input(format!(
            "--install: cannot read this program, {}: {error}",
            program.display()
        ))
    };
    let mut source = File::open(program).map_err(unread)?;
    fs::create_dir_all(dir).map_err(failed)?;
    let _lock = sweep(dir);
    let mut new = tempfile::Builder::new().prefix(UNFINISHED).tempfile_in(dir).map_err(failed)?;
    io::copy(&mut source, &mut new).map_err(failed)?;
    new.as_file().set_permissions(Permissions::from_mode(MODE)).map_err(failed)?;
    new.persist(dir.join(SERVER)).map(drop).map_err(|error| failed(error.error))?;

    let link = dir.join(ASKPASS);
    match symlink(SERVER, &link) {
        Ok(()) => Ok(Link::Ours),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            let leads_to_us = fs::read_link(&link).is_ok_and(|target| target == Path::new(SERVER));
            Ok(if leads_to_us { Link::Ours } else { Link::Foreign })
        }
        Err(error) => Err(failed(error)),
    }
}

/// Removes what a killed installation left beside. The folder's lock, which installations have one after another for as long as they
/// write, says that nobody writes it any more; where there are no locks, it stays.
fn sweep(dir: &Path) -> Option<File> {
    let lock = File::open(dir).ok()?;
    lock.lock().ok()?;
    for entry in fs::read_dir(dir).ok()?.filter_map(Result::ok) {
        let is_ours = entry.file_name().to_str().is_some_and(|name| name.starts_with(UNFINISHED));
        if is_ours && entry.file_type().is_ok_and(|kind| kind.is_file()) {
            // It is in nobody's way: what cannot be removed does not keep the program from being installed.
            drop(fs::remove_file(entry.path()));
        }
    }
    Some(lock)
}
