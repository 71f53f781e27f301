//! Parameter values and announcements: their model, merge, checks and environment encoding.
//!
//! The rules are those of the proposal "Parameterized Config Management Plugins"; nothing here touches files or processes.

mod announcement;
mod environment;
mod merge;
mod value;

pub use announcement::{Announcement, CollectionType, Default, ItemType};
pub use environment::{EnvVar, app_parameters, parameter_variables};
pub use merge::merge_announcements;
pub use value::{Parameter, Warning};
