//! Recorded answers of Go, Argo CD and Helm.

mod flatten;
mod glob;
mod gotemplate;
mod versions;
