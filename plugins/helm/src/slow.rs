//! A word about a program that takes long. Who ends a run from outside, such as Argo CD at its own deadline, tells of it what was written to
//! standard error so far, and nothing else: without this word nobody would learn what was waited for.

use std::io::{self, Write as _};
use std::pin::pin;
use std::time::Duration;

use tiphys_process::escape_text;
use tokio::time::timeout;

use crate::settings::Settings;
use crate::shown::{Cleaner, without_api_versions, without_secret_options};

/// What is told of calls that have not ended yet.
#[derive(Clone, Debug)]
pub(crate) struct SlowNotice {
    /// When it is told; `None` for never.
    after: Option<Duration>,
    /// How long a call may take.
    bound: Duration,
    cleaner: Cleaner,
    /// Where is fetched from, passwords masked.
    addresses: Vec<String>,
}

impl SlowNotice {
    /// As the settings say. `cleaner` makes commands fit to be seen.
    pub(crate) fn new(settings: &Settings, cleaner: Cleaner) -> Self {
        // At its bound a call is ended, which is told with the failure.
        let after = settings.slow_after.filter(|after| *after < settings.timeout);
        Self { after, bound: settings.timeout, cleaner, addresses: Vec::new() }
    }

    /// The same for calls that fetch. Addresses are as people may see them.
    pub(crate) fn fetching_from(&self, addresses: Vec<String>) -> Self {
        Self { addresses, ..self.clone() }
    }

    /// Waits for the end of a call, and tells once if that takes long.
    pub(crate) async fn wait<T>(&self, command: &str, call: impl Future<Output = T>) -> T {
        let Some(after) = self.after else { return call.await };
        let mut call = pin!(call);
        if let Ok(ended) = timeout(after, &mut call).await {
            return ended;
        }
        // Nobody is left to tell if stderr is closed.
        drop(writeln!(io::stderr().lock(), "{}", escape_text(&self.text(command, after))));
        call.await
    }

    /// One line.
    fn text(&self, command: &str, after: Duration) -> String {
        let command = self.cleaner.cleaned(&without_api_versions(&without_secret_options(command)));
        let mut text = format!(
            "tiphys-helm: `{}` has not ended after {} s; it may take {} s (TIPHYS_HELM_TIMEOUT)",
            command.replace(['\n', '\r'], " "),
            after.as_secs(),
            self.bound.as_secs()
        );
        if !self.addresses.is_empty() {
            text.push_str("; it fetches from ");
            text.push_str(&self.addresses.join(", "));
        }
        text
    }
}

#[cfg(test)]
mod tests;
