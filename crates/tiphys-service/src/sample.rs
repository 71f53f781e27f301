//! A sample repository: Applications and their sources, to try commands on.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::Path;

use tempfile::TempDir;
use tiphys_process::find_program;

use crate::context::host::{Host, printed_by};
use crate::error::{Remedy, ServiceError};

/// The repository that the Applications name. It does not exist; a checkout stands for it.
const URL: &str = "https://git.example.com/platform/sample.git";

/// The program that makes the directory a repository.
const GIT: &str = "git";

macro_rules! files {
    ($($path:literal),+ $(,)?) => {
        &[$(($path, include_str!(concat!("sample/", $path)))),+]
    };
}

/// The files of the repository.
const FILES: &[(&str, &str)] = files![
    "applications/guestbook.yaml",
    "applications/policies.yaml",
    "applications/shop.yaml",
    "charts/shop/Chart.yaml",
    "charts/shop/templates/deployment.yaml",
    "charts/shop/templates/service.yaml",
    "charts/shop/values-production.yaml",
    "charts/shop/values.yaml",
    "guestbook/deployment.yaml",
    "guestbook/kustomization.yaml",
    "policies/quota.yaml",
];

/// Creates the repository in a directory that is empty or does not exist: a checkout of the branch `main` with one commit and a remote
/// `origin`. Nothing is contacted. A failure leaves the directory as it was.
pub async fn create_sample(dir: &Path, host: &Host) -> Result<(), ServiceError> {
    let shown = dir.display();
    let failed = |error: io::Error| {
        ServiceError::invalid_input(format!("cannot write the sample into {shown}: {error}"))
    };
    let dir = host.absolute(dir);
    match fs::read_dir(&dir).map(|mut entries| entries.next().is_none()) {
        Ok(true) => {}
        Ok(false) => {
            return Err(ServiceError::invalid_input(format!("{shown} is not empty; name a new directory")));
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(failed(error)),
    }
    let search_path = OsStr::new(host.variable("PATH").unwrap_or_default());
    let Some(git) = find_program(Path::new(GIT), search_path) else {
        let error = ServiceError::invalid_input("git was not found in PATH; the sample is a git repository");
        return Err(error.with_remedy(Remedy::CheckTools));
    };
    let is_new = !dir.exists();
    fs::create_dir_all(&dir).map_err(failed)?;
    let written = async {
        let new = TempDir::with_prefix_in(".tiphys-sample-", &dir).map_err(failed)?;
        write_files(new.path()).map_err(failed)?;
        commit(new.path(), &git, host).await?;
        move_entries(new.path(), &dir).map_err(failed)
    };
    let written = written.await;
    if written.is_err() && is_new {
        // A directory in which something else was created meanwhile stays.
        drop(fs::remove_dir(&dir));
    }
    written
}

/// Moves all entries of a directory into one above it.
fn move_entries(from: &Path, to: &Path) -> io::Result<()> {
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        fs::rename(entry.path(), to.join(entry.file_name()))?;
    }
    Ok(())
}

fn write_files(dir: &Path) -> io::Result<()> {
    for (path, text) in FILES {
        let file = dir.join(path);
        fs::create_dir_all(file.parent().unwrap_or(dir))?;
        fs::write(file, text)?;
    }
    Ok(())
}

/// Makes the directory a repository whose files are committed, and whose remote has the same branch.
async fn commit(dir: &Path, git: &Path, host: &Host) -> Result<(), ServiceError> {
    const AUTHOR: [&str; 6] =
        ["-c", "user.name=tiphys", "-c", "user.email=tiphys@example.com", "-c", "commit.gpgSign=false"];
    let committing =
        [&AUTHOR[..], &["commit", "--quiet", "--no-verify", "--message", "Begin with a sample"]].concat();
    let calls: [&[&str]; 6] = [
        &["init", "--quiet", "--template=", "--initial-branch=main"],
        &["add", "--all"],
        &committing,
        &["remote", "add", "origin", URL],
        &["update-ref", "refs/remotes/origin/main", "HEAD"],
        &["symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/main"],
    ];
    for call in calls {
        printed_by(host, git, call, dir)
            .await
            .map_err(|why| ServiceError::rendering(format!("git {}: {why}", call.join(" "))))?;
    }
    Ok(())
}
