//! The Go program beside tiphys, which builds kustomizations and evaluates Jsonnet files.

use std::path::Path;

use crate::Failure;
use crate::cargo::{program, run};

/// The program.
pub(crate) const PROGRAM: &str = "tiphys-native";

/// Its Go module, relative to the workspace's root.
const MODULE: &str = "plugins/kustomize/native";

/// The version of Go that its libraries need. An older Go fetches it.
const TOOLCHAIN: &str = "go1.27.3";

/// Builds the program into the file `output`, which is absolute, for Linux on an architecture by Go's name, or for this machine. Equal
/// sources give equal bytes.
pub(crate) fn build(root: &Path, architecture: Option<&str>, output: &Path) -> Result<(), Failure> {
    let mut go = program("go");
    go.args(["build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w", "-o"])
        .arg(output)
        .arg(".")
        .current_dir(root.join(MODULE))
        .env("CGO_ENABLED", "0")
        .env("GOTOOLCHAIN", TOOLCHAIN)
        .env("GOWORK", "off")
        .env_remove("GOOS")
        .env_remove("GOARCH");
    if let Some(architecture) = architecture {
        go.env("GOOS", "linux").env("GOARCH", architecture);
    }
    run(&mut go).map_err(|failure| {
        Failure::new(format!("{failure}\n{PROGRAM} needs Go 1.26 or later (https://go.dev/dl)"))
    })
}
