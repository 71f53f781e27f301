//! Servers that cannot be reached: none is asked again.

use std::collections::HashMap;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::OnceCell;

/// Servers that were called, and the errors of those that could not be reached. For one request of a user: later a server may be up again.
pub struct Servers<E> {
    called: Mutex<HashMap<String, Arc<OnceCell<()>>>>,
    unreachable: Mutex<HashMap<String, E>>,
}

impl<E: Clone> Servers<E> {
    /// Calls a server as [`Servers::try_call`] does. The first call goes alone, so that concurrent calls do not all wait for a connection in
    /// vain.
    pub async fn call<T>(
        &self,
        server: &str,
        is_unreachable: impl Fn(&E) -> bool,
        call: impl Future<Output = Result<T, E>>,
    ) -> Result<T, E> {
        let mut call = pin!(self.try_call(server, is_unreachable, call));
        let (mut ended, leading) = (None, call.as_mut());
        let result = &mut ended;
        let first = Arc::clone(locked(&self.called).entry(server.to_owned()).or_default());
        first.get_or_init(|| async move { *result = Some(leading.await) }).await;
        match ended {
            Some(result) => result,
            None => call.await,
        }
    }

    /// Calls a server. If an earlier call could not reach it, the call fails with its error and does not begin.
    pub async fn try_call<T>(
        &self,
        server: &str,
        is_unreachable: impl Fn(&E) -> bool,
        call: impl Future<Output = Result<T, E>>,
    ) -> Result<T, E> {
        let known = locked(&self.unreachable).get(server).cloned();
        if let Some(error) = known {
            return Err(error);
        }
        call.await.inspect_err(|error| {
            if is_unreachable(error) {
                locked(&self.unreachable).entry(server.to_owned()).or_insert_with(|| error.clone());
            }
        })
    }
}

/// Keys may have passwords of proxies.
impl<E> std::fmt::Debug for Servers<E> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Servers").finish_non_exhaustive()
    }
}

impl<E> Default for Servers<E> {
    fn default() -> Self {
        Self { called: Mutex::default(), unreachable: Mutex::default() }
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
