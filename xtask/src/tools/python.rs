//! Installs the packages of the plugin server in docs/plugin-server.md for the python3 on `PATH`.

use std::path::{Path, PathBuf};

use super::{Options, build, programs};
use crate::cargo::{output, program};
use crate::{Failure, files};

/// gRPC, its proto compiler and their dependencies, in the tested versions.
const PACKAGES: [&str; 5] = [
    "grpcio==1.85.1",
    "grpcio-tools==1.85.1",
    "protobuf==7.36.2",
    "setuptools==84.2.1",
    "typing_extensions==4.16.0",
];

/// Fails unless the packages of its arguments can be imported. Compiled packages need the minor version of Python for which they are.
const CHECK: &str = "import sys, grpc_tools.protoc; from importlib.metadata import version
for name, wanted in (package.split('==') for package in sys.argv[1:]): assert version(name) == wanted";

/// Installs the packages into the directory `python` of the tools, for `PYTHONPATH`.
pub(super) fn provide(home: &Path, options: &Options) -> Result<(), Failure> {
    let place = home.join("python");
    let interpreter = interpreter("the plugin server of docs/plugin-server.md")?;
    let mut check = program(&interpreter);
    check.args(["-c", CHECK]).args(PACKAGES).env("PYTHONPATH", &place).env("PYTHONDONTWRITEBYTECODE", "1");
    if output(&mut check).is_ok() && !options.build {
        return Ok(());
    }
    install(&interpreter, &PACKAGES, &place, home)?;
    output(&mut check)?;
    println!("python: installed for {}", interpreter.display());
    Ok(())
}

/// Returns the python3 on `PATH`, which `user` needs.
pub(crate) fn interpreter(user: &str) -> Result<PathBuf, Failure> {
    programs("python3").into_iter().next().ok_or_else(|| {
        Failure::new(format!(
            "python3 is not on PATH; {user} needs it: install Python 3.10 or later with pip"
        ))
    })
}

/// Installs exactly these packages into the directory `place`, and replaces what it contains. The caller must hold the lock of `home`.
pub(super) fn install(
    interpreter: &Path,
    packages: &[&str],
    place: &Path,
    home: &Path,
) -> Result<(), Failure> {
    let new = build::empty_directory(home)?.join("python");
    println!("python: installing {} (some seconds)", packages.join(", "));
    // Not a virtual environment: a directory of packages can be renamed, and not every python3 has the module `venv`.
    output(
        program(interpreter)
            .args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps"])
            // Without a wheel for this platform, pip would compile gRPC for half an hour.
            .args(["--only-binary", ":all:", "--target"])
            .arg(&new)
            .args(packages),
    )?;
    files::remove(place)?;
    files::rename(&new, place)
}
