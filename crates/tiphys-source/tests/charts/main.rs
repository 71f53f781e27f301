//! Charts and artefacts of real servers on loopback, turned into trees.

mod failures;
mod registries;
mod repositories;
mod workbench;
