//! Follows the watched objects: each kind fills the cache and makes the sets due that it concerns.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt as _;
use tiphys_engine::Manifest;
use tiphys_engine::appset::ParameterRecord;
use tiphys_kube::KubeCluster;
use tiphys_kube::cluster_reader::{ClusterError, ClusterReader as _, WatchEvent};
use tokio::time::{Instant, sleep, timeout_at};

use crate::object::Watched;
use crate::options::SetNamespaces;
use crate::state::State;

/// The pause after a watch that could not begin. It doubles up to [`LONGEST_PAUSE`].
const FIRST_PAUSE: Duration = Duration::from_millis(500);

/// The longest pause between attempts to begin a watch.
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

/// Follows one kind for ever.
///
/// All objects are listed again after `relist`: a watch that was opened at a version from before a restore of the server's database reports
/// neither an error nor what changed.
pub(crate) async fn follow(
    cluster: Arc<KubeCluster>,
    kind: Watched,
    namespaces: SetNamespaces,
    relist: Duration,
    state: Arc<State>,
) {
    let mut pause = FIRST_PAUSE;
    let namespace = if kind.is_of_sets() { namespaces.only() } else { Some(namespaces.own()) };
    loop {
        let mut apply = |event| match event {
            Ok(event) => state.apply(kind, permitted(event, kind, &namespaces)),
            // The watch continues by itself.
            Err(error) => state.watch_failed(kind, namespace, &error),
        };
        match follow_until(&cluster, kind, namespace, Instant::now() + relist, &mut apply).await {
            Ok(()) => pause = FIRST_PAUSE,
            Err(error) => {
                state.watch_failed(kind, namespace, &error);
                sleep(pause).await;
                pause = (pause * 2).min(LONGEST_PAUSE);
            }
        }
    }
}

/// Follows a kind until a time. The error is that of the first list.
async fn follow_until(
    cluster: &KubeCluster,
    kind: Watched,
    namespace: Option<&str>,
    end: Instant,
    apply: &mut impl FnMut(Result<WatchEvent, ClusterError>),
) -> Result<(), ClusterError> {
    let mut events = cluster.watch(&kind.kind(), namespace, &BTreeSet::new()).await?;
    while let Ok(Some(event)) = timeout_at(end, events.next()).await {
        apply(event);
    }
    Ok(())
}

/// Leaves out the objects of namespaces that the controller does not serve, and the records that it writes itself.
fn permitted(event: WatchEvent, kind: Watched, namespaces: &SetNamespaces) -> WatchEvent {
    let is_permitted = |object: &Manifest| match kind {
        Watched::Sets | Watched::Applications => namespaces.serves(object.namespace()),
        Watched::ConfigMaps => !object.object().get("metadata").is_some_and(ParameterRecord::is_record),
        Watched::Projects | Watched::Secrets => true,
    };
    match event {
        WatchEvent::Listed(mut objects) => {
            objects.retain(is_permitted);
            WatchEvent::Listed(objects)
        }
        // The deletion of an object that is not cached changes nothing.
        WatchEvent::Changed(object) if !is_permitted(&object) => WatchEvent::Deleted(object),
        event => event,
    }
}
