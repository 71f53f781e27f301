//! Services besides the plugin's: version and reflection.

pub(crate) mod reflection;
pub(crate) mod version;
