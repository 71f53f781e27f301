//! Runs under a launcher, as this user, as an unprivileged user, and without user namespaces.

#![expect(clippy::disallowed_methods, reason = "the tests inspect processes from outside")]

mod commands;
mod ending;
mod hostile;
mod mounts;
mod orphans;
mod pdeathsig;
mod support;
mod testkit;
mod views;
mod warm;
