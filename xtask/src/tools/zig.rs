//! Installs zig, a C compiler for other architectures, from its wheel.

use std::path::{Path, PathBuf};

use super::python;
use crate::{Failure, files};

/// The wheel. It contains the compiler and the headers of musl for every architecture, 100 MB packed.
const PACKAGE: &str = "ziglang==0.17.1";

/// Returns zig, and installs it into `target/tools/zig` if that has another version. Concurrent calls wait for each other.
pub(crate) fn provide(root: &Path) -> Result<PathBuf, Failure> {
    let home = root.join("target/tools");
    files::create_directory(&home)?;
    let _lock = files::lock(&home.join("lock"))?;
    let place = home.join("zig");
    let zig = place.join("ziglang/zig");
    // pip writes this directory for the version that it installs.
    let installed = place.join(format!("{}.dist-info", PACKAGE.replace("==", "-")));
    if !(installed.is_dir() && zig.is_file()) {
        python::install(&python::interpreter("the installation of zig")?, &[PACKAGE], &place, &home)?;
    }
    Ok(zig)
}
