//! A request for an Application of plain manifests. The bench `service` uses it, too.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use tiphys_api::Application;
use tiphys_engine::{DEFAULT_LABEL_KEY, TrackingMethod};
use tiphys_plugin::Others;
use tiphys_render::{ContextSettings, DestinationVersions, NoClusters, RenderRequest, RenderSettings};
use tiphys_source::SourceRequest;
use tokio_util::sync::CancellationToken;

/// A request without credentials that accepts look-ups of this age, and repositories of this machine.
pub(crate) fn request(lookup_age_max: Duration) -> RenderRequest {
    RenderRequest {
        values: Arc::new(NoClusters),
        settings: RenderSettings {
            tracking: TrackingMethod::None,
            label_key: DEFAULT_LABEL_KEY.to_owned(),
            installation_id: String::new(),
            argocd_namespace: "argocd".to_owned(),
            destinations: DestinationVersions::default(),
            plugin_timeout: Duration::from_mins(1),
            kustomize_build_options: String::new(),
            switched_off: Vec::new(),
            context: ContextSettings::default(),
            others: Others::Ignore,
            directory_bytes_max: 1 << 20,
            manifests_max: 100,
        },
        sources: SourceRequest {
            lookup_age_max,
            file_repositories: vec![PathBuf::from("/")],
            ..SourceRequest::default()
        },
        deadline: None,
        cancel: CancellationToken::new(),
    }
}

/// An Application of the directory `app` on the branch `main`.
pub(crate) fn application(url: &str) -> Application {
    let text = json!({
        "metadata": {"name": "app"},
        "spec": {
            "destination": {"namespace": "default"},
            "source": {"repoURL": url, "path": "app", "targetRevision": "main"},
        },
    });
    serde_json::from_value(text).expect("it is an Application")
}
