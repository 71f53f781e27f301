//! The effective settings of a store, by the origin of its files.

use tiphys_model::access::{DEFAULT_VALUES_FILE_SCHEMES, KnownRepositories};
use tiphys_model::resources::{ArgoCdSettings, InCluster, SecretType};
use tiphys_store::{Authors, Origin, Store as Resources, StoredSettings};

use super::build_options::widening_option;
use crate::context::credentials;
use crate::error::Remedy;
use crate::text::listed;
use crate::warning::Warning;

/// The effective settings of a store. Only the caller's settings may permit more than the defaults. Those of a rendered repository may
/// restrict, and set the tracking method.
#[derive(Debug)]
pub(crate) struct StoreSettings {
    /// The settings of `argocd-cm`.
    pub(crate) settings: ArgoCdSettings,
    /// Repository Secrets, credential templates and CA certificates of the caller.
    pub(crate) known: KnownRepositories,
    /// The origin of the settings.
    pub(crate) origin: Origin,
    /// Warnings about settings that are invalid or ignored.
    pub(crate) warnings: Vec<Warning>,
}

impl StoreSettings {
    /// Merges the settings. `namespace` is the control plane's, if the caller chose it.
    pub(crate) fn new(resources: &Resources, namespace: Option<&str>) -> Self {
        let mut ignored = Vec::new();
        let (own, warning) = resources.settings(namespace, Authors::Trusted);
        let (theirs, other_warning) = resources.settings(namespace, Authors::Untrusted);
        let (certificates, certificates_warning) = resources.server_certificates(namespace);
        let of_store = [warning, other_warning, certificates_warning].into_iter().flatten();
        let mut warnings: Vec<Warning> = of_store.map(Warning::from).collect();
        let origin = own.or(theirs).map_or(Origin::Caller, |chosen| chosen.place.origin());
        let mut settings = match (own, theirs) {
            (Some(own), _) => own.settings.clone(),
            (None, Some(theirs)) => harmless(theirs, &mut ignored),
            (None, None) => ArgoCdSettings::default(),
        };
        if let Some(theirs) = theirs {
            restrict(&mut settings, theirs, &mut ignored);
        }
        let (trusted, others) = resources.secrets_by_trust();
        let is_about_repositories =
            |kind: &SecretType| matches!(kind, SecretType::Repository | SecretType::RepositoryCredentials);
        ignored.extend(
            others.iter().filter(|stored| is_about_repositories(&stored.secret.secret_type)).map(|stored| {
                format!("repository Secret {} ({})", stored.secret.metadata.name, stored.place)
            }),
        );
        let places = resources.untrusted_certificates();
        ignored.extend(places.map(|place| format!("argocd-tls-certs-cm ({place})")));
        let known = credentials::known_repositories(&trusted, &mut warnings);
        warnings.extend(ignored_settings(&ignored));
        Self { settings, known: KnownRepositories { certificates, ..known }, origin, warnings }
    }
}

/// Returns a repository's settings without those that permit more.
fn harmless(theirs: &StoredSettings, ignored: &mut Vec<String>) -> ArgoCdSettings {
    let mut settings = ArgoCdSettings { value_file_schemes: None, ..theirs.settings.clone() };
    if let Some(option) = settings.kustomize.build_options.as_deref().and_then(widening_option) {
        ignored.push(format!("{option} of kustomize.buildOptions ({})", theirs.place));
        settings.kustomize.build_options = None;
    }
    // Versions have programs.
    if let Some(version) = std::mem::take(&mut settings.kustomize.versions).into_keys().next() {
        ignored.push(format!("the kustomize version {version} ({})", theirs.place));
    }
    settings
}

/// Applies the restrictions of a repository's settings: disabled source types, the disabled cluster of Argo CD itself, and URL schemes of
/// value files.
fn restrict(settings: &mut ArgoCdSettings, theirs: &StoredSettings, ignored: &mut Vec<String>) {
    let ArgoCdSettings { helm_enable, kustomize_enable, value_file_schemes, .. } = &theirs.settings;
    for (own, theirs) in
        [(&mut settings.helm_enable, helm_enable), (&mut settings.kustomize_enable, kustomize_enable)]
    {
        if theirs.as_deref().is_some_and(|word| word != "true") {
            own.clone_from(theirs);
        }
    }
    if theirs.settings.in_cluster == InCluster::Disabled {
        settings.in_cluster = InCluster::Disabled;
    }
    let Some(schemes) = value_file_schemes else { return };
    let mut allowed = settings
        .value_file_schemes
        .take()
        .unwrap_or_else(|| DEFAULT_VALUES_FILE_SCHEMES.map(str::to_owned).to_vec());
    if let Some(more) = schemes.iter().find(|scheme| !allowed.contains(scheme)) {
        ignored.push(format!("{more} of helm.valuesFileSchemes ({})", theirs.place));
    }
    allowed.retain(|scheme| schemes.contains(scheme));
    settings.value_file_schemes = Some(allowed);
}

fn ignored_settings(ignored: &[String]) -> Option<Warning> {
    (!ignored.is_empty()).then(|| {
        Warning::new(format!(
            "ignored, because a repository that is rendered must not widen what a render may do: {}",
            listed(ignored)
        ))
        .with_remedy(Remedy::TrustSettings)
    })
}
