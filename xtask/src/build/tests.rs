//! What is asked of the compiler, and what is said where it cannot be had.

use std::path::Path;

use super::{Linking, LinkingOption, has_library, no_library, static_triple};

#[test]
fn the_program_is_static_on_linux_unless_it_is_to_be_dynamic() {
    let usual = if cfg!(target_os = "linux") { Linking::Static } else { Linking::Dynamic };
    assert_eq!(LinkingOption { dynamic: false }.get(), usual);
    assert_eq!(LinkingOption { dynamic: true }.get(), Linking::Dynamic);
}

#[test]
fn static_programs_are_linked_to_musl_and_other_processors_are_told_what_to_do() {
    assert_eq!(static_triple("x86_64").as_deref(), Ok("x86_64-unknown-linux-musl"));
    assert_eq!(static_triple("aarch64").as_deref(), Ok("aarch64-unknown-linux-musl"));
    let refused = static_triple("s390x").map_err(|failure| failure.to_string());
    let expected =
        "no static program for s390x: there are those for aarch64 and x86_64; build with --dynamic";
    assert_eq!(refused, Err(expected.to_owned()));
}

#[test]
fn a_library_that_is_not_installed_is_seen_and_named() {
    // No machine has a host of this kind.
    assert_eq!(has_library(Path::new("."), "riscv32imac-unknown-xous-elf"), Ok(false));
    let failure = no_library("x86_64-unknown-linux-musl", "rustup: exit status: 1").to_string();
    assert_eq!(
        failure,
        "a static program needs Rust's library for x86_64-unknown-linux-musl, which could not be had (rustup: exit status: 1); \
         install it as your Rust was installed, or build with --dynamic"
    );
}
