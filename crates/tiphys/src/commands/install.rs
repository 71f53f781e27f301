//! `tiphys cmp-server --install DIR`: copies the program into a directory that an init container shares with the plugins' containers.

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

/// The name under which the program is a plugin server.
const SERVER: &str = "argocd-cmp-server";

/// The name of the askpass program that git calls if a plugin gets credentials.
const ASKPASS: &str = "argocd";

/// Executable by all users: the plugin's container may have a user of its own.
const MODE: u32 = 0o755;

/// Prefix of an incomplete copy of the program.
const UNFINISHED: &str = ".argocd-cmp-server.";

/// State of the askpass link after the installation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Link {
    /// It points to the program.
    Ours,
    /// Another file has the name, such as Argo CD's own program, and is not replaced.
    Foreign,
}

/// Installs the program into the directory and prints a message.
pub(crate) fn run(dir: &Path, host: &Process) -> Result<ExitCode, ServiceError> {
    let link = install(&host.executable, &host.absolute(dir))?;
    let place = dir.join(SERVER);
    let message = match link {
        Link::Ours => format!("installed {}, and {ASKPASS} beside it as a link to it", place.display()),
        Link::Foreign => {
            format!(
                "installed {}; {ASKPASS} beside it is another program and is not replaced",
                place.display()
            )
        }
    };
    output::status(&message);
    Ok(ExitCode::SUCCESS)
}

/// Copies a program into a directory, which is created if needed. The file is replaced atomically, even if it is this program or is
/// running.
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

/// Removes incomplete copies of killed installations. Installations hold the directory's lock while they write, so nothing else is being
/// written once the lock is held. Without lock support nothing is removed.
fn sweep(dir: &Path) -> Option<File> {
    let lock = File::open(dir).ok()?;
    lock.lock().ok()?;
    for entry in fs::read_dir(dir).ok()?.filter_map(Result::ok) {
        let is_ours = entry.file_name().to_str().is_some_and(|name| name.starts_with(UNFINISHED));
        if is_ours && entry.file_type().is_ok_and(|kind| kind.is_file()) {
            // A failure to remove a leftover does not prevent the installation.
            drop(fs::remove_file(entry.path()));
        }
    }
    Some(lock)
}
