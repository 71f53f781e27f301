//! What sources depend on.
