//! The stages of requests that run, which the stream reports to browsers.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tokio::sync::watch;

/// The stages of all requests that run.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stages(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    /// By the number of the request.
    running: watch::Sender<BTreeMap<u64, Stage>>,
    requests: AtomicU64,
}

/// A request and its present work.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Stage {
    /// `NAMESPACE/NAME`.
    pub(crate) application: String,
    pub(crate) text: String,
}

/// The stages of one request, which has ended when this is dropped.
#[derive(Debug)]
pub(crate) struct RequestStages {
    number: u64,
    application: String,
    stages: Stages,
}

tokio::task_local! {
    static REQUEST: RequestStages;
}

impl Stages {
    /// Returns the stages of the requests that run, by number. The receiver is woken by each change.
    pub(crate) fn follow(&self) -> watch::Receiver<BTreeMap<u64, Stage>> {
        self.0.running.subscribe()
    }

    /// Begins a request about an application.
    pub(crate) fn begin(&self, application: &str) -> RequestStages {
        let number = self.0.requests.fetch_add(1, Ordering::Relaxed);
        RequestStages { number, application: application.to_owned(), stages: self.clone() }
    }
}

impl RequestStages {
    /// Reports that a stage begins.
    pub(crate) fn enter(&self, text: &str) {
        let stage = Stage { application: self.application.clone(), text: text.to_owned() };
        self.stages.0.running.send_modify(|running| drop(running.insert(self.number, stage)));
    }

    /// Runs work whose stages are those of this request.
    pub(crate) fn scope<F: Future>(self, work: F) -> impl Future<Output = F::Output> {
        REQUEST.scope(self, work)
    }
}

impl Drop for RequestStages {
    fn drop(&mut self) {
        self.stages.0.running.send_modify(|running| drop(running.remove(&self.number)));
    }
}

/// Reports that the request whose work runs in this task enters a stage.
pub fn enter_stage(text: &str) {
    // Other work has no stages.
    let _ = REQUEST.try_with(|request| request.enter(text));
}
