//! Programs of the workspace's crates, for tests of other crates that run them.
//!
//! Cargo tells a test only the programs of its own package, and builds only those. So a program is looked for beside the test's own
//! build output, and built by cargo if it is not there or older than its sources.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::SystemTime;
use std::{env, fs};

/// Path of a program of the same profile as the test that asks. `folder` is its crate's, relative to the workspace's root.
pub(crate) fn program(package: &str, name: &str, folder: &str) -> PathBuf {
    // <target>[/<triple>]/<profile>/deps/<test>
    let test = env::current_exe().expect("a test knows its own path");
    let output = test.ancestors().nth(2).expect("tests are in a folder `deps`").to_path_buf();
    let program = output.join(name);
    let source = crate::workspace_root().join(folder);
    if modified(&program) < newest(&source) {
        build(&output, package, name);
    }
    assert!(program.exists(), "cargo has built {}", program.display());
    program
}

fn build(output: &Path, package: &str, name: &str) {
    let profile = match output.file_name().and_then(|name| name.to_str()).expect("a profile's folder") {
        "debug" => "dev",
        profile => profile,
    };
    let mut target = output.parent().expect("a target folder");
    let above = target.parent().expect("a target folder is not the root");
    // Cargo marks the target folder, the one that it makes in one way and any in the other; with --target there is one more folder between.
    let is_marked = ["CACHEDIR.TAG", ".rustc_info.json"].iter().any(|mark| target.join(mark).exists());
    let triple = if is_marked { None } else { target.file_name() };
    if triple.is_some() {
        target = above;
    }
    #[expect(clippy::disallowed_methods, reason = "tests only")]
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["build", "--quiet", "--package", package, "--bin", name]);
    cargo.args(["--profile", profile]).arg("--target-dir").arg(target);
    if let Some(triple) = triple {
        cargo.arg("--target").arg(triple);
    }
    let status = cargo.current_dir(crate::workspace_root()).status().expect("cargo starts");
    assert!(status.success(), "cargo builds {name}: {status}");
}

/// Modification time of the newest file of a crate's sources.
fn newest(crate_dir: &Path) -> SystemTime {
    let mut newest = modified(&crate_dir.join("Cargo.toml"));
    let mut folders = vec![crate_dir.join("src")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("sources can be listed").flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else {
                newest = newest.max(modified(&path));
            }
        }
    }
    newest
}

fn modified(path: &Path) -> SystemTime {
    path.metadata().and_then(|metadata| metadata.modified()).unwrap_or(SystemTime::UNIX_EPOCH)
}
