//! Charts and artefacts of real servers on loopback, turned into trees.

mod bounds;
mod cancelling;
mod deadlines;
mod digests;
mod failures;
mod logins;
mod lookups;
mod reach;
mod registries;
mod repositories;
mod workbench;
