//! The version and the commit of this program.

/// The version in the manifests.
pub(crate) const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The commit, if the build set `TIPHYS_COMMIT`, as `cargo xtask build` does. Image builds set it empty if the argument is missing.
pub(crate) const COMMIT: Option<&str> = match option_env!("TIPHYS_COMMIT") {
    Some(commit) if !commit.is_empty() => Some(commit),
    _ => None,
};
