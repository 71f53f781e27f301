//! Notices of slow calls. A caller that ends a run at its own deadline, such as Argo CD, reports only what standard error contains by then.
//! The notice shows what the run was waiting for.

use std::io::{self, Write as _};
use std::pin::pin;
use std::time::Duration;

use tiphys_process::escape_text;
use tokio::time::timeout;

use crate::redaction::{Redactor, without_api_versions, without_secrets};
use crate::settings::Settings;

/// Reports calls that have not ended yet.
#[derive(Clone, Debug)]
pub(crate) struct SlowNotice {
    /// Delay of the notice; `None` for never.
    after: Option<Duration>,
    /// Timeout of a call.
    bound: Duration,
    redactor: Redactor,
    /// Addresses that the call fetches from, redacted.
    addresses: Vec<String>,
}

impl SlowNotice {
    /// Reads the settings. `redactor` redacts commands.
    pub(crate) fn new(settings: &Settings, redactor: Redactor) -> Self {
        // A call that exceeds its timeout fails with a message.
        let after = settings.slow_after.filter(|after| *after < settings.timeout);
        Self { after, bound: settings.timeout, redactor, addresses: Vec::new() }
    }

    /// For calls that fetch from these redacted addresses.
    pub(crate) fn fetching_from(&self, addresses: Vec<String>) -> Self {
        Self { addresses, ..self.clone() }
    }

    /// Waits for the end of a call, and prints one notice if it takes long.
    pub(crate) async fn wait<T>(&self, command: &str, call: impl Future<Output = T>) -> T {
        let Some(after) = self.after else { return call.await };
        let mut call = pin!(call);
        if let Ok(ended) = timeout(after, &mut call).await {
            return ended;
        }
        // stderr may be closed.
        drop(writeln!(io::stderr().lock(), "{}", escape_text(&self.text(command, after))));
        call.await
    }

    fn text(&self, command: &str, after: Duration) -> String {
        let command = self.redactor.redact(&without_api_versions(&without_secrets(command)));
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
