//! The services that generators of `ApplicationSets` ask over HTTP.

mod forge;
mod objects;

pub use forge::{ForgeSettings, Forges};
pub use objects::{ConfigObject, ConfigObjects, ObjectOrigin, Recipient, RecipientError};
