//! Limits connections to the number of open files that the system permits.
//!
//! Otherwise the server would run out of descriptors during a call. The limit is not raised, because plugins would inherit it, and some
//! programs iterate over all descriptor numbers that it permits.

use std::num::NonZeroU32;

/// Descriptors of a server without calls, and of archives that are unpacked.
const SERVER_DESCRIPTORS: u64 = 48;
/// Descriptors of a run in addition to its connection: the pipes of its launcher and of the launcher that is started for the next run.
const RUN_DESCRIPTORS: u64 = 6;

/// The requested number of connections, or fewer if descriptors are short: at least one. Each connection has one call, and `runs_max` of
/// the calls run at once. Without a limit it is the requested number.
pub(super) fn connections_that_fit(asked: NonZeroU32, runs_max: usize, limit: Option<u64>) -> NonZeroU32 {
    let Some(limit) = limit else { return asked };
    let room = limit.saturating_sub(SERVER_DESCRIPTORS);
    let runs_max = u64::try_from(runs_max).unwrap_or(u64::MAX);
    // Each connection has a run, or there are more connections than runs.
    let with_a_run_each = room / (1 + RUN_DESCRIPTORS);
    let fitting = with_a_run_each.max(room.saturating_sub(runs_max.saturating_mul(RUN_DESCRIPTORS)));
    let fitting = u32::try_from(fitting).unwrap_or(u32::MAX);
    NonZeroU32::new(fitting).unwrap_or(NonZeroU32::MIN).min(asked)
}

#[cfg(test)]
mod tests;
