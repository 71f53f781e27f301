//! Programs of other crates, for tests that run them.
//!
//! Cargo builds only the programs of a test's own package for it. So a program is searched beside the test's build output, and built if it
//! is missing or older than its sources.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::SystemTime;
use std::{env, fs};

/// Returns the path of a program with the profile of the calling test. `folder` is its crate's directory, relative to the workspace's root.
pub(crate) fn program(package: &str, name: &str, folder: &str) -> PathBuf {
    let output = output();
    let program = output.join(name);
    let source = crate::workspace_root().join(folder);
    let newest = newest(&source.join("src")).max(modified(&source.join("Cargo.toml")));
    if modified(&program) < newest {
        build(&output, package, ["--bin", name]);
    }
    assert!(program.exists(), "cargo has built {}", program.display());
    program
}

/// Returns the path of an example in the same way. `sources` is the directory of its sources.
pub(crate) fn example(package: &str, name: &str, sources: &str) -> PathBuf {
    let output = output();
    let program = output.join("examples").join(name);
    if modified(&program) < newest(&crate::workspace_root().join(sources)) {
        build(&output, package, ["--example", name]);
    }
    assert!(program.exists(), "cargo has built {}", program.display());
    program
}

/// Returns the directory of the test's build output.
fn output() -> PathBuf {
    // <target>[/<triple>]/<profile>/deps/<test>
    let test = env::current_exe().expect("path of the test");
    test.ancestors().nth(2).expect("tests are in a directory `deps`").to_path_buf()
}

fn build(output: &Path, package: &str, what: [&str; 2]) {
    let profile = match output.file_name().and_then(|name| name.to_str()).expect("a profile's directory") {
        "debug" => "dev",
        profile => profile,
    };
    let mut target = output.parent().expect("a target directory");
    let above = target.parent().expect("a target directory is not the root");
    // Cargo marks the target directory with a file. With --target there is another directory between.
    let is_marked = ["CACHEDIR.TAG", ".rustc_info.json"].iter().any(|mark| target.join(mark).exists());
    let triple = if is_marked { None } else { target.file_name() };
    if triple.is_some() {
        target = above;
    }
    #[expect(clippy::disallowed_methods, reason = "tests only")]
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["build", "--quiet", "--package", package]).args(what);
    cargo.args(["--profile", profile]).arg("--target-dir").arg(target);
    if let Some(triple) = triple {
        cargo.arg("--target").arg(triple);
    }
    let status = cargo.current_dir(crate::workspace_root()).status().expect("cargo starts");
    assert!(status.success(), "cargo builds {what:?}: {status}");
}

/// Returns the newest modification time of the files in a directory.
fn newest(directory: &Path) -> SystemTime {
    let mut newest = SystemTime::UNIX_EPOCH;
    let mut folders = vec![directory.to_path_buf()];
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
