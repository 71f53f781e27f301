//! Installs the packages of the plugin server in docs/plugin-server.md for the python3 on `PATH`.

use std::fs;
use std::path::Path;

use super::Options;
use super::build::fresh_folder;
use super::on_path::candidates;
use super::stamp::identity;
use crate::Failure;
use crate::cargo::{output, program};

/// gRPC, its proto compiler and their dependencies, in the tested versions.
const PACKAGES: [&str; 5] = [
    "grpcio==1.85.1",
    "grpcio-tools==1.85.1",
    "protobuf==7.36.2",
    "setuptools==84.2.1",
    "typing_extensions==4.16.0",
];

/// File with the content of the directory.
const STAMP: &str = "stamp";

/// Installs the packages into the directory `python` of the tools, for `PYTHONPATH`.
pub(super) fn provide(home: &Path, options: &Options) -> Result<(), Failure> {
    let place = home.join("python");
    let interpreter = candidates("python3").into_iter().next().ok_or_else(|| {
        Failure::new(
            "python3 is not on PATH; the plugin server of docs/plugin-server.md needs it: install Python 3.10 or later with pip",
        )
    })?;
    if is_there(&place, &interpreter) && !options.build {
        return Ok(());
    }
    let folder = fresh_folder(home)?;
    let new = folder.path().join("python");
    println!("python: installing {} (some seconds)", PACKAGES.join(", "));
    // Not a virtual environment: a directory of packages can be renamed, and not every python3 has the module `venv`.
    output(
        program(&interpreter)
            .args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps"])
            // Without a wheel for this platform, pip would compile gRPC for half an hour.
            .args(["--only-binary", ":all:", "--target"])
            .arg(&new)
            .args(PACKAGES),
    )?;
    let stamp_file = new.join(STAMP);
    fs::write(&stamp_file, stamp(&interpreter)?).map_err(|error| Failure::at(&stamp_file, error))?;
    if place.exists() {
        fs::remove_dir_all(&place).map_err(|error| Failure::at(&place, error))?;
    }
    fs::rename(&new, &place).map_err(|error| Failure::at(&place, error))?;
    println!("python: installed for {}", interpreter.display());
    Ok(())
}

/// Whether the directory contains these packages for this interpreter. Compiled packages need the same minor version.
pub(super) fn is_there(place: &Path, interpreter: &Path) -> bool {
    let found = fs::read_to_string(place.join(STAMP)).ok();
    found.is_some() && found == stamp(interpreter).ok()
}

/// Returns the content of the stamp.
pub(super) fn stamp(interpreter: &Path) -> Result<String, Failure> {
    let identity = identity(interpreter).ok_or_else(|| Failure::at(interpreter, "no longer exists"))?;
    Ok(format!("{}\n{} {identity}\n", PACKAGES.join("\n"), interpreter.display()))
}
