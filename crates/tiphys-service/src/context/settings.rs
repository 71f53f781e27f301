//! The settings of one request: those of the options, and those of the store.

use std::sync::Arc;

use tiphys_engine::{DEFAULT_LABEL_KEY, NATIVE_TYPES, SourceTypes, TrackingMethod};
use tiphys_logins::{HelperBound, OwnLogins};
use tiphys_model::access::KnownRepositories;
use tiphys_model::limits::Limit;
use tiphys_model::project_rules::ProjectCluster;
use tiphys_plugin::Others;
use tiphys_render::{ContextSettings, RenderSettings};
use tiphys_source::{
    CheckoutBranches, CopyOrigin, Freshness, LocalCopy, Network, OwnCredentials, SourceOptions,
    SourceRequest, SourceService, UserSettings,
};
use tiphys_store::Store as Resources;

use crate::context::cache::Cache;
use crate::context::host::Host;
use crate::context::options::{CurrentCheckout, RepositoryRevisions, ServiceOptions};
use crate::context::project_file;
use crate::context::projects::{ProjectInputs, Projects};
use crate::context::trust::StoreSettings;
use crate::warning::Warning;

/// The settings that depend on a store.
pub(crate) struct RequestSettings {
    pub(crate) render: RenderSettings,
    /// The repositories and credentials of the store.
    pub(crate) known: KnownRepositories,
    pub(crate) projects: Arc<Projects>,
    pub(crate) warnings: Vec<Warning>,
}

impl RequestSettings {
    /// Returns the settings of the options and of the store. `tracking` is the tracking method if the options have none.
    pub(crate) fn new(
        options: &ServiceOptions,
        host: &Host,
        resources: &Resources,
        live_clusters: &[ProjectCluster],
        tracking: Option<TrackingMethod>,
    ) -> Self {
        let StoreSettings { settings, known, origin, mut warnings } =
            StoreSettings::new(resources, options.argocd_namespace.as_deref());
        // Like Argo CD, an unknown method counts as `annotation`.
        let of_store = || settings.tracking_method.as_deref().and_then(|word| word.parse().ok());
        let tracking = options.tracking.or(tracking).or_else(of_store).unwrap_or_default();
        let source_types = SourceTypes::new(NATIVE_TYPES, &settings);
        let control_plane = control_plane(options, resources);
        let inputs = ProjectInputs {
            options,
            resources,
            settings: &settings,
            origin,
            known: &known,
            live_clusters,
            control_plane: &control_plane,
        };
        let projects = Projects::new(&inputs, &mut warnings);
        let mut context = ContextSettings {
            source_repos: projects.source_repos(),
            // The use cases render for the user of this machine, unless it is a server.
            own_logins: (!options.ignores_user_credentials).then(|| own_logins(options, host)),
            ..ContextSettings::default()
        };
        if let Some(schemes) = settings.value_file_schemes {
            context.values_file_schemes = schemes;
        }
        let render = RenderSettings {
            tracking,
            label_key: settings.label_key.unwrap_or_else(|| DEFAULT_LABEL_KEY.to_owned()),
            installation_id: settings.installation_id.unwrap_or_default(),
            argocd_namespace: control_plane,
            destinations: options.destinations.clone(),
            plugin_timeout: options.limits.duration(Limit::PLUGIN_TIMEOUT),
            kustomize: settings.kustomize,
            source_types,
            context,
            others: Others::Ignore,
            directory_bytes_max: options.limits.get(Limit::DIRECTORY_BYTES_MAX),
            manifests_max: options.limits.size(Limit::MANIFESTS_MAX),
        };
        Self { render, known, projects: Arc::new(projects), warnings }
    }
}

/// Returns the namespace of applications without one.
pub(crate) fn control_plane(options: &ServiceOptions, resources: &Resources) -> String {
    let of_store = || resources.control_plane_namespace().to_owned();
    options.argocd_namespace.clone().unwrap_or_else(of_store)
}

/// Returns the sources of a request without repositories and credentials. `base` is the revision that a comparison starts from.
pub(crate) fn source_request(options: &ServiceOptions, host: &Host, base: Option<&str>) -> SourceRequest {
    let file_repositories = options.allow_file_repositories.iter().map(|dir| host.absolute(dir));
    let checkout = match options.current_checkout {
        CurrentCheckout::Used => project_file::checkout_of(&host.current_dir),
        CurrentCheckout::Unused | CurrentCheckout::Replaced => None,
    };
    let checkout = checkout.map(|dir| LocalCopy {
        url: None,
        revision: None,
        dir: dir.to_path_buf(),
        origin: CopyOrigin::Default,
    });
    SourceRequest {
        file_repositories: file_repositories.collect(),
        copies: options.repositories.iter().cloned().chain(checkout).collect(),
        checkout_branches: match options.repository_revisions {
            RepositoryRevisions::Branches => CheckoutBranches::Changed { base: base.map(str::to_owned) },
            RepositoryRevisions::Exact => CheckoutBranches::Exact,
        },
        network: if options.offline { Network::Offline } else { Network::Online },
        freshness: if options.refresh { Freshness::Refresh } else { Freshness::Cached },
        ..SourceRequest::default()
    }
}

/// Returns the source service of a cache.
pub(crate) fn source_service(options: &ServiceOptions, host: &Host, cache: &Cache) -> SourceService {
    let mut sources = SourceOptions::new(cache.dir.clone(), host.environment(), &options.limits);
    sources.own_credentials =
        if options.own_credentials_via_proxy { OwnCredentials::AlsoViaProxy } else { OwnCredentials::Direct };
    if options.ignores_user_credentials {
        sources.user_settings = UserSettings::Ignored;
    }
    sources.progress.clone_from(&options.fetch_progress);
    SourceService::new(cache.trees(), sources)
}

/// Returns the user's own credentials of helm and docker. The timeout of look-ups applies to credential helpers.
fn own_logins(options: &ServiceOptions, host: &Host) -> OwnLogins {
    // A look-up is a part of fetching, so the shorter timeout applies.
    let limits = [Limit::LOOKUP_TIMEOUT, Limit::FETCH_TIMEOUT];
    let [lookup, fetch] = limits.map(|limit| (options.limits.duration(limit), limit));
    let (timeout, limit) = if lookup.0 <= fetch.0 { lookup } else { fetch };
    OwnLogins::new(host.variables(), HelperBound { timeout, option: Some(limit.name()) })
}
