//! The services that generators of `ApplicationSets` ask over HTTP.

mod objects;

pub use objects::{ConfigObject, ConfigObjects, ObjectOrigin, Recipient, RecipientError};
