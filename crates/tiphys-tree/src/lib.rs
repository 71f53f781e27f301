//! Repository trees: the only crate of the workspace that opens paths which come from a repository or an application.
//!
//! A [`Tree`] is a read-only directory in the content [`Store`], named after its content or its archive. Runs see it in a private working
//! copy that `tiphys-process` sets up.

pub mod archive;
mod bounded;
mod containment;
mod digest;
mod entries;
mod error;
mod file;
pub mod glob;
pub mod kustomization;
mod locations;
mod modes;
mod path;
mod prune;
mod read;
mod reader;
mod store;
mod writer;

pub use bounded::{read_bounded, read_to_bound};
pub use containment::{ContainmentError, check_links, first_link, first_link_out, resolve};
pub use digest::TreeKey;
pub use entries::{Entries, EntryKind, Final};
pub use error::{StoreError, WriteError};
pub use file::{FileOwner, NotOpened, open_file};
pub use locations::{Location, locations};
pub use modes::Modes;
pub use path::{EntryPath, PathError, RepoPath};
pub use prune::{Pruned, is_cache_name, mark_used, prune, unless_gone};
pub use read::{Depth, ReadError};
pub use store::{
    DirectoryEntry, ProcessStore, Reuse, Room, RunDir, Store, StoreBounds, StoreOptions, StoreStats, Tree,
    is_of_a_full_disk, is_trusted_owner, look_at_files,
};
pub use writer::{TreeLimits, TreeWriter};
