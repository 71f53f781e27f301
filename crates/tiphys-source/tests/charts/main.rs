//! Charts and artefacts of real servers on loopback, turned into trees.

mod bounds;
mod failures;
mod registries;
mod repositories;
mod workbench;
