//! The folder of YAML: finding applications and their positions, and changing their files.
//!
//! A store is what `--store` names: folders, files and texts that came through standard input. Most of what lies beside
//! Applications in a repository (Helm templates, patches, other manifests) is no mistake: it is left out, counted, and the reasons
//! can be listed. What is ours and does not hold is kept as a [`Broken`] place until somebody asks for what it may hide.

mod application_ref;
mod content;
mod document;
mod edit;
mod files;
mod place;
mod resources;
mod selection;
mod selector;
mod store;

pub use application_ref::ApplicationRef;
pub use edit::{FileEdit, FileEditError, FileVersion, FileWriteError};
pub use files::FILE_BYTES_MAX;
pub use place::{FileName, Place};
pub use resources::{StoredProject, StoredSecret, StoredSettings};
pub use selection::{Filter, SelectError, Selection};
pub use selector::{Selector, SelectorError};
pub use store::{
    Broken, BrokenReason, Counts, PastInput, SkipReason, Skipped, Store, StoreError, StoreInput,
    StoredApplication, StoredSet,
};
