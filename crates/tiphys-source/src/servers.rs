//! Git servers that a request cannot reach. Each is asked once, by the first call.

use std::collections::HashMap;
use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};

use tiphys_model::limits::Limit;

use crate::SourceError;
use crate::once_map::OnceMap;

/// The servers of one request.
#[derive(Default)]
pub(crate) struct Servers {
    called: OnceMap<String, ()>,
    /// The errors of those that could not be reached.
    unreachable: Mutex<HashMap<String, Arc<SourceError>>>,
}

impl Servers {
    /// Calls a server. The first call goes alone. If a call could not reach the server, later ones fail with its error and do not begin.
    pub(crate) async fn call<T>(
        &self,
        server: &str,
        call: impl Future<Output = Result<T, SourceError>>,
    ) -> Result<T, SourceError> {
        let mut call = pin!(self.observed(server, call));
        if let Some(result) = self.called.lead(server.to_owned(), call.as_mut()).await {
            return result;
        }
        let known = self.unreachable.lock().unwrap_or_else(PoisonError::into_inner).get(server).cloned();
        match known {
            Some(error) => Err(SourceError::Before(error)),
            None => call.await,
        }
    }

    async fn observed<T>(
        &self,
        server: &str,
        call: impl Future<Output = Result<T, SourceError>>,
    ) -> Result<T, SourceError> {
        let error = match call.await {
            Err(error) if is_of_server(&error) => Arc::new(error),
            other => return other,
        };
        let mut unreachable = self.unreachable.lock().unwrap_or_else(PoisonError::into_inner);
        unreachable.entry(server.to_owned()).or_insert_with(|| Arc::clone(&error));
        Err(SourceError::Before(error))
    }
}

/// Whether a server did not answer at all. Git has no timeout for connecting but that of the look-up.
fn is_of_server(error: &SourceError) -> bool {
    match error {
        SourceError::Unreachable { .. } => true,
        SourceError::Timeout { limit, .. } => *limit == Some(Limit::LOOKUP_TIMEOUT),
        _ => false,
    }
}
