//! The pattern languages of Argo CD for names and addresses: [`Glob`] for destinations, repositories and files, [`NamePattern`] for groups,
//! kinds and names, [`FilePattern`] for the files of the `git` generator.
//!
//! Patterns that are matched against the files of a tree are in `tiphys-tree`.

mod file_pattern;
mod gobwas;
mod name_pattern;

pub use crate::gotemplate::unicode::chars;
pub use file_pattern::{FilePattern, FilePatternError};
pub use gobwas::{Glob, GlobError, Slash};
pub use name_pattern::{MalformedPattern, NamePattern, go_match};
