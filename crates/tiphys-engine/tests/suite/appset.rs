//! Application sets: recorded answers of Argo CD.

mod generate;
mod plan;
