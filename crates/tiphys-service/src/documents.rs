//! Results as JSON documents: what the command line prints with `-o json`, what the API of the web page returns, and what the page shows.

mod application;
mod difference;
mod manifest;
mod parameter;
mod reference;

pub use application::ApplicationDocument;
pub use difference::{DifferenceDocument, ObjectDifferenceDocument, SettingDocument};
pub use manifest::ManifestDocument;
pub use parameter::{LayerDocument, LocationDocument, ParameterDocument};
pub use reference::{ReferenceDocument, RuleDocument};
