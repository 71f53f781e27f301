//! Removes unused files and trees on a thread of its own, so that no call waits for it.

use std::io;
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

use tiphys_process::removal::remove_tree_or_log;

use super::contents::Leaving;
use super::places::Places;
use super::unnamed::Unnamed;
use crate::store::session::Session;
use crate::store::turns::WAIT_STEP;

/// Maximum queue of removals. Further ones are done by the caller, so that files are not added faster than removed.
const WAITING_MAX: usize = 64;
/// Maximum wait for room on a full file system, usually available much earlier. The callers' own deadlines end the wait, too.
pub(super) const ROOM_WAIT_MAX: Duration = Duration::from_secs(5);

/// The thread; joined on drop, after it has done its jobs.
#[derive(Debug)]
pub(super) struct Remover {
    jobs: Option<SyncSender<Job>>,
    thread: Option<JoinHandle<()>>,
    places: Arc<Places>,
    progress: Arc<Progress>,
}

/// The progress of the thread.
#[derive(Debug, Default)]
struct Progress {
    counts: Mutex<Counts>,
    done: Condvar,
}

/// Jobs for the thread, in order.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    given: u64,
    done: u64,
}

impl Progress {
    fn counts(&self) -> MutexGuard<'_, Counts> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[derive(Debug)]
enum Job {
    Sweep(Vec<Arc<Session>>),
    Remove(Leaving),
    Name(Unnamed),
    /// Pauses until the other end is dropped.
    #[cfg(test)]
    Hold(Receiver<()>),
}

impl Remover {
    pub(super) fn new(places: Arc<Places>) -> io::Result<Self> {
        let (jobs, waiting) = sync_channel(WAITING_MAX);
        let progress = Arc::<Progress>::default();
        let thread = {
            let (places, progress) = (Arc::clone(&places), Arc::clone(&progress));
            Builder::new()
                .name("store-remover".to_owned())
                .spawn(move || work(&waiting, &places, &progress))?
        };
        Ok(Self { jobs: Some(jobs), thread: Some(thread), places, progress })
    }

    /// Sweeps what a session has taken over.
    pub(super) fn sweep(&self, sessions: Vec<Arc<Session>>) {
        self.give(Job::Sweep(sessions));
    }

    /// Removes trees and files.
    pub(super) fn remove(&self, leaving: Leaving) {
        if !leaving.is_empty() {
            self.give(Job::Remove(leaving));
        }
    }

    /// Links files to the store; on this thread if the other one is busy: callers may wait for them.
    pub(super) fn name(&self, unnamed: Unnamed) {
        if unnamed.is_empty() {
            return;
        }
        let Counts { given, done } = *self.progress.counts();
        if given == done {
            self.give(Job::Name(unnamed));
        } else {
            unnamed.name();
        }
    }

    /// Waits until all earlier removals are done, up to a maximum, or until `stop` returns `true`.
    pub(super) fn wait(&self, wait_max: Duration, stop: &dyn Fn() -> bool) {
        let began = Instant::now();
        let mut counts = self.progress.counts();
        let given = counts.given;
        while counts.done < given && began.elapsed() < wait_max && !stop() {
            let waited = self.progress.done.wait_timeout(counts, WAIT_STEP);
            counts = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Pauses the thread until the result is dropped.
    #[cfg(test)]
    pub(super) fn hold(&self) -> SyncSender<()> {
        let (held, until) = sync_channel(0);
        self.give(Job::Hold(until));
        held
    }

    fn give(&self, job: Job) {
        let Some(jobs) = &self.jobs else { return };
        let refused = {
            // With the counts locked, so that jobs are counted in their order.
            let mut counts = self.progress.counts();
            let given = jobs.try_send(job);
            counts.given += u64::from(given.is_ok());
            given.err()
        };
        if let Some(TrySendError::Full(job) | TrySendError::Disconnected(job)) = refused {
            carry_out(job, &self.places);
        }
    }
}

impl Drop for Remover {
    fn drop(&mut self) {
        drop(self.jobs.take());
        if let Some(thread) = self.thread.take() {
            // A panic was reported by the thread itself; the session's directory is removed completely in any case.
            drop(thread.join());
        }
    }
}

fn work(jobs: &Receiver<Job>, places: &Places, progress: &Progress) {
    while let Ok(job) = jobs.recv() {
        carry_out(job, places);
        progress.counts().done += 1;
        progress.done.notify_all();
    }
}

fn carry_out(job: Job, places: &Places) {
    match job {
        Job::Sweep(sessions) => sessions.iter().for_each(|session| session.sweep()),
        Job::Name(unnamed) => unnamed.name(),
        Job::Remove(Leaving { trees, files }) => {
            for tree in trees {
                // What cannot be removed goes with the session's folder.
                remove_tree_or_log(tree.parent().unwrap_or(&tree));
            }
            for file in files {
                places.remove(file);
            }
        }
        #[cfg(test)]
        Job::Hold(until) => drop(until.recv()),
    }
}
