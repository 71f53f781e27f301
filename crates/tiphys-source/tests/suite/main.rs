//! Revisions of git repositories, and charts.

mod charts;
mod sources;
