//! `cargo xtask`: builds, checks, measures and installs tiphys.

fn main() {}
