//! The architectures of a release, and builds of the program for them.

use std::env::consts::ARCH;
use std::path::{Path, PathBuf};

use crate::Failure;
use crate::build::{self, PROGRAM};
use crate::cargo::{cargo, output, program, run, variable};

/// Cargo's name of the profile and of its directory.
const PROFILE: &str = "dist";

/// The C compiler, relative to the workspace's root.
const C_COMPILER: &str = "xtask/src/dist/zig-cc";

/// An architecture with a static program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Architecture {
    /// x86-64.
    Amd64,
    /// 64-bit ARM.
    Arm64,
}

impl Architecture {
    /// All architectures.
    pub(super) const ALL: [Self; 2] = [Self::Amd64, Self::Arm64];

    /// Returns that of this machine, which must run Linux.
    pub(super) fn host() -> Result<Self, Failure> {
        let host = Self::ALL.into_iter().find(|one| one.kernel_name() == ARCH && cfg!(target_os = "linux"));
        host.ok_or_else(|| {
            Failure::new(
                "the program writes its manual pages itself, so this machine must run it: use Linux on amd64 or arm64",
            )
        })
    }

    /// Returns the name of Go, Debian and image registries.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Amd64 => "amd64",
            Self::Arm64 => "arm64",
        }
    }

    /// Returns the name of the kernel, Rust, zig and Python.
    pub(super) fn kernel_name(self) -> &'static str {
        match self {
            Self::Amd64 => "x86_64",
            Self::Arm64 => "aarch64",
        }
    }

    /// Returns the program of QEMU that starts programs of this architecture; `None` for that of this machine.
    pub(super) fn emulator(self) -> Option<&'static str> {
        match self {
            _ if self.kernel_name() == ARCH => None,
            Self::Amd64 => Some("qemu-x86_64"),
            Self::Arm64 => Some("qemu-aarch64"),
        }
    }

    /// Builds the program with its symbols below the directory `build`.
    pub(super) fn build(self, root: &Path, zig: &Path, build: &Path) -> Result<PathBuf, Failure> {
        let triple = build::static_triple(self.kernel_name())?;
        build::provide_library(root, &triple)?;
        let mut command = cargo(root, &["build", "--locked", "--profile", PROFILE, "--package", PROGRAM]);
        command
            .args(["--target", &triple])
            .env("CARGO_TARGET_DIR", build)
            .env("CARGO_ENCODED_RUSTFLAGS", compiler_arguments(root, build)?.join("\x1f"))
            .env(format!("CC_{}", triple.replace('-', "_")), root.join(C_COMPILER))
            .env("ZIG", zig);
        build::name_commit(root, &mut command);
        run(&mut command)?;
        Ok(build.join(triple).join(PROFILE).join(PROGRAM))
    }
}

/// Removes all symbols from a copy of a program, and returns it.
pub(super) fn strip(root: &Path, built: &Path) -> Result<PathBuf, Failure> {
    let stripped = built.with_file_name("tiphys-stripped");
    // Rust's own works for every architecture.
    let printed = |what| output(program("rustc").args(["--print", what]).current_dir(root));
    let objcopy = Path::new(printed("target-libdir")?.trim()).with_file_name("bin").join("rust-objcopy");
    // rustc calls it with its own library of LLVM.
    let libraries = Path::new(printed("sysroot")?.trim()).join("lib");
    run(program(objcopy).env("LD_LIBRARY_PATH", libraries).arg("--strip-all").arg(built).arg(&stripped))?;
    Ok(stripped)
}

/// Returns the arguments for rustc, instead of those in `.cargo/config.toml`.
fn compiler_arguments(root: &Path, build: &Path) -> Result<Vec<String>, Failure> {
    let registry = match variable("CARGO_HOME") {
        Some(home) => PathBuf::from(home),
        None => {
            PathBuf::from(variable("HOME").ok_or_else(|| Failure::new("HOME is not set"))?).join(".cargo")
        }
    };
    let remap = |from: &Path, to: &str| format!("--remap-path-prefix={}={to}", from.display());
    Ok(vec![
        "-Clinker=rust-lld".to_owned(),
        // As in `.cargo/config.toml`, for a linker that is called directly.
        "-Clink-arg=-zpack-relative-relocs".to_owned(),
        // The last one that fits is used: the build directory may be in the checkout.
        remap(&registry.join("registry/src"), "registry"),
        remap(root, "tiphys"),
        remap(build, "build"),
    ])
}
