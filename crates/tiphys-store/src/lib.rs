//! Stores: finding applications in directories of YAML, with positions, and changing their files.
//!
//! A store consists of the inputs of `--store`: directories, files and standard input. Most other files in a repository (Helm templates,
//! patches, other manifests) are not errors: they are skipped and counted, and the reasons can be listed. Invalid documents of Argo CD are
//! recorded as [`Broken`] and reported if they may affect the result.

mod application_ref;
mod content;
mod document;
mod edit;
mod files;
mod origin;
mod place;
mod rendered;
mod resources;
mod selection;
mod selector;
mod store;

pub use application_ref::ApplicationRef;
pub use edit::{FileEdit, FileEditError, FileWriteError};
pub use files::{FILE_BYTES_MAX, FileVersion, OUTPUT_LIST, PastInput};
pub use origin::{Authors, Origin, Trusted};
pub use place::{FileName, Place};
pub use rendered::{RenderedDocuments, RenderedKeys};
pub use resources::{
    Broken, BrokenReason, SetId, SkipReason, Skipped, StoredApplication, StoredProject, StoredSecret,
    StoredSet, StoredSettings,
};
pub use selection::{Filter, SelectError, Selection, TEMPLATE_MARK};
pub use selector::{Selector, SelectorError};
pub use store::{Counts, Documents, Store, StoreError, StoreInput};
