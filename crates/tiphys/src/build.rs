//! What this program was built of.

/// The version, as in the manifests.
pub(crate) const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The commit, where the build knew it: `cargo xtask build` says it in this variable. One that is empty, as an argument of an image's
/// build that nobody gave, says nothing.
pub(crate) const COMMIT: Option<&str> = match option_env!("TIPHYS_COMMIT") {
    Some(commit) if !commit.is_empty() => Some(commit),
    _ => None,
};
