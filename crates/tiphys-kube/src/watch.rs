//! Watches of objects.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use crate::cluster_reader::{ClusterError, ClusterErrorKind, ListContent, WatchEvent};
use futures_util::stream::{self, BoxStream, StreamExt as _};
use http::StatusCode;
use http_body_util::BodyExt as _;
use kube::client::Body;
use serde_json::Value;
use tiphys_engine::{Manifest, ServedKind};
use tokio::time::{sleep, timeout};

use crate::cluster::list;
use crate::path;
use crate::session::{Call, Cause, JSON, Session};

/// Time after which the server ends a connection.
const CONNECTION_TIME: Duration = Duration::from_secs(290);

/// The longest pause after an error, as a multiple of the first.
const PAUSE_FACTOR_MAX: u32 = 64;

/// A watch of the objects of one kind.
pub(crate) struct Watch {
    session: Arc<Session>,
    kind: ServedKind,
    path: String,
    /// The names of the objects; empty: all.
    names: BTreeSet<String>,
    /// A part of the query that ends with `&`, or empty.
    selection: String,
    state: State,
    /// The next pause, as a multiple of the first.
    pause_factor: u32,
    is_paused: bool,
}

enum State {
    /// All objects must be listed.
    Unlisted,
    /// Changes since a version must be requested.
    Listed(String),
    /// Changes are read.
    Open(Connection),
}

/// An open connection.
struct Connection {
    call: Call,
    lines: Lines,
    /// The version of the last event.
    resource_version: String,
    has_events: bool,
}

/// The lines of a body.
struct Lines {
    body: Body,
    buffer: Vec<u8>,
    /// Bytes of the buffer that have no line break.
    searched: usize,
}

/// The result of one step.
enum Step {
    Event(WatchEvent),
    /// No event for the caller.
    Nothing,
}

impl Watch {
    /// Lists the objects, requests their changes, and returns the stream of events, whose first one has the objects.
    pub(crate) async fn begin(
        session: Arc<Session>,
        kind: ServedKind,
        namespace: Option<&str>,
        names: BTreeSet<String>,
    ) -> Result<BoxStream<'static, Result<WatchEvent, ClusterError>>, ClusterError> {
        let Some(path) = path::collection(&kind, namespace) else {
            // Objects that cannot exist do not change.
            let none = stream::iter([Ok(WatchEvent::Listed(Vec::new()))]);
            return Ok(none.chain(stream::pending()).boxed());
        };
        // A field selector has one name at most.
        let selection = match names.first() {
            Some(name) if names.len() == 1 => {
                format!("fieldSelector={}&", path::query_value(&format!("metadata.name={name}")))
            }
            _ => String::new(),
        };
        let mut watch = Self {
            session,
            kind,
            path,
            names,
            selection,
            state: State::Unlisted,
            pause_factor: 1,
            is_paused: false,
        };
        let first = watch.next().await?;
        // The permission to list does not include the one to watch.
        if let State::Listed(resource_version) = &watch.state {
            let resource_version = resource_version.clone();
            watch.open(resource_version).await?;
        }
        let rest = stream::unfold(watch, async |mut watch| Some((watch.next().await, watch)));
        Ok(stream::iter([Ok(first)]).chain(rest).boxed())
    }

    async fn next(&mut self) -> Result<WatchEvent, ClusterError> {
        loop {
            if std::mem::take(&mut self.is_paused) {
                sleep(self.session.options.pause * self.pause_factor).await;
                self.pause_factor = (self.pause_factor * 2).min(PAUSE_FACTOR_MAX);
            }
            match self.step().await {
                Ok(Step::Event(event)) => return Ok(event),
                Ok(Step::Nothing) => {}
                Err(error) => {
                    self.state = State::Unlisted;
                    self.is_paused = true;
                    return Err(error);
                }
            }
        }
    }

    async fn step(&mut self) -> Result<Step, ClusterError> {
        match &mut self.state {
            State::Unlisted => {
                let keep = |object| kept(&self.names, object);
                let Self { session, kind, path, selection, .. } = &*self;
                let listed = list(session, kind, path, selection, ListContent::Objects, keep).await?;
                self.state = State::Listed(listed.resource_version);
                Ok(Step::Event(WatchEvent::Listed(listed.objects)))
            }
            State::Listed(resource_version) => {
                let resource_version = resource_version.clone();
                self.open(resource_version).await?;
                Ok(Step::Nothing)
            }
            State::Open(connection) => {
                if let Some(line) = connection.lines.next(&self.session, &connection.call).await? {
                    return self.event(&line);
                }
                // A server that ends each connection at once must not be asked in a loop.
                self.is_paused = !connection.has_events;
                self.state = State::Listed(std::mem::take(&mut connection.resource_version));
                Ok(Step::Nothing)
            }
        }
    }

    async fn open(&mut self, resource_version: String) -> Result<(), ClusterError> {
        let call = Call::read(
            format!("watch {}", self.kind.full_name()),
            format!(
                "{}?{}watch=true&allowWatchBookmarks=true&timeoutSeconds={}&resourceVersion={}",
                self.path,
                self.selection,
                CONNECTION_TIME.as_secs(),
                path::query_value(&resource_version)
            ),
            JSON,
        );
        match self.session.open(&call).await? {
            Ok(response) => {
                let lines = Lines { body: response.into_body(), buffer: Vec::new(), searched: 0 };
                self.state = State::Open(Connection { call, lines, resource_version, has_events: false });
            }
            Err(StatusCode::GONE) => {
                // Nor one that reports each version as expired.
                self.is_paused = true;
                self.state = State::Unlisted;
            }
            Err(status) => return Err(self.session.status_error(&call, status)),
        }
        Ok(())
    }

    fn event(&mut self, line: &[u8]) -> Result<Step, ClusterError> {
        let State::Open(connection) = &mut self.state else { return Ok(Step::Nothing) };
        let malformed = || self.session.malformed(&connection.call);
        let Ok(Value::Object(mut event)) = serde_json::from_slice(line) else { return Err(malformed()) };
        let Some(Value::Object(object)) = event.remove("object") else { return Err(malformed()) };
        let kind = event.get("type").and_then(Value::as_str).unwrap_or_default();
        if kind == "ERROR" {
            let code = object.get("code").and_then(Value::as_u64).and_then(|code| u16::try_from(code).ok());
            let status = code.and_then(|code| StatusCode::from_u16(code).ok()).ok_or_else(malformed)?;
            if status == StatusCode::GONE {
                self.is_paused = !connection.has_events;
                self.state = State::Unlisted;
                return Ok(Step::Nothing);
            }
            return Err(self.session.status_error(&connection.call, status));
        }
        // The pauses begin anew with an event, and not with a list: it may succeed while each watch fails.
        connection.has_events = true;
        self.pause_factor = 1;
        let version = object.get("metadata").and_then(|metadata| metadata.get("resourceVersion"));
        let version = version.and_then(Value::as_str).unwrap_or_default();
        // An object that was deleted since would exist again for the caller.
        if is_repeated(version, &connection.resource_version) {
            return Ok(Step::Nothing);
        }
        version.clone_into(&mut connection.resource_version);
        let object = kept(&self.names, Manifest::new(object));
        match (kind, object) {
            ("ADDED" | "MODIFIED", Some(object)) => Ok(Step::Event(WatchEvent::Changed(object))),
            ("DELETED", Some(object)) => Ok(Step::Event(WatchEvent::Deleted(object))),
            ("ADDED" | "MODIFIED" | "DELETED" | "BOOKMARK", _) => Ok(Step::Nothing),
            _ => Err(malformed()),
        }
    }
}

/// Whether an event has the version of the last one or an earlier one. Versions of one kind increase; those of some extension servers are not numbers.
fn is_repeated(version: &str, last: &str) -> bool {
    let (version, last) = (version.parse::<u64>(), last.parse::<u64>());
    version.is_ok_and(|version| last.is_ok_and(|last| version <= last))
}

/// Returns what a watch keeps of an object; `None` for one without any of the names, of which there may be none.
fn kept(names: &BTreeSet<String>, object: Manifest) -> Option<Manifest> {
    let is_wanted = names.is_empty() || names.contains(object.name());
    is_wanted.then(|| object.without_managed_fields())
}

impl Lines {
    /// Returns the next line; `None` at the end. An incomplete last line is left out.
    async fn next(&mut self, session: &Session, call: &Call) -> Result<Option<Vec<u8>>, ClusterError> {
        let idle_max = CONNECTION_TIME + session.options.request_timeout;
        loop {
            let unsearched = self.buffer.get(self.searched..).unwrap_or_default();
            if let Some(end) = unsearched.iter().position(|byte| *byte == b'\n') {
                let line = self.buffer.drain(..=self.searched + end).collect();
                self.searched = 0;
                return Ok(Some(line));
            }
            self.searched = self.buffer.len();
            let frame = match timeout(idle_max, self.body.frame()).await {
                Ok(Some(frame)) => frame,
                Ok(None) => return Ok(None),
                Err(_elapsed) => {
                    let cause = Cause::Idle(idle_max);
                    return Err(session.error(call, ClusterErrorKind::Interrupted, cause));
                }
            };
            let frame = frame.map_err(|source| session.error(call, ClusterErrorKind::Interrupted, source))?;
            let data = frame.into_data().unwrap_or_default();
            if self.buffer.len() + data.len() > session.options.response_bytes_max {
                return Err(session.too_large(call));
            }
            self.buffer.extend_from_slice(&data);
        }
    }
}
