//! Runs work on directories, which may add more work, on several threads.

use std::io;
use std::num::NonZero;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

/// More threads would only wait for the same locks of the file system.
const THREADS_MAX: usize = 8;

/// Jobs that are done before other threads are started: for fewer, starting threads takes longer.
const JOBS_ALONE: usize = 16;

struct Queue<J> {
    /// Last in, first out, so that few jobs wait.
    jobs: Vec<J>,
    /// Number of waiting and running jobs. 0 ends the work.
    open: usize,
    failure: Option<io::Error>,
}

struct Shared<J> {
    queue: Mutex<Queue<J>>,
    changed: Condvar,
}

/// Does a job and all jobs that it adds to its list. The first error ends the work and is returned.
pub fn work_off<J: Send>(first: J, work: impl Fn(J, &mut Vec<J>) -> io::Result<()> + Sync) -> io::Result<()> {
    let mut jobs = vec![first];
    for _ in 0..JOBS_ALONE {
        let Some(job) = jobs.pop() else { return Ok(()) };
        work(job, &mut jobs)?;
    }
    let threads = thread::available_parallelism().map_or(1, NonZero::get).min(THREADS_MAX);
    let open = jobs.len();
    let shared = Shared { queue: Mutex::new(Queue { jobs, open, failure: None }), changed: Condvar::new() };
    thread::scope(|scope| {
        for _ in 1..threads {
            // If no thread starts, this one does all jobs.
            let _started: io::Result<_> = thread::Builder::new().spawn_scoped(scope, || shared.help(&work));
        }
        shared.help(&work);
    });
    let queue = shared.queue.into_inner().unwrap_or_else(PoisonError::into_inner);
    queue.failure.map_or(Ok(()), Err)
}

impl<J> Shared<J> {
    fn lock(&self) -> MutexGuard<'_, Queue<J>> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn help(&self, work: &impl Fn(J, &mut Vec<J>) -> io::Result<()>) {
        let mut queue = self.lock();
        while queue.open > 0 && queue.failure.is_none() {
            let Some(job) = queue.jobs.pop() else {
                queue = self.changed.wait(queue).unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            drop(queue);
            let mut more = Vec::new();
            let done = work(job, &mut more);
            queue = self.lock();
            queue.open += more.len();
            queue.open -= 1;
            queue.jobs.append(&mut more);
            if let Err(error) = done {
                queue.failure.get_or_insert(error);
            }
            self.changed.notify_all();
        }
    }
}
