//! Removing what nobody needs, on a thread of its own, so that no call waits for it.

use std::io;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::thread::{Builder, JoinHandle};

use super::contents::Leaving;
use super::places::Places;
use crate::store::remove::remove_tree;
use crate::store::session::Session;

/// Removals that wait. With more of them, whoever has one does it himself: things must not come faster than they go.
const WAITING_MAX: usize = 64;

/// The thread; joined on drop, when it has done what it was told.
#[derive(Debug)]
pub(super) struct Remover {
    jobs: Option<SyncSender<Job>>,
    thread: Option<JoinHandle<()>>,
    places: Arc<Places>,
}

#[derive(Debug)]
enum Job {
    Sweep(Vec<Arc<Session>>),
    Remove(Leaving),
    Answer(SyncSender<()>),
}

impl Remover {
    pub(super) fn new(places: Arc<Places>) -> io::Result<Self> {
        let (jobs, waiting) = sync_channel(WAITING_MAX);
        let thread = {
            let places = Arc::clone(&places);
            Builder::new().name("store-remover".to_owned()).spawn(move || work(&waiting, &places))?
        };
        Ok(Self { jobs: Some(jobs), thread: Some(thread), places })
    }

    /// Sweeps what sessions have taken over.
    pub(super) fn sweep(&self, sessions: Vec<Arc<Session>>) {
        self.give(Job::Sweep(sessions));
    }

    /// Removes trees and files.
    pub(super) fn remove(&self, leaving: Leaving) {
        if !leaving.is_empty() {
            self.give(Job::Remove(leaving));
        }
    }

    /// Waits until everything is removed that was given before.
    pub(super) fn wait(&self) {
        let (answer, answered) = sync_channel(1);
        if let Some(jobs) = &self.jobs
            && jobs.send(Job::Answer(answer)).is_ok()
        {
            // An error means that the thread has ended, and with it its work.
            let _answer = answered.recv();
        }
    }

    fn give(&self, job: Job) {
        let Some(jobs) = &self.jobs else { return };
        if let Err(TrySendError::Full(job) | TrySendError::Disconnected(job)) = jobs.try_send(job) {
            carry_out(job, &self.places);
        }
    }
}

impl Drop for Remover {
    fn drop(&mut self) {
        drop(self.jobs.take());
        if let Some(thread) = self.thread.take() {
            // A panic there was reported by the thread itself; the session's folder is removed as a whole in any case.
            drop(thread.join());
        }
    }
}

fn work(jobs: &Receiver<Job>, places: &Places) {
    while let Ok(job) = jobs.recv() {
        carry_out(job, places);
    }
}

fn carry_out(job: Job, places: &Places) {
    match job {
        Job::Sweep(sessions) => sessions.iter().for_each(|session| session.sweep()),
        Job::Remove(Leaving { trees, files }) => {
            for tree in trees {
                // What cannot be removed goes with the session's folder.
                drop(remove_tree(tree.parent().unwrap_or(&tree)));
            }
            for file in files {
                places.remove(file);
            }
        }
        // Nobody may be waiting any more.
        Job::Answer(answer) => drop(answer.send(())),
    }
}
