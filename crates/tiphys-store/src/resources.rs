//! Resources of a store, each with its place: projects, settings, CA certificates, Secrets.

use tiphys_api::{AppProject, ArgoCdSecret, ArgoCdSettings, TlsCertificates};

use crate::Place;

/// A project and where its document begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredProject {
    /// The project.
    pub project: AppProject,
    /// Where its document begins.
    pub place: Place,
}

/// Argo CD's settings (`argocd-cm`) and where their document begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredSettings {
    /// The settings.
    pub settings: ArgoCdSettings,
    /// Where the document begins.
    pub place: Place,
}

/// CA certificates of servers (`argocd-tls-certs-cm`) and where their document begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StoredCertificates {
    pub(crate) certificates: TlsCertificates,
    pub(crate) place: Place,
}

/// A Secret that Argo CD reads and where its document begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredSecret {
    /// The Secret.
    pub secret: ArgoCdSecret,
    /// Where its document begins.
    pub place: Place,
}
