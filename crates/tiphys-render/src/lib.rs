//! The pipeline from an application to its manifests.
