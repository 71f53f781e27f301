//! Runs under a launcher: views, commands, the end of everything; as this user, as an unprivileged one, and without user namespaces.

#![expect(clippy::disallowed_methods, reason = "the tests look at processes from outside")]

mod commands;
mod ending;
mod hostile;
mod mounts;
mod orphans;
mod support;
mod views;
mod warm;
