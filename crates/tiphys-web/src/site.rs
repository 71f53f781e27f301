//! The state that all requests of the page share, and the use cases that both pages and API call.

mod application;
mod queries;
mod state;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use moka::sync::Cache;
use tiphys_service::params::SavedApplication;
use tiphys_service::{Service, ServiceError, StoreWatch};
use tokio::sync::{Semaphore, watch};
use tokio_util::sync::CancellationToken;

use crate::access::Access;
use crate::events::STREAMS_MAX;
use crate::jobs::{Jobs, NotDone};
use crate::stages::Stages;

pub(crate) use application::{ApplicationHead, ApplicationParameters, FormParameter, SourceHead};
pub(crate) use queries::{
    ApplicationList, Change, ListEntry, RenderedManifests, RenderedSource, ReviewDocument,
};
pub(crate) use state::ApplicationState;

/// Applications whose parameters are cached.
const CACHED_APPLICATIONS: u64 = 64;

/// Age of the saved side of a preview: values of clusters change without a change of files.
const SAVED_AGE_MAX: Duration = Duration::from_secs(30);

/// Time during which a page reports what was saved.
const SAVED_REPORTED: Duration = Duration::from_mins(1);

/// The base of a comparison if none is given: the commit.
pub(crate) const DEFAULT_BASE: &str = "HEAD";

/// Applications whose state is remembered.
const STATES_MAX: u64 = 100_000;

/// Decisions of the front end about a page.
#[derive(Clone, Debug)]
pub struct SiteOptions {
    /// Whether nothing can be saved.
    pub read_only: bool,
    /// Returns what to do about an error, with the options of the command line.
    pub hint: fn(&ServiceError) -> Option<String>,
    /// The options of the process that a command needs, too, for the same result.
    pub arguments: Vec<String>,
}

/// The state that all requests share.
pub(crate) struct Site {
    pub(crate) options: SiteOptions,
    pub(crate) access: Arc<Access>,
    /// The places of streams.
    pub(crate) streams: Arc<Semaphore>,
    service: Service,
    jobs: Jobs,
    /// None if the files cannot be watched. Then nothing is cached.
    watch: Option<StoreWatch>,
    /// Counts requests if the files are not watched.
    requests: AtomicU64,
    /// Never sends.
    idle: watch::Sender<u64>,
    parameters: Cache<String, (u64, Arc<ApplicationParameters>)>,
    /// The saved sides of previews, by application and position of the source.
    saved: Cache<(String, Option<u32>), (u64, Arc<SavedApplication>)>,
    states: Cache<String, (u64, ApplicationState)>,
    /// The revisions that were rendered.
    revisions: Cache<String, (u64, Arc<[RenderedSource]>)>,
    /// The files that were saved a moment ago.
    written: Cache<String, Vec<String>>,
    list: Mutex<Option<(u64, Arc<ApplicationList>)>>,
}

/// Why a request failed.
#[derive(Clone, Debug)]
pub(crate) enum Failure {
    /// A use case failed.
    Service(ServiceError),
    /// It was not tried.
    NotDone(NotDone),
}

impl From<ServiceError> for Failure {
    fn from(error: ServiceError) -> Self {
        Self::Service(error)
    }
}

impl From<NotDone> for Failure {
    fn from(reason: NotDone) -> Self {
        Self::NotDone(reason)
    }
}

impl SiteOptions {
    /// Returns the text of an error with what to do about it, and the lines of the file that failed.
    pub(crate) fn error_text(&self) -> impl Fn(&ServiceError) -> String + Copy + Send + use<> {
        let hint = self.hint;
        move |error| {
            let hint = hint(error).map(|hint| format!("; {hint}")).unwrap_or_default();
            let excerpt = error.details().and_then(|details| details.excerpt.as_ref());
            let excerpt = excerpt.map(|excerpt| format!("\n{excerpt}")).unwrap_or_default();
            format!("{}{hint}{excerpt}", error.message())
        }
    }
}

impl Site {
    pub(crate) fn new(service: Service, options: SiteOptions, access: Access, jobs: Jobs) -> Self {
        let watch = StoreWatch::begin(&service)
            .inspect_err(|error| {
                tracing::warn!(
                    "{error}; pages read the files at each request, and do not change by themselves"
                );
            })
            .ok();
        let (parameters, states) = (Cache::new(CACHED_APPLICATIONS), Cache::new(STATES_MAX));
        Self {
            options,
            access: Arc::new(access),
            streams: Arc::new(Semaphore::new(STREAMS_MAX)),
            service,
            jobs,
            watch,
            requests: AtomicU64::default(),
            idle: watch::Sender::new(0),
            parameters,
            saved: Cache::builder().max_capacity(CACHED_APPLICATIONS).time_to_live(SAVED_AGE_MAX).build(),
            states,
            revisions: Cache::new(CACHED_APPLICATIONS),
            written: Cache::builder().max_capacity(CACHED_APPLICATIONS).time_to_live(SAVED_REPORTED).build(),
            list: Mutex::default(),
        }
    }

    /// Returns the number of changes of the store so far. The receiver is woken by each.
    pub(crate) fn changes(&self) -> watch::Receiver<u64> {
        self.watch.as_ref().map_or_else(|| self.idle.subscribe(), StoreWatch::changes)
    }

    /// Returns the token that ends the server.
    pub(crate) fn stop(&self) -> CancellationToken {
        self.jobs.stop()
    }

    /// The stages of all requests.
    pub(crate) fn stages(&self) -> &Stages {
        self.jobs.stages()
    }

    /// Returns what is known about an application of the list.
    pub(crate) fn state_in_list(&self, entry: &ListEntry) -> ApplicationState {
        if entry.failure.is_some() {
            ApplicationState::Fails
        } else {
            self.state_of(&entry.application.application)
        }
    }

    /// Returns what is known about an application.
    pub(crate) fn state_of(&self, application: &str) -> ApplicationState {
        let known = self.states.get(application).filter(|(of, _)| *of == self.version());
        known.map_or(ApplicationState::Unknown, |(_, state)| state)
    }

    /// Returns the revisions that the present files rendered. None if they were not rendered.
    pub(crate) fn revisions_of(&self, application: &str) -> Option<Arc<[RenderedSource]>> {
        let known = self.revisions.get(application).filter(|(of, _)| *of == self.version());
        known.map(|(_, sources)| sources)
    }

    /// Returns the files of an application that this server saved last, for a moment.
    pub(crate) fn saved_files(&self, application: &str) -> Vec<String> {
        self.written.get(application).unwrap_or_default()
    }

    fn version(&self) -> u64 {
        match &self.watch {
            Some(watch) => *watch.changes().borrow(),
            None => self.requests.fetch_add(1, Ordering::Relaxed),
        }
    }
}
