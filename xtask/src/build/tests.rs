//! Linking, commits, and failures of builds.

use std::path::Path;

use clap::Parser as _;

use super::{Linking, LinkingOption, commit, has_library, static_triple};

#[test]
fn program_is_static_on_linux_unless_dynamic_is_requested() {
    let usual = if cfg!(target_os = "linux") { Linking::Static } else { Linking::Dynamic };
    assert_eq!(LinkingOption { dynamic: false }.get(), usual);
    assert_eq!(LinkingOption { dynamic: true }.get(), Linking::Dynamic);
}

#[test]
fn static_programs_use_musl_and_other_architectures_are_refused() {
    assert_eq!(static_triple("x86_64").as_deref(), Ok("x86_64-unknown-linux-musl"));
    assert_eq!(static_triple("aarch64").as_deref(), Ok("aarch64-unknown-linux-musl"));
    let refused = static_triple("s390x").map_err(|failure| failure.to_string());
    let expected =
        "no static program for s390x: there are those for aarch64 and x86_64; build with --dynamic";
    assert_eq!(refused, Err(expected.to_owned()));
}

#[test]
fn missing_library_is_detected() {
    // No toolchain has a library for this target.
    assert!(!has_library(Path::new("."), "riscv32imac-unknown-xous-elf"));
}

#[test]
fn commit_is_that_of_the_checkout_and_dirty_with_changes() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    let git = |arguments: &[&str]| {
        let mut command = crate::cargo::program("git");
        command.args(["-c", "user.name=A. Tester", "-c", "user.email=tester@example.org"]).args(arguments);
        crate::cargo::output(command.current_dir(root)).unwrap().trim().to_owned()
    };
    assert_eq!(commit(root), None, "no checkout");
    git(&["init", "-q"]);
    assert_eq!(commit(root), None, "no commit yet");
    std::fs::write(root.join("file"), "one").unwrap();
    git(&["add", "file"]);
    git(&["commit", "-qm", "first"]);
    let head = git(&["rev-parse", "HEAD"]);
    std::fs::write(root.join("untracked"), "").unwrap();
    assert_eq!(commit(root), Some((&head).into()));
    std::fs::write(root.join("file"), "two").unwrap();
    assert_eq!(commit(root), Some(format!("{head}-dirty").into()));
}

/// The gate does not build the images, so their Dockerfile is compared with the repository.
#[test]
fn dockerfile_uses_existing_commands_and_the_pinned_toolchain() {
    let root = crate::workspace_root();
    let read = |path: &str| std::fs::read_to_string(root.join(path)).unwrap();
    let file = read("Dockerfile");
    let instructions: Vec<&str> =
        file.lines().filter(|line| !line.is_empty() && !line.starts_with('#')).collect();
    let toolchain = read("rust-toolchain.toml");
    let channel =
        toolchain.lines().find_map(|line| line.strip_prefix("channel = \"")?.strip_suffix('"')).unwrap();
    let (build, tools) =
        ("RUN cargo xtask build --output /out/tiphys", "RUN cargo xtask tools --for plugins");
    let expected = [
        &format!("FROM rust:{channel}-slim AS build"),
        "WORKDIR /src",
        "COPY . .",
        "ARG TIPHYS_COMMIT",
        build,
        "FROM build AS tools",
        "COPY --from=golang:1.26 /usr/local/go /usr/local/go",
        "ENV PATH=/usr/local/go/bin:$PATH CGO_ENABLED=0",
        tools,
        "FROM debian:13-slim AS ci",
        "RUN apt-get update \\",
        "    && apt-get install --yes --no-install-recommends ca-certificates git \\",
        "    && rm -rf /var/lib/apt/lists/*",
        "COPY --from=build /out/tiphys /usr/local/bin/",
        "COPY --from=tools /src/target/tools/bin/helm /src/target/tools/bin/tiphys-native /usr/local/bin/",
        "FROM scratch",
        "COPY --from=build /out/tiphys /tiphys",
        "USER 999:999",
        "ENTRYPOINT [\"/tiphys\"]",
    ];
    assert_eq!(instructions, expected);

    let command = |line: &str| {
        let words = line.trim_start_matches("RUN cargo ").split(' ');
        crate::Arguments::try_parse_from(words).unwrap().command
    };
    let crate::Command::Build(options) = command(build) else { panic!("{build} is another command") };
    assert_eq!(options.output.as_deref(), Some(Path::new("/out/tiphys")));
    assert_eq!(options.linking.get(), LinkingOption::default().get());
    assert!(!options.dev, "a release build");
    let crate::Command::Tools(options) = command(tools) else { panic!("{tools} is another command") };
    assert_eq!(options.purpose, Some(crate::tools::Purpose::Plugins));
    assert_eq!(crate::tools::bin(Path::new("/src")), Path::new("/src/target/tools/bin"));
    assert!(read(".cargo/config.toml").contains("\nxtask = \""), "cargo knows the alias");
}
