//! The services beside the plugin's: what answers here, and what it can be asked (`spec/cmp.md` 1.3).

pub(crate) mod reflection;
pub(crate) mod version;
