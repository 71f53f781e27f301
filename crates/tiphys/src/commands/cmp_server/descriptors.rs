//! How many connections there is room for among the files that the system lets this process have open.
//!
//! Where there is less room than connections are asked for, the server would find out in the middle of a call. The limit is not raised:
//! plugins would inherit it, and some walk through all numbers that it allows.

use std::num::NonZeroU32;

/// Descriptors of a server without calls, and of archives that are unpacked.
const SERVER_DESCRIPTORS: u64 = 48;
/// Descriptors of a run beside the connection that it is for: the pipes of its launcher, and of the one that is started for the next run.
const RUN_DESCRIPTORS: u64 = 6;

/// As many connections as are asked for, or as many as there is room for if that is less: a call on each, of which `runs_max` run at once.
/// At least one, whatever the limit; without a limit there is room for all.
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
