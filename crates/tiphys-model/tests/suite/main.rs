//! Recorded answers of Argo CD, and properties of random input.

mod params;
mod project_rules;
